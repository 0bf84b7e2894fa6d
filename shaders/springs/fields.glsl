// The force fields at the tips of simulated joints at the start of a step; see common/fields_sample.glsl.
// Inputs: state of the joints; places in the world that their heads are relative to [m].
// Outputs: acceleration [m/s2], drag [1/s] | velocity of the air [m/s].

#include "common/fields.glsl"

uniform samplerBuffer u_places;      // 4 texels a joint: head | tip from it | two others
uniform samplerBuffer u_roots;
uniform float u_fraction;            // of the step

void run(int id) {
    vec3 place = texelFetch(u_roots, id).xyz + (texelFetch(u_places, 4 * id).xyz + texelFetch(u_places, 4 * id + 1).xyz);
    FieldSample found = fields_at(place, u_fraction);
    o_push = vec4(found.acceleration, found.drag);
    o_air = vec4(found.air, 0.0);
}
