// A strand that is carried along in time's stead: turned with its root, its last motion kept, rescaled, or forgotten.
// Inputs: a state of the strand and the newest one, roots before and after. Outputs: the state, turned with the root;
// its distance from the newest one times a factor.

#include "common/quaternion.glsl"
#include "hair/store.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_pivot;
uniform samplerBuffer u_roots;        // 4 texels a strand: of its end the turn before
uniform samplerBuffer u_roots_after;  // of its start the turn after, and its way over the step
uniform vec2 u_motion;                // factor of the motion; above 0 the part of a step in a substep, whose move counts

void run(int id) {
    vec4 before = texelFetch(u_roots, 4 * id + 3);
    vec4 turn = quaternion_multiply(texelFetch(u_roots_after, 4 * id + 1), quaternion_conjugate(before));
    vec4 first = texelFetch(u_state, id * KNOTS);
    vec3 way = texelFetch(u_roots_after, 4 * id + 2).xyz - texelFetch(u_roots_after, 4 * id).xyz;
    vec3 knots[KNOTS];
    knots[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 pivot = texelFetch(u_pivot, id * KNOTS + k).xyz;
        knots[k] = quaternion_rotate(turn, pivot + u_motion.x * (texelFetch(u_state, id * KNOTS + k).xyz - pivot));
    }
    store(knots, u_motion.y > 0.0 ? u_motion.y * way : u_motion.x * first.xyz, first.w);
}
