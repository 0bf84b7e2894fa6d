#version 330 core
// Octahedral bones, one instance per segment from a joint to its child.
// Instance inputs: head (xyz [m], w thickness [m]) and tail (xyz [m], w state: 0 plain, 1 hovered, 2 selected,
// 3 dim), both in world space.  Corners come from a constant table.

#include "viewport/frame.glsl"

in vec4 i_head;
in vec4 i_tail;

out vec3 v_position;
flat out vec3 v_normal;
flat out float v_state;

// Unit octahedron along +y: base at 0, waist at 0.12, tip at 1.
const vec3 CORNERS[6] = vec3[](
    vec3(0.0, 0.0, 0.0), vec3(1.0, 0.12, 0.0), vec3(0.0, 0.12, 1.0),
    vec3(-1.0, 0.12, 0.0), vec3(0.0, 0.12, -1.0), vec3(0.0, 1.0, 0.0));
const int FACES[24] = int[](0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 5, 2, 1, 5, 3, 2, 5, 4, 3, 5, 1, 4);

vec3 placed(vec3 corner, vec3 side, vec3 along, vec3 other) {
    return i_head.xyz + along * corner.y + (side * corner.x + other * corner.z) * i_head.w;
}

void main() {
    vec3 along = i_tail.xyz - i_head.xyz;
    float size = max(length(along), 1e-9);
    vec3 axis = along / size;
    vec3 side = normalize(abs(axis.y) < 0.9 ? cross(axis, vec3(0.0, 1.0, 0.0)) : cross(axis, vec3(1.0, 0.0, 0.0)));
    vec3 other = cross(side, axis);
    int face = (gl_VertexID / 3) * 3;
    vec3 a = placed(CORNERS[FACES[face]], side, along, other);
    vec3 b = placed(CORNERS[FACES[face + 1]], side, along, other);
    vec3 c = placed(CORNERS[FACES[face + 2]], side, along, other);
    v_normal = cross(b - a, c - a);
    v_state = i_tail.w;
    v_position = gl_VertexID == face ? a : gl_VertexID == face + 1 ? b : c;
    gl_Position = frame.clip_from_world * vec4(v_position, 1.0);
}
