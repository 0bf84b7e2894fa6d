#version 330 core
// Screen-space marks: discs, or stars of four points.
// Inputs: centre (xyz world [m], w radius [px]), colour (sRGB, alpha), and 1 for a star.

#include "viewport/frame.glsl"

in vec4 i_centre;
in vec4 i_colour;
in float i_star;

out vec2 v_offset;
flat out vec4 v_colour;
flat out float v_radius;
flat out float v_star;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    v_radius = i_centre.w + 1.0;
    v_offset = corner * v_radius;
    v_colour = i_colour;
    v_star = i_star;
    vec4 clip = frame.clip_from_world * vec4(i_centre.xyz, 1.0);
    clip.xy += v_offset * 2.0 * frame.viewport.zw * clip.w;
    clip.z = 0.0;  // drawn over everything, so neither plane of the depth range may cut it
    gl_Position = vec4(clip.xy, 0.0, clip.w);   // inside the depth range however near or far
}
