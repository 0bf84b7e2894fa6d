#version 330 core
// Threads (lines with a scalar), particles, or marks of particles (points), in world space [m].
// Outputs: the scalar; points have a size by distance, marks one on the screen.

#include "viewport/frame.glsl"
#ifdef CONTACTS
#include "common/collide.glsl"
uniform samplerBuffer u_colliders;  // as packed by sim/colliders/pack.py
uniform int u_collider_count;
uniform float u_near;               // distance that counts as a touch [m]
#endif

#ifdef PINS
in vec4 a_pin;        // place, and 1 where the particle is held
#else
in vec3 a_position;
#endif
#ifdef SCALAR
in float a_scalar;
#endif

out float v_scalar;

#ifdef CONTACTS
bool touches_any(vec3 place) {
    int index = collider_next(u_colliders, 0, u_collider_count, place, 1.0, u_near);
    while (index < u_collider_count && collider_contact(u_colliders, index, place, 1.0, 1.0).distance > u_near) {
        index = collider_next(u_colliders, index + 1, u_collider_count, place, 1.0, u_near);
    }
    return index < u_collider_count;
}
#endif

void main() {
    v_scalar = 0.0;
#ifdef SCALAR
    v_scalar = a_scalar;
#endif
#ifdef PINS
    gl_Position = a_pin.w > 0.5 ? frame.clip_from_world * vec4(a_pin.xyz, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 8.0;
#else
    gl_Position = frame.clip_from_world * vec4(a_position, 1.0);
#endif
#ifdef CHOSEN
    gl_PointSize = 11.0;
#endif
#ifdef CONTACTS
    if (!touches_any(a_position)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 6.0;
#endif
#ifdef HOVERED
    gl_PointSize = 15.0;
#endif
#ifdef POINTS
    gl_PointSize = clamp(0.006 * frame.subject.w * frame.viewport.y / max(gl_Position.w, 1e-6), 2.0, 12.0);
#endif
}
