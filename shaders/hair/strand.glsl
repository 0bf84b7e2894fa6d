// What the solvers of hair share: the state of a strand, its root over a substep, its groom, the air.
// A strand has KNOTS knots and SEGMENTS segments of equal length; positions are relative to the root, in world directions.
// u_now, u_before: KNOTS texels a strand: position [m]; that of the root holds its move over the last substep and 1 for a
// strand that broke. u_roots: 4 texels a strand, see hair/root.glsl. u_rest: 2 texels a segment: unit edge in the frame
// of the root | carried weight of the knot at its end [m/s2] in that frame, share of the hold.

#include "common/quaternion.glsl"
#include "common/gusts.glsl"
#include "hair/each.glsl"

const float STRAND_TINY = 1e-12;
const float STRAND_FARTHEST = 1e6;   // a knot that is farther from its root, or not a number, is broken [m]

uniform samplerBuffer u_now;
uniform samplerBuffer u_before;
uniform samplerBuffer u_roots;
uniform samplerBuffer u_rest;
uniform vec4 u_step;                 // duration of a substep [s], part of the root's motion that is felt, drag [1/s]
uniform int u_knots;                 // KNOTS; a bound that is not known when compiling keeps compilers quick
uniform vec3 u_gravity;              // [m/s2]
uniform vec3 u_wind;                 // [m/s]
#ifdef FIELDS
uniform samplerBuffer u_fields;      // two texels a knot, of the start of the step; see common/fields_sample.glsl
#endif
#ifdef GUSTS
uniform vec4 u_waves[WAVE_COUNT];
uniform vec3 u_amplitudes[WAVE_COUNT];
#endif

// The substep that is made, as fractions of the step: start, end; knots before and after the last one, and the move of
// the root over it [m].
vec2 span;
vec3 was[KNOTS];
vec3 now[KNOTS];
vec3 moved;

struct Root {
    vec3 place;        // at the end of the substep [m]
    vec3 move;         // over the substep [m]
    vec3 felt;         // what the strand feels of the change of the move [m]
    vec4 turn;         // world from the frame of the root, at the end of the substep
    float segment;     // length [m]
};

Root root_of(int strand) {
    vec4 start = texelFetch(u_roots, 4 * strand);
    vec4 turn_start = texelFetch(u_roots, 4 * strand + 1);
    vec3 travel = texelFetch(u_roots, 4 * strand + 2).xyz - start.xyz;
    vec4 turn_end = texelFetch(u_roots, 4 * strand + 3);
    vec3 move = (span.y - span.x) * travel;
    vec4 turn = normalize(mix(turn_start, turn_end, span.y));
    return Root(start.xyz + span.y * travel, move, u_step.y * (moved - move), turn, start.w);
}

vec4 rest_edge(int strand, int segment) {
    return texelFetch(u_rest, 2 * (strand * SEGMENTS + segment));
}

vec4 rest_load(int strand, int segment) {
    return texelFetch(u_rest, 2 * (strand * SEGMENTS + segment) + 1);
}

vec3 air_at(vec3 place) {
#ifdef GUSTS
    return air_velocity(u_wind, u_waves, u_amplitudes, place);
#else
    return u_wind;
#endif
}

#ifdef FIELDS
// First texel of the knot that moves.
int field_texel;
#define FIELD_OF_KNOT(k) field_texel = 2 * (strand * KNOTS + k);

// Acceleration [m/s2], drag [1/s].
vec4 field_push() {
    return texelFetch(u_fields, field_texel);
}

vec3 field_air() {
    return texelFetch(u_fields, field_texel + 1).xyz;
}
#else
#define FIELD_OF_KNOT(k)
#endif

// A vector at the length; one without a direction gets that of `other`.
vec3 at_length(vec3 vector, float size, vec3 other) {
    float square = dot(vector, vector);
    return square > STRAND_TINY * size * size ? vector * (size * inversesqrt(square)) : other * size;
}

bool is_sound(vec3 place) {
    return dot(place, place) < STRAND_FARTHEST * STRAND_FARTHEST;
}
