// Finds the particles that have triangles of one leaf in their lists.
// Inputs: tree over triangles with lists of cloth/touch_nodes.glsl, particles in its leaves, lists of cloth/touch_list.glsl.
// Outputs: how many, LISTED if more than fit; then for each twice the place of the particle in the order of the tree plus the
// place of the triangle in its list.

#include "cloth/tree_search.glsl"

uniform usamplerBuffer u_touched;
uniform usamplerBuffer u_ranges;   // first of the particles in each leaf, and the one after the last
uniform int u_leaf_size;           // triangles in a leaf
uniform float u_reach;             // largest clearance [m]

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = 0u;
    }
    int count = 0;
    Box own = box_at(u_bottom + id);
    Search search = begun(id * LISTED, texelFetch(u_links, u_bottom + id).z);
    while (search.node >= 0) {
        int leaf = visited(search, own, u_reach);
        ivec2 range = leaf < 0 ? ivec2(0) : ivec2(texelFetch(u_ranges, leaf - u_bottom).xy);
        for (int place = range.x; place < range.y; ++place) {
            uvec2 leaves = texelFetch(u_touched, place).xy / uint(4 * u_leaf_size);
            for (uint slot = 0u; slot < 2u; ++slot) {
                if (leaves[slot] == uint(id) && count < LISTED) {
                    ++count;
                    found[min(count, LISTED - 1)] = 2u * uint(place) + slot;
                }
            }
        }
    }
    found[0] = uint(count);
    o_near_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_near_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_near_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_near_3 = uvec4(found[12], found[13], found[14], found[15]);
    o_near_4 = uvec4(found[16], found[17], found[18], found[19]);
    o_near_5 = uvec4(found[20], found[21], found[22], found[23]);
    o_near_6 = uvec4(found[24], found[25], found[26], found[27]);
    o_near_7 = uvec4(found[28], found[29], found[30], found[31]);
    o_near_8 = uvec4(found[32], found[33], found[34], found[35]);
    o_near_9 = uvec4(found[36], found[37], found[38], found[39]);
    o_near_10 = uvec4(found[40], found[41], found[42], found[43]);
    o_near_11 = uvec4(found[44], found[45], found[46], found[47]);
    o_near_12 = uvec4(found[48], found[49], found[50], found[51]);
    o_near_13 = uvec4(found[52], found[53], found[54], found[55]);
    o_near_14 = uvec4(found[56], found[57], found[58], found[59]);
    o_near_15 = uvec4(found[60], found[61], found[62], found[63]);
}
