// The flight of a particle to the end of a substep: forces, drag, and what it meets.
// Inputs: the block of the emitter, colliders, the substep; world space, SI. Outputs: position, velocity, life.
// Position Verlet with exact drag: x' = x + y v + z a, v' = v exp(-c h) + y a as in emitter/motion.glsl, with a where
// the particle is in the middle of the substep if nothing moves it: exact for gravity and wind, and orbits stay closed.
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
    vec3 pace;       // of that time, see pace_of
};

// What is left of the substep from a moment of the step on.
Span rest_of_substep(float moment) {
    float time = (u_substep.y - moment) * emitter.pace.w;
#ifdef DRAG
    return Span(moment, time, pace_of(emitter.gravity.w, time));
#else
    return Span(moment, time, vec3(1.0, time, 0.5 * time * time));
#endif
}

Particle moved_on(int slot, Particle own, Span span, inout float life) {
#ifdef FIELDS
    float drag = emitter.gravity.w + field_push.w;
    span.pace = pace_of(drag, span.time);
#else
    float drag = emitter.gravity.w;
#endif
    vec3 pull = acceleration(own.position + 0.5 * span.pace.y * own.velocity);
    vec3 shift = rounding_shift(own.position, life, span.from, slot);
    Particle moved = flown(own, pull, span.pace, shift);
#ifdef COLLIDERS
    float clearance = emitter.cone.z;
#if RESPONSE == 3
    Particle rider = own;
    if (carried(u_colliders, u_collider_count, rider, span.from, u_substep.y, clearance, span.time)) {
        return rider;
    }
#ifdef SKIN
    if (skin_carried(skin_record, rider.position, span.from, u_substep.y, clearance, stick_slop(own.position))) {
        return Particle(rider.position, (rider.position - own.position) / span.time);
    }
#endif
#endif
    Flight flight = Flight(own, span.time, pull, drag, shift);
    bool touched = false;
#ifdef SKIN
    Contact skin = skin_contact(skin_record, own.position, moved.position, span.from, u_substep.y, span.time);
    touched = meet(skin, moved, flight, clearance);
#endif
    touched = meet_colliders(
        u_colliders, u_collider_count, own.position, moved, flight, span.from, u_substep.y, clearance, span.time
    ) || touched;
#if RESPONSE == 2
    life = touched ? DEAD : life;
#endif
#endif
    return moved;
}
