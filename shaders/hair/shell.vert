#version 330 core
// Fur as a copy of the skin at a height: its vertices stand as far along the strands that grow there.
// Inputs: place at rest [m] and strands for each square metre of a vertex; see hair/row.glsl, where the strands are those
// of the vertices. Outputs: linear colour, unless CAST draws what a light sees; distance along the view [m]; for
// hair/shell.glsl the place at rest and now, the way of a strand to the next copy and how wide and dense strands are.

#include "hair/row.glsl"

uniform mat4 u_clip_from_world;
uniform vec3 u_height;               // share of the way from root to tip, to the next copy, radius of a strand there [m]

in vec3 a_rest;
in float a_density;

#ifndef CAST
out vec3 v_colour;
#endif
flat out uint v_strand;
out float v_distance;
out vec3 v_rest;
out vec3 v_place;
out vec4 v_step;

void main() {
    Row row = row_of(gl_VertexID, u_height.x);
    vec4 clip = u_clip_from_world * vec4(row.place, 1.0);
    bool is_seen = dot(row.place, row.place) < 1e24;
    gl_Position = is_seen ? clip : vec4(2.0, 2.0, 2.0, 1.0);
    v_strand = uint(gl_VertexID);
    v_distance = clip.w;
    v_rest = a_rest;
    v_place = row.place;
    v_step = vec4(row.ahead * (float(KNOTS - 1) * u_height.y), 2.0 * u_height.z * a_density);
#ifndef CAST
    v_colour = colour_of(row);
#endif
}
