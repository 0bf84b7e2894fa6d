// Finds the particles that have one triangle in their lists.
// Inputs: state of all particles of a group of cloths, tree over their triangles with lists of cloth/touch_nodes.glsl,
// particles in its leaves, lists of cloth/touch_list.glsl. Outputs: how many, then for each twice the number of the particle
// plus the place of the triangle in its list; PRESSES - 1 at most.

#include "cloth/tree_search.glsl"

uniform usamplerBuffer u_touched;
uniform usamplerBuffer u_lists;    // list of nodes of each triangle, its place in the tree, its cloth
uniform usamplerBuffer u_ranges;   // first of the particles in each leaf, and the one after the last
uniform usamplerBuffer u_members;  // particles by leaf
uniform float u_reach;             // largest clearance [m]

void run(int id) {
    uint found[PRESSES];
    for (int i = 0; i < PRESSES; ++i) {
        found[i] = 0u;
    }
    int count = 0;
    uvec4 place = texelFetch(u_lists, id);
    Box own = box_at(int(place.y));
    Search search = begun(int(place.x), place.z);
    ivec2 range = ivec2(0);
    while (search.node >= 0 || range.x < range.y) {
        bool goes_on = range.x < range.y;
        uint particle = texelFetch(u_members, range.x).x;
        uvec2 faces = texelFetch(u_touched, int(particle)).xy / 4u;
        uint slot = faces.x == uint(id) ? 0u : 1u;
        if (goes_on && (faces.x == uint(id) || faces.y == uint(id)) && count < PRESSES - 1) {
            ++count;
            found[count] = 2u * particle + slot;
        }
        ++range.x;
        while (search.node >= 0 && range.x >= range.y) {
            int leaf = visited(search, own, u_reach);
            range = leaf < 0 ? ivec2(0) : ivec2(texelFetch(u_ranges, leaf - u_bottom).xy);
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
