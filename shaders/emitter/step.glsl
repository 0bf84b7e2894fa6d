// Moves one particle over a substep and lets it die. FULL: dead particles are spawned again at once.
// Inputs: the block of the emitter, state of the particle, the substep; world space, SI. Outputs: the state:
// position, life left at the end of the step [steps], negative if dead | velocity, earlier uses of the slot.
// See emitter/flight.glsl.

// Includes are text, once each, whatever the preprocessor leaves out: what both parts need comes first.
#include "common/hash.glsl"
#include "emitter/emitter.glsl"
#ifdef FULL
#include "emitter/birth.glsl"
#endif
#include "emitter/flight.glsl"

#ifdef FULL
// The birth that fills a slot whose particle died in this substep, or was killed before.
void bear_again(uint slot, inout Particle own, inout float life, inout uint generation, inout Span span) {
    float moment = birth_again_moment(life);
    if (is_born_again(life, moment, u_substep.xy)) {
        generation = (generation + 1u) & GENERATION_MASK;
        uint number = hash_number(slot, generation);
        Start start = birth_start(number, moment);
        own = Particle(start.position, start.velocity);
        // At the start all particles are born at once; they must not die at once, nor in this step.
        float share = birth_numbers(uint(emitter.numbers.x), number, DIRECTION_GROUP).z;
        life = (generation == 0u ? max(share * start.life, 1.0) : start.life) - (1.0 - moment);
        span = rest_of_substep(moment);
    }
}
#endif

void run(int id) {
    Particle own = Particle(a_position.xyz, a_velocity.xyz);
    float life = a_position.w - u_substep.z;
    float generation = a_velocity.w;
    Span span = Span(u_substep.x, u_substep.w, emitter.pace.xyz);
#ifdef FIELDS
    field_push = texelFetch(u_fields, 2 * id);
    field_air = texelFetch(u_fields, 2 * id + 1).xyz;
#endif
#ifdef SKIN
    skin_record = id;
#endif
#ifdef FULL
    uint counted = uint(int(generation)) & GENERATION_MASK;
    bear_again(uint(id), own, life, counted, span);
    generation = float(counted);
#endif
    Particle moved = moved_on(id, own, span, life);
    bool sound = is_sound(moved.position, moved.velocity);
    bool lives = life >= 0.0;
    bool breaks = lives && !sound;
    float least = a_position.w < BROKEN_BELOW ? BROKEN : LONG_DEAD;
    Particle last = Particle(breaks ? vec3(0.0) : own.position, breaks ? vec3(0.0) : own.velocity);
    o_position = vec4(lives && sound ? moved.position : last.position, breaks ? BROKEN : max(life, least));
    o_velocity = vec4(lives && sound ? moved.velocity : last.velocity, generation);
}
