// Finds the particles that one particle may touch within a span of time, in the order of the tree.
// Inputs: state of all particles, the tree over them, leaves near each leaf, rest positions. Outputs: numbers of particles,
// LISTED at most; the particle itself after the last. A pair that is near at rest is left out: springs hold it apart.

#include "cloth/tree.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_rest;      // rest position, number of the leaf of each particle
uniform samplerBuffer u_places;    // rest position, number of the particle in each position, or -1
uniform usamplerBuffer u_leaves;   // leaves near each leaf, see cloth/near_list.glsl
uniform int u_first_place;         // node that is the first position
uniform int u_count;               // particles; records after them are padding
uniform float u_reach;             // distance that counts as near [m]
uniform float u_neighbourhood;     // rest distance up to which particles are neighbours [m]

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = uint(id);
    }
    Ball own = Ball(texelFetch(u_state, 2 * id).xyz, 0.0, texelFetch(u_state, 2 * id + 1).xyz);
    vec4 rest = texelFetch(u_rest, min(id, u_count - 1));
    int count = id < u_count ? 0 : LISTED;
    int entry = int(rest.w) * NEAR;
    uint leaf = count < LISTED ? texelFetch(u_leaves, entry).x : END;
    while (leaf != END) {
        int first = int(leaf) * LEAF;
        ++entry;
        leaf = texelFetch(u_leaves, entry).x;
        for (int k = 0; k < LEAF; ++k) {
            vec4 other = texelFetch(u_places, first + k);
            bool near = meet(ball_at(u_first_place + first + k), own, u_reach);
            vec3 apart = other.xyz - rest.xyz;
            bool counts = near && dot(apart, apart) > u_neighbourhood * u_neighbourhood && count < LISTED;
            if (counts) {
                found[count] = uint(other.w);
                ++count;
            }
        }
    }
    o_contacts_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_contacts_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_contacts_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_contacts_3 = uvec4(found[12], found[13], found[14], found[15]);
    o_contacts_4 = uvec4(found[16], found[17], found[18], found[19]);
    o_contacts_5 = uvec4(found[20], found[21], found[22], found[23]);
    o_contacts_6 = uvec4(found[24], found[25], found[26], found[27]);
    o_contacts_7 = uvec4(found[28], found[29], found[30], found[31]);
}
