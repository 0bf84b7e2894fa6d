// Finds the particles that have one triangle in their lists.
// Inputs: lists of cloth/press_leaf.glsl; if one is full, all that it is made of. Outputs: how many, then for each twice the
// number of the particle plus the place of the triangle in its list; PRESSES - 1 at most, the first in the tree.

#include "cloth/tree_search.glsl"

uniform usamplerBuffer u_leaves;
uniform usamplerBuffer u_touched;
uniform usamplerBuffer u_ranges;   // first of the particles in each leaf, and the one after the last
uniform usamplerBuffer u_members;  // particles by leaf
uniform int u_first_place;         // node that is the first triangle
uniform int u_leaf_size;           // triangles in a leaf
uniform float u_reach;             // largest clearance [m]

void run(int id) {
    uint found[PRESSES];
    for (int i = 0; i < PRESSES; ++i) {
        found[i] = 0u;
    }
    int count = 0;
    int list = id / u_leaf_size * LISTED;
    int length = int(texelFetch(u_leaves, list).x);
    bool is_full = length >= LISTED;
    for (int i = 1; i <= (is_full ? 0 : length); ++i) {
        uint entry = texelFetch(u_leaves, list + i).x;
        if (texelFetch(u_touched, int(entry / 2u))[entry % 2u] / 4u == uint(id) && count < PRESSES - 1) {
            ++count;
            found[count] = 2u * texelFetch(u_members, int(entry / 2u)).x + entry % 2u;
        }
    }
    Box own = box_at(u_first_place + id);
    Search search = begun(list, texelFetch(u_links, u_first_place + id).z);
    search.node = is_full ? search.node : -1;
    while (search.node >= 0) {
        int leaf = visited(search, own, u_reach);
        ivec2 range = leaf < 0 ? ivec2(0) : ivec2(texelFetch(u_ranges, leaf - u_bottom).xy);
        for (int place = range.x; place < range.y; ++place) {
            uvec2 faces = texelFetch(u_touched, place).xy / 4u;
            uint slot = faces.x == uint(id) ? 0u : 1u;
            if (faces[slot] == uint(id) && count < PRESSES - 1) {
                ++count;
                found[count] = 2u * texelFetch(u_members, place).x + slot;
            }
        }
    }
    found[0] = uint(count);
    o_presses_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_presses_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_presses_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_presses_3 = uvec4(found[12], found[13], found[14], found[15]);
    o_presses_4 = uvec4(found[16], found[17], found[18], found[19]);
    o_presses_5 = uvec4(found[20], found[21], found[22], found[23]);
    o_presses_6 = uvec4(found[24], found[25], found[26], found[27]);
    o_presses_7 = uvec4(found[28], found[29], found[30], found[31]);
}
