// The force fields at every particle, once a step; solvers fetch the samples.
// Inputs: see common/fields.glsl; records of two texels each, of which the first begins with the place of a particle [m].
// With KNOTS: the state of strands, whose places count from the root, and four texels a root, see hair/root.glsl.
// Outputs: acceleration [m/s2], drag [1/s] | velocity of the air [m/s].

#include "common/fields.glsl"

uniform samplerBuffer u_places;
#ifdef KNOTS
uniform samplerBuffer u_roots;
#endif
uniform float u_fraction;            // of the step

vec3 place_of(int id) {
#ifdef KNOTS
    vec3 offset = id % KNOTS > 0 ? texelFetch(u_places, id).xyz : vec3(0.0);
    return texelFetch(u_roots, 4 * (id / KNOTS)).xyz + offset;
#else
    return texelFetch(u_places, 2 * id).xyz;
#endif
}

void run(int id) {
    FieldSample found = fields_at(place_of(id), u_fraction);
    o_push = vec4(found.acceleration, found.drag);
    o_air = vec4(found.air, 0.0);
}
