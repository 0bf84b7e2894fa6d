// Finds the particles that have triangles of one leaf in their lists.
// Inputs: tree over triangles with lists of cloth/touch_nodes.glsl, particles in its leaves, lists of cloth/touch_list.glsl.
// Outputs: how many, LISTED if more than fit; then for each twice the place of the particle in the order of the tree plus the
// place of the triangle in its list.

#include "cloth/near.glsl"
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
    write_near(found);
}
