// A vertex of a tube through points: SIDES vertices for each point, on a circle around the line.
// Inputs: points in the world [m], every u_stride-th texel; their number; radius [m]. Outputs: position, 1 | normal, 0.
// Reference: Frisvad 2012, "Building an orthonormal basis from a 3D unit vector without normalization", which twists the
// tube only where it points straight up.

uniform samplerBuffer u_points;
uniform ivec2 u_count;               // points, texels of each
uniform float u_radius;

vec3 point_at(int index) {
    return texelFetch(u_points, clamp(index, 0, u_count.x - 1) * u_count.y).xyz;
}

void run(int id) {
    int index = min(id / SIDES, u_count.x - 1);
    vec3 along = point_at(index + 1) - point_at(index - 1);
    float size = length(along);
    vec3 n = size > 1e-12 ? along / size : vec3(0.0, -1.0, 0.0);
    vec3 side = vec3(0.0, 0.0, -1.0);
    if (n.y < 0.999999) side = vec3(1.0 - n.x * n.x / (1.0 - n.y), n.x, -n.x * n.z / (1.0 - n.y));
    float angle = 6.283185307179586 * float(id % SIDES) / float(SIDES);
    vec3 normal = cos(angle) * side + sin(angle) * cross(n, side);
    o_position = vec4(point_at(index) + u_radius * normal, 1.0);
    o_normal = vec4(normal, 0.0);
}
