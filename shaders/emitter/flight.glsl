// The flight of a particle to the end of a substep: forces, drag, and what it meets.
// Inputs: the block of the emitter, colliders, the substep; world space, SI. Outputs: position, velocity, life.
// Semi-implicit Euler with exact drag: v' = v exp(-c h) + a (1 - exp(-c h)) / c, x' = x + h v'.
// TURBULENCE, ATTRACTOR, FIELDS, COLLIDERS and, with it, SKIN are optional parts; RESPONSE is that of emitter/contact.glsl.

#include "emitter/emitter.glsl"
#include "emitter/motion.glsl"
#ifdef COLLIDERS
#include "emitter/contact.glsl"
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
#ifdef SKIN
#include "skin/contact.glsl"

int skin_record;          // of the particle, see skin/near.glsl
#endif
#endif

uniform vec4 u_substep;   // fractions of the step at its start and end, lives it takes, its duration [s]

struct Span {
    float from;      // as a fraction of the step
    float time;      // up to the end of the substep [s]
    vec2 pace;       // of that time, see pace_of
};

// What is left of the substep from a moment of the step on.
Span rest_of_substep(float moment) {
    float time = (u_substep.y - moment) * emitter.pace.z;
#ifdef DRAG
    return Span(moment, time, pace_of(emitter.gravity.w, time).xy);
#else
    return Span(moment, time, vec2(1.0, time));
#endif
}

Particle moved_on(Particle own, Span span, inout float life) {
#ifdef FIELDS
    span.pace = pace_of(emitter.gravity.w + field_push.w, span.time).xy;
#endif
    vec3 velocity = own.velocity * span.pace.x + acceleration(own.position) * span.pace.y;
    Particle moved = Particle(own.position + span.time * velocity, velocity);
#ifdef COLLIDERS
#if RESPONSE == 3
    Particle rider = own;
    if (carried(u_colliders, u_collider_count, rider, span.from, u_substep.y, emitter.pace.w, span.time)) {
        return rider;
    }
#ifdef SKIN
    if (skin_carried(skin_record, rider.position, span.from, u_substep.y, emitter.pace.w, STICK_SLOP)) {
        return Particle(rider.position, (rider.position - own.position) / span.time);
    }
#endif
#endif
    bool touched = meet_colliders(
        u_colliders, u_collider_count, own.position, moved, span.from, u_substep.y, emitter.pace.w, span.time
    );
#ifdef SKIN
    Contact skin = skin_contact(skin_record, own.position, moved.position, span.from, u_substep.y, span.time);
    touched = meet(skin, moved, emitter.pace.w, span.time) || touched;
#endif
#if RESPONSE == 2
    life = touched ? DEAD : life;
#endif
#endif
    return moved;
}
