#version 330 core
// Moves one particle over a substep, lets it be born or die, by transform feedback.
// Inputs: the block of the emitter, state of the particle, colliders, the substep; world space, SI. Outputs: the state:
// place, life left at the end of the step [steps], negative for the dead | velocity, how often the slot was used before.
// Semi-implicit Euler with exact drag: v' = v exp(-c h) + a (1 - exp(-c h)) / c, x' = x + h v'.
// FULL, SEGMENTS, WHIRLS, ATTRACTOR and COLLIDERS are optional parts.

#include "particles/birth.glsl"
#include "particles/motion.glsl"
#ifdef COLLIDERS
#include "particles/contact.glsl"
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
#endif

uniform vec4 u_substep;   // fractions of the step at its start and end, lives it takes, its duration [s]

struct Span {
    float from;      // as a fraction of the step
    float time;      // up to the end of the substep [s]
    vec2 pace;       // of that time, see pace_of
};

// Moment of the birth that this slot has in the substep; NEVER_BORN for none. Clears a slot that waits for its first one.
float moment_here(uint slot, inout float life, inout uint generation) {
#ifdef FULL
    float moment = life < 0.0 ? max(life + 1.0, 0.0) : NEVER_BORN;
    bool here = moment >= u_substep.x && moment < u_substep.y;
    generation = here ? (generation + 1u) & GENERATION_MASK : generation;
#else
    uint offset = birth_offset(slot);
    bool due = offset < uint(emitter.births.y);
    float moment = clamp(birth_moment(offset), 0.0, 1.0 - 1e-7);
    bool here = due && moment >= u_substep.x && moment < u_substep.y;
    uint following = birth_generation(slot);
    life = due && following == 0u && moment >= u_substep.y ? DEAD : life;
    generation = here ? following : generation;
#endif
    return here ? moment : NEVER_BORN;
}

// A newborn at its moment, which has the rest of the substep before it.
void bear(uint number, uint generation, float moment, inout Particle own, inout float life, inout Span span) {
    Start start = birth_start(number, moment);
    own = Particle(start.position, start.velocity);
    life = start.life - (1.0 - moment);
#ifdef FULL
    // At the very start everything is born at once, so that it should not all die at once.
    float share = birth_numbers(uint(emitter.numbers.x), number, DIRECTION_GROUP).z;
    life = generation == 0u ? share * start.life - (1.0 - moment) : life;
#endif
    span.from = moment;
    span.time = (u_substep.y - moment) * emitter.pace.z;
    span.pace = pace_of(emitter.gravity.w, span.time).xy;
}

Particle moved_on(Particle own, Span span, inout float life) {
    vec3 velocity = own.velocity * span.pace.x + acceleration(own.position) * span.pace.y;
    Particle moved = Particle(own.position + span.time * velocity, velocity);
#ifdef COLLIDERS
#if RESPONSE == 3
    Particle rider = own;
    if (carried(u_colliders, u_collider_count, rider, span.from, u_substep.y, emitter.pace.w, span.time)) {
        return rider;
    }
#endif
    bool touched = meet_colliders(
        u_colliders, u_collider_count, own.position, moved, span.from, u_substep.y, emitter.pace.w, span.time
    );
#if RESPONSE == 2
    life = touched ? DEAD : life;
#endif
#endif
    return moved;
}

void main() {
    uint slot = uint(gl_VertexID);
    Particle own = Particle(a_position.xyz, a_velocity.xyz);
    float life = a_position.w - u_substep.z;
    uint generation = uint(int(a_velocity.w)) & GENERATION_MASK;
    Span span = Span(u_substep.x, u_substep.w, emitter.pace.xy);
    float moment = moment_here(slot, life, generation);
    // A loop where a branch would do: software drivers run both sides of a branch, but leave a loop that nobody enters.
    int births = moment < NEVER_BORN ? 1 : 0;
    for (int i = 0; i < births; ++i) {
        bear(hash_number(slot, generation), generation, moment, own, life, span);
    }
    Particle moved = moved_on(own, span, life);
    bool lives = life >= 0.0;
    o_position = vec4(lives ? moved.position : own.position, max(life, -1e6));
    o_velocity = vec4(lives ? moved.velocity : own.velocity, float(generation));
}
