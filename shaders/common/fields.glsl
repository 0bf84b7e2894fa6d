// Force fields at a point of the world: wind, attractors, vortices, turbulence, drag and pulses.
// Inputs: records as packed by sim/fields/pack.py, seven texels each and sorted by type; a point [m]; the moment as a
// fraction of the step. Outputs: acceleration [m/s2], drag [1/s], velocity of the air [m/s].
// One loop for each type: a loop that branches on the type runs every branch on software drivers. FIELD_WIND and so on: there
// are fields of the type; an empty loop costs as much as a field. FIELD_BOUNDS: one of them has a shape.
// FIELD_POINTS: points of a call, 1 by default; reading a record takes as long as the field at a point.
// Functions are named as in tests/oracles/fields.py.

#include "common/curl_noise.glsl"

#ifndef FIELD_POINTS
#define FIELD_POINTS 1
#endif

const int FIELD_TEXELS = 7;
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

struct Field {
    vec3 centre;       // at the moment [m]
    vec3 axis;         // y axis of the field
    vec4 first;        // numbers of the field
    vec4 second;
#ifdef FIELD_BOUNDS
    mat3 axes;
    vec4 size;         // half extents of a box, and the radius by which it is swollen [m]
    float falloff;     // [m]
#endif
};

// A point as a field sees it.
struct FieldPoint {
    vec3 offset;       // from the centre, in directions of the world [m]
    vec3 axis;
    float share;       // 1 inside of the shape, 0 beyond its falloff
    vec4 first;
    vec4 second;
};

Field field_record(int index, float fraction) {
    int base = FIELD_TEXELS * index;
    vec4 centre = texelFetch(u_field_records, base);
    vec4 travel = texelFetch(u_field_records, base + 1);
    vec4 axis = texelFetch(u_field_records, base + 3);
    vec4 first = texelFetch(u_field_records, base + 5);
    vec4 second = texelFetch(u_field_records, base + 6);
#ifdef FIELD_BOUNDS
    vec4 right = texelFetch(u_field_records, base + 2);
    vec4 front = texelFetch(u_field_records, base + 4);
#endif
    return Field(
        centre.xyz + fraction * travel.xyz, axis.xyz, first, second
#ifdef FIELD_BOUNDS
        , mat3(right.xyz, axis.xyz, front.xyz), vec4(right.w, axis.w, front.w, travel.w), centre.w
#endif
    );
}

FieldPoint field_point(Field field, vec3 point) {
    vec3 offset = point - field.centre;
    float share = 1.0;
#ifdef FIELD_BOUNDS
    vec3 apart = abs(offset * field.axes) - field.size.xyz;
    float outside = length(max(apart, vec3(0.0))) + min(max(apart.x, max(apart.y, apart.z)), 0.0) - field.size.w;
    float s = clamp(1.0 - outside / field.falloff, 0.0, 1.0);
    share = s * s * (3.0 - 2.0 * s);
#endif
    return FieldPoint(offset, field.axis, share, field.first, field.second);
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

#ifdef FIELD_TURBULENCE
// Numbers: speed [m/s], whirls per metre, upper and lower bits of the seed | phases.
vec3 turbulence_air(FieldPoint at) {
    uint seed = (uint(at.first.z) << 16u) + uint(at.first.w);
    vec3 noise = curl_noise(at.first.y * at.offset, vec3(0.0), ivec3(0), seed, uvec3(at.second.xyz));
    return (at.share * at.first.x) * noise;
}
#endif

// Numbers: drag [1/s].
float drag_of(FieldPoint at) {
    return at.share * at.first.x;
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

void fields_at(vec3 points[FIELD_POINTS], float fraction, out FieldSample totals[FIELD_POINTS]) {
    for (int k = 0; k < FIELD_POINTS; ++k) {
        totals[k] = FieldSample(vec3(0.0), 0.0, vec3(0.0));
    }
    int i = 0;
#ifdef FIELD_WIND
    for (; i < u_field_ends.x; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].air += wind_air(field_point(field, points[k]));
        }
    }
#endif
#ifdef FIELD_ATTRACTOR
    for (; i < u_field_ends.y; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].acceleration += attraction_of(field_point(field, points[k]));
        }
    }
#endif
#ifdef FIELD_VORTEX
    for (; i < u_field_ends.z; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].air += vortex_air(field_point(field, points[k]));
        }
    }
#endif
#ifdef FIELD_TURBULENCE
    for (; i < u_field_later_ends.x; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].air += turbulence_air(field_point(field, points[k]));
        }
    }
#endif
#ifdef FIELD_DRAG
    for (; i < u_field_later_ends.y; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].drag += drag_of(field_point(field, points[k]));
        }
    }
#endif
#ifdef FIELD_PULSE
    for (; i < u_field_later_ends.z; ++i) {
        Field field = field_record(i, fraction);
        for (int k = 0; k < FIELD_POINTS; ++k) {
            totals[k].acceleration += pulse_of(field_point(field, points[k]));
        }
    }
#endif
}
