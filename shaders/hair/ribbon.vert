#version 330 core
// A strand as a ribbon that faces the eye: an instance of two vertices for each row, through its knots. With LINE an
// instance of one vertex for each row, for lines of the width that the driver draws; FLAT are all in the colour of their
// second end.
// Inputs: see hair/row.glsl. Outputs: linear colour, unless CAST draws what a light sees; number of the strand, distance
// along the view [m].
// A ribbon is at least as wide as a pixel. For what is thinner fewer strands are drawn, so that the cover stays; with
// BLENDED all of them, a pixel wider for a soft edge, and the cover is an opacity.
// Reference: Catmull, Rom 1974, "A class of local interpolating splines".

#include "hair/row.glsl"
#ifdef CURLS
#include "hair/curl.glsl"

uniform vec3 u_curl;                 // radius [m], turns [rad/m], spread of these
#ifndef CAST
#include "hair/scatter.glsl"

uniform vec3 u_light;                 // position of the first light [m]
uniform vec4 u_eye;                 // position of the eye [m], 1; or its direction, 0
#endif
#endif

uniform mat4 u_clip_from_world;
uniform vec2 u_viewport;             // size of the target [px]
uniform float u_scale;               // change of clip y over a metre across the view
uniform vec4 u_width;                // radius at the root and at the tip [m], factor, least radius [px]
uniform vec3 u_reach;                // part of the strand that is drawn: shares of the way at its ends; spread of the cut
uniform int u_first;                 // row that is drawn first
uniform ivec2 u_rotation;            // strand of row 0; number of strands, after which they start again
uniform int u_count;                 // of all strands
uniform int u_rows;                  // of a ribbon, one at each of its ends
#ifdef FLAT
flat out vec3 v_colour;
#elif !defined(CAST)
out vec3 v_colour;
#endif
#if defined(LINE) || defined(BLENDED)
out vec3 v_cover;                    // distance from the middle and half the width [px], opacity; LINE: the last alone
#endif
flat out uint v_strand;
out float v_distance;

void main() {
    int place = u_first + gl_InstanceID;
    int strand = (place + u_rotation.x) % u_rotation.y;
#ifdef LINE
    float side = 0.0;
    int number = gl_VertexID;
#else
    float side = float(gl_VertexID & 1) * 2.0 - 1.0;
    int number = gl_VertexID >> 1;
#endif
    // Where tips are blended, strand by strand elsewhere.
    float cut = u_reach.z * (2.0 * texelFetch(u_strands, strand * KNOTS + 1).w - 1.0);
    vec2 reach = u_reach.xy + cut * step(vec2(0.001), u_reach.xy) * step(u_reach.xy, vec2(0.999));
    float share = mix(reach.x, reach.y, float(number) / float(u_rows - 1));
    Row row = row_of(strand, share);
#ifdef CURLS
    vec3 ahead_on = row.ahead * float(KNOTS - 1);
    float size = float(KNOTS - 1) * distance(texelFetch(u_strands, strand * KNOTS).xyz, texelFetch(u_strands, strand * KNOTS + 1).xyz);
    float turns = 1.0 + u_curl.z * (texelFetch(u_strands, strand * KNOTS + 1).w - 0.5);
    vec3 aside, bent, away;
    vec4 begin = curl_of(texelFetch(u_strands, strand * KNOTS + 2).w);
    curl_at(begin, vec2(u_curl.x, u_curl.y * turns), share, ahead_on, size, aside, bent, away);
    row.place += aside;
    row.ahead = ahead_on + bent;
#endif
    vec4 clip = u_clip_from_world * vec4(row.place, 1.0);
    vec4 ahead = u_clip_from_world * vec4(row.ahead, 0.0);
    // Direction on the screen [px]: that of the derivative of clip / w.
    vec2 direction = (ahead.xy * clip.w - clip.xy * ahead.w) * u_viewport;
    float square = dot(direction, direction);
    direction = square > 1e-20 ? direction * inversesqrt(square) : vec2(0.0, 1.0);
    float metres = texelFetch(u_strands, strand * KNOTS).w * mix(u_width.x, u_width.y, share) * u_width.z;
    float radius = metres * u_scale * u_viewport.y / (2.0 * max(clip.w, 1e-6));
    float rank = (float(place) + 0.5) / float(u_count);
    float left = radius >= u_width.w ? 1.0 : radius - rank * u_width.w;
#if defined(LINE)
    float wide = 0.0;
    v_cover = vec3(0.0, 0.0, left);
#elif defined(BLENDED)
    float wide = max(radius, u_width.w) + 0.5;
    v_cover = vec3(side * wide, wide - 0.5, min(radius / u_width.w, 1.0));
#else
    float wide = left > 0.0 ? max(radius, u_width.w) : 0.0;
#endif
    clip.xy += vec2(-direction.y, direction.x) * (side * wide * 2.0 * clip.w) / u_viewport;
    bool is_seen = clip.w > 1e-4 && dot(row.place, row.place) < 1e24;
    gl_Position = is_seen ? clip : vec4(2.0, 2.0, 2.0, 1.0);
    v_strand = uint(strand);
    v_distance = clip.w;
#ifndef CAST
    v_colour = colour_of(row);
#ifdef CURLS
    // Knots are lit without their curls: what these change of the light, and less of it in the inside of a curl.
    vec3 back = normalize(u_eye.xyz - u_eye.w * row.place);
    vec3 to_light = normalize(u_light - row.place);
    vec3 axis = normalize(ahead_on);
    vec3 curled = normalize(row.ahead);
    vec2 plain = kajiya(axis, to_light, back);
    vec2 lit = kajiya(curled, to_light, back);
    float change = (0.2 + lit.x) / (0.2 + plain.x) * (1.0 + 0.35 * dot(away, back)) * (0.9 + lit.y);
    v_colour *= mix(1.0, change, min(4.0 * share, 1.0) * begin.w);
#endif
#endif
}
