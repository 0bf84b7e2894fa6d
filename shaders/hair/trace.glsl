// The knots of one guide in the world, as it is shown.
// Inputs: the state of the guides and their roots, the number of one. Outputs: place [m] of its knot with this number.

#include "common/quaternion.glsl"

uniform samplerBuffer u_state;       // KNOTS texels a guide: place from the root [m]
uniform samplerBuffer u_roots;       // 4 texels a guide; of its start as it was simulated, of its end as it is shown
uniform int u_guide;

void run(int id) {
    int knot = min(id, KNOTS - 1);
    vec4 turn = quaternion_multiply(
        texelFetch(u_roots, 4 * u_guide + 3), quaternion_conjugate(texelFetch(u_roots, 4 * u_guide + 1))
    );
    vec3 offset = knot > 0 ? quaternion_rotate(turn, texelFetch(u_state, u_guide * KNOTS + knot).xyz) : vec3(0.0);
    o_position = vec4(texelFetch(u_roots, 4 * u_guide + 2).xyz + offset, 1.0);
}
