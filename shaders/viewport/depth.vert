#version 330 core
// Depth of a skinned surface as the light sees it.

uniform mat4 u_clip_from_model;

in vec4 a_position;

void main() {
    gl_Position = u_clip_from_model * vec4(a_position.xyz, 1.0);
}
