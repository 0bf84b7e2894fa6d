#version 330 core
// Moves one particle over a substep and lets it die, by transform feedback. FULL: the dead are born again at once.
// Inputs: the block of the emitter, state of the particle, the substep; world space, SI. Outputs: the state:
// place, life left at the end of the step [steps], negative for the dead | velocity, how often the slot was used before.
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
    float moment = max(life + 1.0, 0.0);
    if (life < 0.0 && moment >= u_substep.x && moment < u_substep.y) {
        generation = (generation + 1u) & GENERATION_MASK;
        uint number = hash_number(slot, generation);
        Start start = birth_start(number, moment);
        own = Particle(start.position, start.velocity);
        // At the very start everything is born at once, so that it should not all die at once, nor in this very step.
        float share = birth_numbers(uint(emitter.numbers.x), number, DIRECTION_GROUP).z;
        life = (generation == 0u ? max(share * start.life, 1.0) : start.life) - (1.0 - moment);
        span = rest_of_substep(moment);
    }
}
#endif

void advance(uint slot, vec4 first, vec4 second, out vec4 new_first, out vec4 new_second) {
    Particle own = Particle(first.xyz, second.xyz);
    float life = first.w - u_substep.z;
    float generation = second.w;
    Span span = Span(u_substep.x, u_substep.w, emitter.pace.xy);
#ifdef FULL
    uint counted = uint(int(generation)) & GENERATION_MASK;
    bear_again(slot, own, life, counted, span);
    generation = float(counted);
#endif
    Particle moved = moved_on(own, span, life);
    bool sound = is_sound(moved.position, moved.velocity);
    bool lives = life >= 0.0;
    bool breaks = lives && !sound;
    float least = first.w < BROKEN_BELOW ? BROKEN : LONG_DEAD;
    Particle last = Particle(breaks ? vec3(0.0) : own.position, breaks ? vec3(0.0) : own.velocity);
    new_first = vec4(lives && sound ? moved.position : last.position, breaks ? BROKEN : max(life, least));
    new_second = vec4(lives && sound ? moved.velocity : last.velocity, generation);
}

void main() {
#ifdef QUADS
    uint slot = 4u * uint(gl_VertexID);
    advance(slot, a_position, a_velocity, o_position, o_velocity);
    advance(slot + 1u, a_position_1, a_velocity_1, o_position_1, o_velocity_1);
    advance(slot + 2u, a_position_2, a_velocity_2, o_position_2, o_velocity_2);
    advance(slot + 3u, a_position_3, a_velocity_3, o_position_3, o_velocity_3);
#else
    advance(uint(gl_VertexID), a_position, a_velocity, o_position, o_velocity);
#endif
}
