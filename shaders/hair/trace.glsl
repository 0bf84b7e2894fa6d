// The knots of guides in the world, as they are shown, one after the other.
// Inputs: the state of the guides and their roots, the number of the first one; with DISTANCE the state that another solver
// brought them to. Outputs: position [m] of a knot; 1, or with DISTANCE the distance between both [m].

#include "common/quaternion.glsl"

uniform samplerBuffer u_state;       // KNOTS texels a guide: position from the root [m]
uniform samplerBuffer u_roots;       // 4 texels a guide; of its start as it was simulated, of its end as it is shown
uniform int u_guide;
#ifdef DISTANCE
uniform samplerBuffer u_other;
#endif

void run(int id) {
    int guide = u_guide + id / KNOTS;
    int knot = id % KNOTS;
    vec4 turn = quaternion_multiply(
        texelFetch(u_roots, 4 * guide + 3), quaternion_conjugate(texelFetch(u_roots, 4 * guide + 1))
    );
    vec3 state = texelFetch(u_state, guide * KNOTS + knot).xyz;
    vec3 offset = knot > 0 ? quaternion_rotate(turn, state) : vec3(0.0);
    float last = 1.0;
#ifdef DISTANCE
    last = knot > 0 ? distance(state, texelFetch(u_other, guide * KNOTS + knot).xyz) : 0.0;
#endif
    o_position = vec4(texelFetch(u_roots, 4 * guide + 2).xyz + offset, last);
}
