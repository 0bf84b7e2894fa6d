#version 330 core
// Lines or points in world space [m]; with SCALAR each vertex has a number for the ramp.
// Points have a size by distance, or one on the screen.

#include "viewport/frame.glsl"

uniform float u_size;     // width of a point [px]; 0 falls with the distance

in vec4 a_position;
#ifdef SCALAR
in float a_scalar;
out float v_scalar;
#endif

void main() {
#ifdef SCALAR
    v_scalar = a_scalar;
#endif
    gl_Position = frame.clip_from_world * vec4(a_position.xyz, 1.0);
    float far = clamp(0.006 * frame.subject.w * frame.viewport.y / max(gl_Position.w, 1e-6), 2.0, 12.0);
    gl_PointSize = u_size > 0.0 ? u_size : far;
}
