// A position on a skinned surface with its frame.
// Inputs: corners of a triangle and as bits the height above its plane, shares of the corners. Outputs: position in the world [m], unit normal and tangent; a quaternion.
// Reference: Shepperd 1978, "Quaternion from rotation matrix".

uniform samplerBuffer u_vertices;
uniform int u_texels;                // of a vertex: position, normal, and what else it has
uniform mat4 u_world_from_model;
uniform mat3 u_world_from_normal;

struct Spot {
    vec3 place;
    vec3 normal;
    vec3 tangent;
};

vec3 corner_value(uint corner, int texel) {
    return texelFetch(u_vertices, int(corner) * u_texels + texel).xyz;
}

vec3 unit_or(vec3 vector, vec3 other) {
    float square = dot(vector, vector);
    return square > 1e-30 ? vector * inversesqrt(square) : other;
}

Spot surface_spot(uvec4 corners, vec3 shares) {
    vec3 first = corner_value(corners.x, 0);
    vec3 second = corner_value(corners.y, 0);
    vec3 third = corner_value(corners.z, 0);
    vec3 place = shares.x * first + shares.y * second + shares.z * third;
    vec3 normal = shares.x * corner_value(corners.x, 1) + shares.y * corner_value(corners.y, 1)
        + shares.z * corner_value(corners.z, 1);
    float height = uintBitsToFloat(corners.w);
    if (height != 0.0) {
        normal = unit_or(cross(second - first, third - first), vec3(0.0));
        place += height * normal;
    }
    vec3 up = unit_or(u_world_from_normal * normal, vec3(0.0, 1.0, 0.0));
    vec3 edge = mat3(u_world_from_model) * (second - first);
    vec3 aside = abs(up.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 0.0, 1.0);
    vec3 level = unit_or(edge - dot(edge, up) * up, normalize(aside - dot(aside, up) * up));
    return Spot((u_world_from_model * vec4(place, 1.0)).xyz, up, level);
}

vec4 turn_of(Spot spot) {
    vec3 x = spot.tangent;
    vec3 z = spot.normal;
    vec3 y = cross(z, x);
    vec4 squares = vec4(x.x - y.y - z.z, y.y - x.x - z.z, z.z - x.x - y.y, x.x + y.y + z.z);
    float most = max(max(squares.x, squares.y), max(squares.z, squares.w));
    vec4 turn = vec4(y.z - z.y, z.x - x.z, x.y - y.x, 1.0 + squares.w);
    if (most == squares.x) turn = vec4(1.0 + squares.x, x.y + y.x, z.x + x.z, y.z - z.y);
    if (most == squares.y) turn = vec4(x.y + y.x, 1.0 + squares.y, y.z + z.y, z.x - x.z);
    if (most == squares.z) turn = vec4(z.x + x.z, y.z + z.y, 1.0 + squares.z, x.y - y.x);
    return normalize(turn);
}
