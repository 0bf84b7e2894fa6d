// Where particles start a substep: of an emitter that is always full (FULL) where they are or are born in it, of others
// where those are born whose slots are filled in it.
// Inputs: as of emitter/step.glsl or emitter/spawn.glsl. Outputs: positions [m] and mean velocities over the substep
// [m/s], for common/fields_sample.glsl and skin/near.glsl.

#include "emitter/birth.glsl"

uniform vec4 u_substep;   // see emitter/flight.glsl

// Mean over the substep of the velocity of a particle that is born in it.
vec3 mean_velocity(Start start, float moment) {
    return (u_substep.y - moment) / (u_substep.y - u_substep.x) * start.velocity;
}

void run(int id) {
#ifdef FULL
    float life = a_position.w - u_substep.z;
    uint generation = (uint(int(a_velocity.w)) + 1u) & GENERATION_MASK;
    float moment = birth_again_moment(life);
    Start start = birth_start(hash_number(uint(id), generation), moment);
    bool is_born = is_born_again(life, moment, u_substep.xy);
    o_position = vec4(is_born ? start.position : a_position.xyz, 0.0);
    o_velocity = vec4(is_born ? mean_velocity(start, moment) : a_velocity.xyz, 0.0);
#else
    uint slot = uint(id);
    float moment = clamp(birth_moment(birth_offset(slot)), u_substep.x, u_substep.y);
    Start start = birth_start(hash_number(slot, birth_generation(slot)), moment);
    o_position = vec4(start.position, 0.0);
    o_velocity = vec4(mean_velocity(start, moment), 0.0);
#endif
}
