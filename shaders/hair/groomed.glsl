// A strand in its groom, at rest, as its root stands now.
// Inputs: roots and groom, see hair/strand.glsl. Outputs: the knots of the strand.

#include "common/quaternion.glsl"
#include "hair/store.glsl"

uniform samplerBuffer u_roots;
uniform samplerBuffer u_rest;

void run(int id) {
    vec4 turn = texelFetch(u_roots, 4 * id + 3);
    float segment = texelFetch(u_roots, 4 * id).w;
    vec3 knots[KNOTS];
    knots[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 edge = texelFetch(u_rest, 2 * (id * (KNOTS - 1) + k - 1)).xyz;
        knots[k] = knots[k - 1] + segment * quaternion_rotate(turn, edge);
    }
    store(knots, vec3(0.0), 0.0);
}
