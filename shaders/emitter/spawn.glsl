// Fills one slot with the particle that is spawned there in this substep, at its own time.
// Inputs: the block of the emitter, the substep; world space, SI. Outputs: the state as in emitter/step.glsl.
// Only the slots with births are drawn: software drivers run both sides of a branch for every vertex.
// SEGMENTS, FIELDS and SKIN are optional parts; see emitter/birth.glsl and emitter/flight.glsl.

#include "emitter/birth.glsl"
#include "emitter/flight.glsl"
#ifdef FIELDS
#include "common/fields.glsl"
#endif

void run(int id) {
    uint slot = uint(id);
    uint generation = birth_generation(slot);
    float moment = clamp(birth_moment(birth_offset(slot)), u_substep.x, u_substep.y);
    Start start = birth_start(hash_number(slot, generation), moment);
    float life = start.life - (1.0 - moment);
    Particle own = Particle(start.position, start.velocity);
#ifdef FIELDS
    FieldSample samples[1];
    vec3 middle = start.position + 0.5 * rest_of_substep(moment).pace.y * start.velocity;
    fields_at(vec3[1](middle), moment, samples);
    field_push = vec4(samples[0].acceleration, samples[0].drag);
    field_air = samples[0].air;
#endif
#ifdef SKIN
    skin_record = id;
#endif
    Particle moved = moved_on(id, own, rest_of_substep(moment), life);
    bool sound = is_sound(moved.position, moved.velocity);
    o_position = sound ? vec4(moved.position, life) : vec4(vec3(0.0), BROKEN);
    o_velocity = vec4(sound ? moved.velocity : vec3(0.0), float(generation));
}
