// What moves a particle, and how far: gravity, drag in moving air, attractor and vortex.
// Inputs: world points [m], velocities [m/s], times [s]. Outputs: accelerations, the pace of a span of time, free flight.
// TURBULENCE, ATTRACTOR and FIELDS are optional parts. Functions are named as in tests/oracles/particles.py.
// Reference: R. Bridson et al. 2007, "Curl-noise for procedural fluid flow", for the turbulence.

#include "common/hash.glsl"
#include "emitter/emitter.glsl"
#if defined(TURBULENCE) || defined(FIELD_TURBULENCE)
#include "common/curl_noise.glsl"
#endif

#ifdef FIELDS
uniform samplerBuffer u_fields;   // see common/fields_sample.glsl

// Of the particle that moves.
vec4 field_push;                  // acceleration [m/s2], drag [1/s]
vec3 field_air;                   // [m/s]
#endif

const float SLOW_DRAG = 1e-2;   // drag times time below which series are more exact

// Softened pull towards the attractor and push around the axis, falling with the square of the distance.
vec3 attraction(vec3 point) {
    vec3 towards = emitter.attractor.xyz - point;
    float fall = inversesqrt(dot(towards, towards) + emitter.attractor.w);
    return (emitter.pull.w * towards - cross(emitter.pull.xyz, towards)) * (fall * fall * fall);
}

vec3 acceleration(vec3 point) {
    vec3 air = emitter.air.xyz;
#ifdef TURBULENCE
    vec3 place = point * emitter.turbulence.x;
    uvec3 phases = uvec3(emitter.turbulence_phases.xyz);
    air += emitter.turbulence.y * curl_noise(
        place, emitter.turbulence_shift.xyz, emitter.turbulence_cells.xyz, uint(emitter.numbers.z), phases
    );
#endif
    vec3 total = emitter.gravity.xyz + emitter.gravity.w * air;
#ifdef FIELDS
    total += field_push.xyz + field_push.w * air + (emitter.gravity.w + field_push.w) * field_air;
#endif
#ifdef ATTRACTOR
    total += attraction(point);
#endif
    return total;
}

// What drag leaves of a velocity after a time, the time that counts for an acceleration, and half its square as far
// as an acceleration counts for the position: exp(-c t), (1 - exp(-c t)) / c, (t - y) / c.
vec3 pace_of(float drag, float time) {
    float x = drag * time;
    float left = exp(-x);
    float slow_y = time * (1.0 - x * (0.5 - x * (1.0 / 6.0 - x / 24.0)));
    float slow_z = time * time * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x / 120.0)));
    bool slow = x < SLOW_DRAG;
    float y = slow ? slow_y : (1.0 - left) / max(drag, 1e-20);
    return vec3(left, y, slow ? slow_z : (time - y) / max(drag, 1e-20));
}

// Exact for an acceleration that does not change meanwhile.
vec3 way_of(Particle own, vec3 pull, vec3 pace) {
    return pace.y * own.velocity + pace.z * pull;
}

// After that way; `shift` [m] is added to it before the position is rounded.
Particle flown(Particle own, vec3 pull, vec3 pace, vec3 shift) {
    return Particle(own.position + (way_of(own, pull, pace) + shift), pace.x * own.velocity + pace.y * pull);
}

// Less than half a unit in the last place of a position, at random: a position plus a way plus this is rounded up as
// often as the way is nearer to the next number, so that slow particles far from the origin keep their speed.
// Reference: M. Croci et al. 2022, "Stochastic rounding", Royal Society Open Science 9.
vec3 rounding_shift(vec3 position, float life, float moment, int slot) {
    ivec3 bits = floatBitsToInt(position);
    vec3 unit = intBitsToFloat(max((bits & 0x7f800000) - 0x0b800000, ivec3(0)));
    uvec3 random = pcg3d(uvec3(bits) + uvec3(floatBitsToUint(life), floatBitsToUint(moment), uint(slot)));
    return (unit_numbers(random) - 0.49999997) * unit;
}
