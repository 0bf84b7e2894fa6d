// Arrows that show one field: along its acceleration or air, longer where it is stronger; crosses show drag.
// Inputs: see common/fields.glsl; places of the arrows [m]. Output: ends of five lines for each arrow [m].

#include "common/fields.glsl"

uniform samplerBuffer u_places;
uniform float u_spacing;             // longest arrow [m]
uniform float u_typical;             // strength of an arrow of half that length

const int ENDS = 10;

// A cross whose size shows the drag.
vec3 cross_end(int corner, float size) {
    int axis = min(corner / 2, 2);
    vec3 direction = vec3(axis == 0, axis == 1, axis == 2);
    return (corner >= 6 ? 0.0 : corner % 2 == 0 ? size : -size) * direction;
}

vec3 arrow_end(int corner, vec3 direction, float size) {
    vec3 tip = 0.5 * size * direction;
    vec3 side = abs(direction.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    vec3 first = normalize(cross(direction, side));
    vec3 second = cross(first, direction);
    int barb = (corner - 2) / 2;
    vec3 across = (barb % 2 == 0 ? 1.0 : -1.0) * (barb < 2 ? first : second);
    vec3 barb_end = tip - size * (0.3 * direction - 0.12 * across);
    return corner == 0 ? -tip : corner % 2 == 1 && corner > 1 ? barb_end : tip;
}

void run(int id) {
    vec3 places[1] = vec3[1](texelFetch(u_places, id / ENDS).xyz);
    int corner = id % ENDS;
    FieldSample samples[1];
    fields_at(places, 0.0, samples);
    FieldSample found = samples[0];
    vec3 pushed = found.acceleration + found.air;
    float strength = length(pushed);
    float size = u_spacing * strength / max(strength + u_typical, FIELD_TINY);
    float crossed = 0.25 * u_spacing * found.drag / max(found.drag + u_typical, FIELD_TINY);
    vec3 direction = strength > 1e-20 ? pushed / strength : vec3(0.0, 1.0, 0.0);
    vec3 end = found.drag > 0.0 ? cross_end(corner, crossed) : arrow_end(corner, direction, size);
    o_position = vec4(places[0] + end, 1.0);
}
