#version 330 core
// Highlights of particles of a cloth, points in world space [m]: held particles with HELD, otherwise particles that
// touch a collider; the others are clipped.

#include "viewport/frame.glsl"
#include "common/collide.glsl"

uniform float u_size;               // [px]

#ifdef HELD
in vec4 a_pin;                      // position, and 1 if the particle is held
#else
uniform samplerBuffer u_colliders;  // as packed by sim/colliders/pack.py
uniform int u_collider_count;
uniform float u_near;               // distance that counts as a touch [m]
in vec3 a_position;

bool touches_any(vec3 place) {
    int index = collider_next(u_colliders, 0, u_collider_count, place, 1.0, u_near);
    while (index < u_collider_count && collider_contact(u_colliders, index, place, 1.0, 1.0).distance > u_near) {
        index = collider_next(u_colliders, index + 1, u_collider_count, place, 1.0, u_near);
    }
    return index < u_collider_count;
}
#endif

void main() {
#ifdef HELD
    bool is_marked = a_pin.w > 0.5;
    vec3 place = a_pin.xyz;
#else
    bool is_marked = touches_any(a_position);
    vec3 place = a_position;
#endif
    gl_Position = is_marked ? frame.clip_from_world * vec4(place, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = u_size;
}
