#version 330 core
// Identity of the object in a pixel: index plus one, and its triangle, line or point.

uniform uint u_object;
uniform uint u_first;   // number of the first of the draw
out uvec2 o_identity;

void main() {
    o_identity = uvec2(u_object + 1u, u_first + uint(gl_PrimitiveID));
}
