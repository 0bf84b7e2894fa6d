#version 330 core
// Edges of a surface from the skinned-vertex buffer, drawn as lines.

#include "viewport/frame.glsl"

uniform mat4 u_world_from_model;
uniform float u_depth_bias;   // moves the lines towards the camera, in units of clip depth

in vec4 a_position;

void main() {
    gl_Position = frame.clip_from_world * (u_world_from_model * vec4(a_position.xyz, 1.0));
    gl_Position.z -= u_depth_bias * gl_Position.w;
}
