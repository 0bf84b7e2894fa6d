// The force fields at every particle, once a step; solvers fetch the samples.
// Inputs: see common/fields.glsl; records of two texels each, which begin with place [m] and velocity [m/s] of a particle.
// With JOINTS: the state of joints, whose heads count from roots, a texel each, and whose tips from the heads.
// With KNOTS: the state of strands, whose places count from the root, and four texels a root, see hair/root.glsl.
// Outputs, for four particles: acceleration [m/s2], drag [1/s] | velocity of the air [m/s].

#include "common/fields.glsl"

uniform samplerBuffer u_places;
#if defined(KNOTS) || defined(JOINTS)
uniform samplerBuffer u_roots;
#endif
uniform float u_fraction;            // of the step
uniform float u_ahead;               // how far particles without KNOTS and JOINTS go on first [s]
uniform int u_last;                  // particle

vec3 place_of(int id) {
#ifdef KNOTS
    vec3 offset = id % KNOTS > 0 ? texelFetch(u_places, id).xyz : vec3(0.0);
    return texelFetch(u_roots, 4 * (id / KNOTS)).xyz + offset;
#elif defined(JOINTS)
    return texelFetch(u_roots, id).xyz + (texelFetch(u_places, 4 * id).xyz + texelFetch(u_places, 4 * id + 1).xyz);
#else
    return texelFetch(u_places, 2 * id).xyz + u_ahead * texelFetch(u_places, 2 * id + 1).xyz;
#endif
}

void run(int id) {
    vec3 places[FIELD_POINTS];
    FieldSample found[FIELD_POINTS];
    for (int k = 0; k < FIELD_POINTS; ++k) {
        places[k] = place_of(min(FIELD_POINTS * id + k, u_last));
    }
    fields_at(places, u_fraction, found);
    o_push_0 = vec4(found[0].acceleration, found[0].drag);
    o_air_0 = vec4(found[0].air, 0.0);
    o_push_1 = vec4(found[1].acceleration, found[1].drag);
    o_air_1 = vec4(found[1].air, 0.0);
    o_push_2 = vec4(found[2].acceleration, found[2].drag);
    o_air_2 = vec4(found[2].air, 0.0);
    o_push_3 = vec4(found[3].acceleration, found[3].drag);
    o_air_3 = vec4(found[3].air, 0.0);
}
