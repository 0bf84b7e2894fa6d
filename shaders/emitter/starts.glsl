// Where the particles of an emitter that is always full are at the start of a substep, or where they are born in it.
// Inputs: as of emitter/step.glsl. Outputs: positions for common/fields_sample.glsl [m].

#include "emitter/birth.glsl"

uniform vec4 u_substep;   // see emitter/flight.glsl

void run(int id) {
    float life = a_position.w - u_substep.z;
    uint generation = (uint(int(a_velocity.w)) + 1u) & GENERATION_MASK;
    float moment = birth_again_moment(life);
    Start start = birth_start(hash_number(uint(id), generation), moment);
    o_position = vec4(is_born_again(life, moment, u_substep.xy) ? start.position : a_position.xyz, 0.0);
    o_velocity = vec4(0.0);
}
