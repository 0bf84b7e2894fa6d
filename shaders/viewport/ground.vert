#version 330 core
// Large square on the ground plane y = 0, centred below the camera's subject.
// Output: v_position, world space [m].

#include "viewport/frame.glsl"

uniform float u_half_size;   // half the edge of the square [m]

out vec3 v_position;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec2 centre = frame.subject.xz;
    v_position = vec3(centre.x + corner.x * u_half_size, 0.0, centre.y + corner.y * u_half_size);
    gl_Position = frame.clip_from_world * vec4(v_position, 1.0);
}
