#version 330 core
// Translucent body of a collider, placed rigidly in the world [m].

#include "viewport/frame.glsl"

uniform mat4 u_world_from_model;

in vec3 a_position;
in vec3 a_normal;

out vec3 v_position;
out vec3 v_normal;

void main() {
    vec4 world = u_world_from_model * vec4(a_position, 1.0);
    v_position = world.xyz;
    v_normal = mat3(u_world_from_model) * a_normal;
    gl_Position = frame.clip_from_world * world;
}
