// Target of one held particle that is attached to a point of a moving surface.
// Inputs: vertices of the surface (model space), the triangle's corners, weights of the foot point, height above it [m];
// world transform of the surface. Outputs: target in the world [m] and 1, or zeros.

uniform samplerBuffer u_vertices;
uniform int u_texels;
uniform mat4 u_world_from_model;

vec3 corner(float index) {
    return (u_world_from_model * vec4(texelFetch(u_vertices, int(index) * u_texels).xyz, 1.0)).xyz;
}

void run(int id) {
    vec3 a = corner(a_corners.x);
    vec3 b = corner(a_corners.y);
    vec3 c = corner(a_corners.z);
    vec3 area = cross(b - a, c - a);
    vec3 up = area / max(sqrt(dot(area, area)), 1e-30);
    vec3 foot = a_weights.x * a + a_weights.y * b + a_weights.z * c;
    o_pin = a_held > 0.0 ? vec4(foot + a_height * up, 1.0) : vec4(0.0);
}
