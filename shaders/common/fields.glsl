// Force fields at a point of the world: wind, attractors, vortices, turbulence, drag and pulses.
// Inputs: records as packed by sim/fields/pack.py, six texels each and sorted by type; a point [m]; the moment as a
// fraction of the step. Outputs: acceleration [m/s2], drag [1/s], velocity of the air [m/s].
// One loop for each type: a loop that branches on the type runs every branch on software drivers. WIND, ATTRACTOR, VORTEX,
// TURBULENCE, DRAG and PULSE: there are fields of the type; an empty loop costs as much as a field.
// Functions are named as in tests/oracles/fields.py.

#include "common/quaternion.glsl"
#include "common/curl_noise.glsl"

const int FIELD_TEXELS = 6;
const float FIELD_TINY = 1e-30;
const float FIELD_FAR = 10.0;        // argument from which tanh is 1

uniform samplerBuffer u_field_records;
uniform ivec3 u_field_ends;          // end of wind, attractors, vortices, in records
uniform ivec3 u_field_later_ends;    // end of turbulence, drag, pulses

struct FieldSample {
    vec3 acceleration;
    float drag;
    vec3 air;
};

// A point as a field sees it.
struct FieldPoint {
    vec3 offset;       // from the centre, in directions of the world [m]
    vec3 axis;         // y axis of the field
    float share;       // 1 inside of the shape, 0 beyond its falloff
    vec4 first;        // numbers of the field
    vec4 second;
};

FieldPoint field_point(int index, vec3 point, float fraction) {
    int base = FIELD_TEXELS * index;
    vec4 centre = texelFetch(u_field_records, base);
    vec4 turn = texelFetch(u_field_records, base + 2);
    vec4 size = texelFetch(u_field_records, base + 3);
    vec3 offset = point - centre.xyz - fraction * texelFetch(u_field_records, base + 1).xyz;
    // A box of half sizes swollen by a radius, which is that of a ball, and huge for a field without bounds.
    vec3 apart = abs(quaternion_rotate(quaternion_conjugate(turn), offset)) - size.xyz;
    float outside = length(max(apart, vec3(0.0))) + min(max(apart.x, max(apart.y, apart.z)), 0.0) - size.w;
    float s = clamp(1.0 - outside / centre.w, 0.0, 1.0);
    return FieldPoint(
        offset, quaternion_rotate(turn, vec3(0.0, 1.0, 0.0)), s * s * (3.0 - 2.0 * s),
        texelFetch(u_field_records, base + 4), texelFetch(u_field_records, base + 5)
    );
}

// The shortest way from a source, which is a point (0), a line along the axis (1) or a plane across it (2).
vec3 away_from(float source, FieldPoint at) {
    vec3 along = dot(at.offset, at.axis) * at.axis;
    return source == 0.0 ? at.offset : source == 1.0 ? at.offset - along : along;
}

// Numbers: speed [m/s], part of it of each gust, three wave numbers [rad/m], their phases [rad].
vec3 wind_air(FieldPoint at) {
    float along = dot(at.offset, at.axis);
    vec3 numbers = vec3(at.first.zw, at.second.x);
    vec3 gusts = sin(at.second.yzw - along * numbers);
    return (at.share * at.first.x * (1.0 + at.first.y * (gusts.x + gusts.y + gusts.z))) * at.axis;
}

// Numbers: strength [m/s2], square of the core [m2], exponent of the square of the distance, source.
vec3 attraction_of(FieldPoint at) {
    vec3 away = away_from(at.first.w, at);
    return (-at.share * at.first.x * pow(dot(away, away) + at.first.y, at.first.z)) * away;
}

// Numbers: circulation over 2 pi [m2/s], square of the core [m2], 1 for Lamb and Oseen.
vec3 vortex_air(FieldPoint at) {
    vec3 away = at.offset - dot(at.offset, at.axis) * at.axis;
    float square = max(dot(away, away), FIELD_TINY);
    float x = square / at.first.y;
    float series = 1.0 - x * (1.0 / 2.0 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x / 720.0))));
    float viscous = x < 0.25 ? series / at.first.y : (1.0 - exp(-x)) / square;
    float rate = at.first.z > 0.5 ? viscous : 1.0 / max(square, at.first.y);
    return (at.share * at.first.x * rate) * cross(at.axis, away);
}

// Numbers: speed [m/s], whirls per metre, upper and lower bits of the seed | phases.
vec3 turbulence_air(FieldPoint at) {
    uint seed = (uint(at.first.z) << 16u) + uint(at.first.w);
    vec3 noise = curl_noise(at.first.y * at.offset, vec3(0.0), ivec3(0), seed, uvec3(at.second.xyz));
    return (at.share * at.first.x) * noise;
}

// Numbers: strength [m/s2], 1 / width [1/m], front at the start of the step [m], its way over the step in widths | source.
// Mean of strength times sech2((r - front) / width) over the step.
vec3 pulse_of(FieldPoint at) {
    vec3 away = away_from(at.second.x, at);
    float square = dot(away, away);
    float passed = clamp((sqrt(square) - at.first.z) * at.first.y, -FIELD_FAR, FIELD_FAR);
    float coming = clamp((sqrt(square) - at.first.z) * at.first.y - at.first.w, -FIELD_FAR, FIELD_FAR);
    float mean = at.first.x * (1.0 - tanh(passed) * tanh(coming));
    return (at.share * mean * inversesqrt(max(square, FIELD_TINY))) * away;
}

FieldSample fields_at(vec3 point, float fraction) {
    FieldSample total = FieldSample(vec3(0.0), 0.0, vec3(0.0));
    int i = 0;
#ifdef WIND
    for (; i < u_field_ends.x; ++i) {
        total.air += wind_air(field_point(i, point, fraction));
    }
#endif
#ifdef ATTRACTOR
    for (; i < u_field_ends.y; ++i) {
        total.acceleration += attraction_of(field_point(i, point, fraction));
    }
#endif
#ifdef VORTEX
    for (; i < u_field_ends.z; ++i) {
        total.air += vortex_air(field_point(i, point, fraction));
    }
#endif
#ifdef TURBULENCE
    for (; i < u_field_later_ends.x; ++i) {
        total.air += turbulence_air(field_point(i, point, fraction));
    }
#endif
#ifdef DRAG
    for (; i < u_field_later_ends.y; ++i) {
        FieldPoint at = field_point(i, point, fraction);
        total.drag += at.share * at.first.x;
    }
#endif
#ifdef PULSE
    for (; i < u_field_later_ends.z; ++i) {
        total.acceleration += pulse_of(field_point(i, point, fraction));
    }
#endif
    return total;
}
