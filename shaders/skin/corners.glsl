// The corners of one triangle of a skin, in the world.
// Inputs: skinned vertices, the vertices and flags of each triangle, counter-clockwise from outside. Outputs: a record, see
// skin/triangle.glsl.

uniform samplerBuffer u_vertices;    // position, more; in the space of the model
uniform int u_texels;                // a vertex
uniform usamplerBuffer u_corners;
uniform mat4 u_world;                // world from model
uniform vec2 u_surface;              // friction, restitution
uniform bool u_mirrored;             // whether the model is

vec3 corner(uint vertex) {
    return (u_world * vec4(texelFetch(u_vertices, u_texels * int(vertex)).xyz, 1.0)).xyz;
}

void run(int id) {
    uvec4 corners = texelFetch(u_corners, id);
    o_a = vec4(corner(corners.x), u_surface.x);
    o_b = vec4(corner(corners.y), u_surface.y);
    o_c = vec4(corner(corners.z), float(corners.w) + (u_mirrored ? 16.0 : 0.0));
}
