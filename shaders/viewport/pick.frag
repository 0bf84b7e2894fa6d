#version 330 core
// Identity of what covers a pixel: object index plus one, and triangle of its mesh.

uniform uint u_object;
uniform uint u_first_triangle;   // of the draw, in the mesh
out uvec2 o_identity;

void main() {
    o_identity = uvec2(u_object + 1u, u_first_triangle + uint(gl_PrimitiveID));
}
