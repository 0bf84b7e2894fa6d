// The corners of one triangle of a skin, in the world.
// Inputs: skinned vertices, the vertices and flags of each triangle. Outputs: a record, see skin/triangle.glsl.

uniform samplerBuffer u_vertices;    // position, normal, more; in the space of the model
uniform int u_texels;                // a vertex
uniform usamplerBuffer u_corners;
uniform mat4 u_world;                // world from model
uniform vec2 u_surface;              // friction, restitution
uniform bool u_mirrored;             // whether the model is

vec3 vertex_value(uint vertex, int field) {
    return texelFetch(u_vertices, u_texels * int(vertex) + field).xyz;
}

vec3 in_world(vec3 place) {
    return (u_world * vec4(place, 1.0)).xyz;
}

void run(int id) {
    uvec4 corners = texelFetch(u_corners, id);
    vec3 a = vertex_value(corners.x, 0);
    vec3 b = vertex_value(corners.y, 0);
    vec3 c = vertex_value(corners.z, 0);
    vec3 outward = vertex_value(corners.x, 1) + vertex_value(corners.y, 1) + vertex_value(corners.z, 1);
    bool clockwise = (dot(cross(b - a, c - a), outward) < 0.0) != u_mirrored;
    o_a = vec4(in_world(a), u_surface.x);
    o_b = vec4(in_world(b), u_surface.y);
    o_c = vec4(in_world(c), float(corners.w) + (clockwise ? 16.0 : 0.0));
}
