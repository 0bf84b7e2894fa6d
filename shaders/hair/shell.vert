#version 330 core
// Fur as a copy of the skin at a height: its vertices stand as far along the strands that grow there.
// Inputs: position at rest [m] and strands for each square metre of a vertex; see hair/row.glsl, where the strands are those
// of the vertices; where it is seen from. Outputs: linear colour, unless CAST draws what a light sees; distance along the
// view [m]; for hair/shell.glsl the position at rest [cells], how far on the screen the next copy is shifted [px], and the
// part of a cell that strands cover up to there, where a pixel shows one cell.
// With UNDERCOAT it lies on the skin itself, a little nearer to the eye, and covers a part of the cells.

#include "hair/row.glsl"

uniform mat4 u_clip_from_world;
#ifndef UNDERCOAT
uniform vec2 u_viewport;             // size of the target [px]
uniform float u_pixel;               // width of a pixel where the projection has w = 1 [m]
#endif
uniform vec4 u_eye;                 // position of the eye or the light [m], 1; or its direction, 0
#ifdef UNDERCOAT
uniform vec3 u_undercoat;            // part that is covered from a density on, 1 / that density [m²], lift [m]
#else
uniform vec3 u_height;               // share of the way from root to tip, to the next copy, radius of a strand there [m]
#endif
uniform float u_cell;                // edge of a cell [m]

in vec3 a_rest;
in float a_density;

#ifndef CAST
out vec3 v_colour;
#endif
flat out uint v_strand;
out float v_distance;
out vec3 v_cell;
out vec3 v_shift;                    // [px], and the cover

void main() {
#ifdef UNDERCOAT
    Row row = row_of(gl_VertexID, 0.0);
    vec3 lift = normalize(u_eye.xyz - u_eye.w * row.place) * u_undercoat.z;
    vec4 clip = u_clip_from_world * vec4(row.place + lift, 1.0);
    v_shift = vec3(0.0, 0.0, u_undercoat.x * min(a_density * u_undercoat.y, 1.0));
#else
    Row row = row_of(gl_VertexID, u_height.x);
    vec4 clip = u_clip_from_world * vec4(row.place, 1.0);
    vec3 way = row.ahead * (float(KNOTS - 1) * u_height.y);
    vec4 ahead = u_clip_from_world * vec4(way, 0.0);
    float w = max(clip.w, 1e-6);
    v_shift.xy = (ahead.xy * w - clip.xy * ahead.w) * u_viewport * (0.5 / (w * w));
    vec3 back = normalize(u_eye.xyz - u_eye.w * row.place);
    float pixel = u_pixel * w;
    v_shift.z = length(cross(way, back)) * 2.0 * u_height.z * a_density * (u_cell * u_cell) / (pixel * pixel);
#endif
    bool is_seen = dot(row.place, row.place) < 1e24;
    gl_Position = is_seen ? clip : vec4(2.0, 2.0, 2.0, 1.0);
    v_strand = uint(gl_VertexID);
    v_distance = clip.w;
    v_cell = a_rest / u_cell;
#ifndef CAST
    v_colour = colour_of(row);
#endif
}
