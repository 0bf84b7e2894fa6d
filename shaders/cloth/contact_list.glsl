// Finds the particles that one particle may touch within a span of time, in the order of the tree.
// Inputs: state of all particles, the tree over them, rest places. Outputs: their numbers, LISTED at most; NOBODY after
// the last. A pair that is near at rest is not looked at: springs hold it apart.

#include "cloth/tree.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_tree;
uniform samplerBuffer u_order;     // rest place, number of the particle in each place
uniform samplerBuffer u_rest;      // rest place of each particle
uniform int u_count;               // particles; records after them are padding
uniform float u_span;              // [s]
uniform float u_reach;             // distance that counts as near [m]
uniform float u_neighbourhood;     // rest distance up to which particles are neighbours [m]

const uint NOBODY = 0xffffffffu;

// Square of the least distance [m2] of two points within the span if they keep their velocities.
float least_square(vec3 apart, vec3 relative) {
    float moment = clamp(-dot(apart, relative) / max(dot(relative, relative), 1e-30), 0.0, u_span);
    vec3 least = apart + moment * relative;
    return dot(least, least);
}

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = NOBODY;
    }
    vec3 position = texelFetch(u_state, 2 * id).xyz;
    vec3 velocity = texelFetch(u_state, 2 * id + 1).xyz;
    vec3 rest = texelFetch(u_rest, min(id, u_count - 1)).xyz;
    int count = 0;
    int node = id < u_count ? 0 : -1;
    while (node >= 0 && count < LISTED) {
        vec4 ball = texelFetch(u_tree, 2 * node);
        vec4 motion = texelFetch(u_tree, 2 * node + 1);
        float reach = ball.w + u_reach;
        bool near = ball.w >= 0.0 && least_square(ball.xyz - position, motion.xyz - velocity) < reach * reach;
        bool is_particle = node >= u_tree_shape.y;
        if (near && is_particle) {
            vec4 other = texelFetch(u_order, node - u_tree_shape.y);
            if (distance(other.xyz, rest) > u_neighbourhood) {
                found[count] = uint(other.w);
                ++count;
            }
        }
        node = near && !is_particle ? first_child(node) : int(motion.w);
    }
    o_first = uvec4(found[0], found[1], found[2], found[3]);
    o_second = uvec4(found[4], found[5], found[6], found[7]);
    o_third = uvec4(found[8], found[9], found[10], found[11]);
    o_fourth = uvec4(found[12], found[13], found[14], found[15]);
    o_fifth = uvec4(found[16], found[17], found[18], found[19]);
    o_sixth = uvec4(found[20], found[21], found[22], found[23]);
    o_seventh = uvec4(found[24], found[25], found[26], found[27]);
    o_eighth = uvec4(found[28], found[29], found[30], found[31]);
}
