#version 330 core
// Ground plane y = 0 around the camera's subject: with SHADOWED the rectangle that holds the shadow, four vertices
// of a triangle strip; otherwise the ring from it to the outer rectangle, ten vertices.
// Output: v_position, world space [m].

#include "viewport/frame.glsl"

// Rectangles are (lo along, lo across, hi along, hi across) the unit vector u_axis (x, z) [m].
uniform vec2 u_axis;
uniform vec4 u_outer;
uniform vec4 u_inner;

out vec3 v_position;

void main() {
    // Corners are counted around the rectangle: lo lo, hi lo, hi hi, lo hi.
#ifdef SHADOWED
    int corner = gl_VertexID ^ (gl_VertexID >> 1);
    vec4 sides = u_inner;
#else
    int corner = (gl_VertexID >> 1) & 3;
    vec4 sides = (gl_VertexID & 1) == 0 ? u_outer : u_inner;
#endif
    vec2 place = vec2(corner == 1 || corner == 2 ? sides.z : sides.x, corner >= 2 ? sides.w : sides.y);
    v_position = vec3(u_axis.x * place.x - u_axis.y * place.y, 0.0, u_axis.y * place.x + u_axis.x * place.y);
    gl_Position = frame.clip_from_world * vec4(v_position, 1.0);
}
