// Triangles of all cloths of a group: their corners, and the point of one that is nearest to a point.
// Positions and velocities are those of the particles of all cloths, two texels each.

uniform samplerBuffer u_state;
uniform usamplerBuffer u_corners;  // particles at the three corners, number of the cloth, or 0xffffffff for no triangle

struct Face {
    vec3 first;
    vec3 second;
    vec3 third;
};

// Row 0 is of the positions, row 1 of the velocities.
Face face_at(uvec4 corners, int row) {
    return Face(
        texelFetch(u_state, 2 * int(corners.x) + row).xyz,
        texelFetch(u_state, 2 * int(corners.y) + row).xyz,
        texelFetch(u_state, 2 * int(corners.z) + row).xyz
    );
}

vec3 face_point(Face face, vec3 weights) {
    return weights.x * face.first + weights.y * face.second + weights.z * face.third;
}

vec3 face_area(Face face) {
    return cross(face.second - face.first, face.third - face.first);
}

float safe_part(float part, float whole) {
    return clamp(part / max(whole, 1e-37), 0.0, 1.0);
}

// Weights of the corners in the point of a triangle that is nearest to a point; all are positive inside of the triangle.
// Reference: C. Ericson 2005, "Real-Time Collision Detection", section 5.1.5.
vec3 nearest_weights(Face face, vec3 point) {
    vec3 across = face.second - face.first;
    vec3 along = face.third - face.first;
    vec3 from_first = point - face.first;
    vec3 from_second = point - face.second;
    vec3 from_third = point - face.third;
    float first_across = dot(across, from_first);
    float first_along = dot(along, from_first);
    float second_across = dot(across, from_second);
    float second_along = dot(along, from_second);
    float third_across = dot(across, from_third);
    float third_along = dot(along, from_third);
    float third_area = first_across * second_along - second_across * first_along;
    float second_area = third_across * first_along - first_across * third_along;
    float first_area = second_across * third_along - third_across * second_along;
    float beyond_second = second_along - second_across;
    float beyond_third = third_across - third_along;
    bool at_first = first_across <= 0.0 && first_along <= 0.0;
    bool at_second = second_across >= 0.0 && beyond_second <= 0.0;
    bool at_third = third_along >= 0.0 && beyond_third <= 0.0;
    bool at_across = third_area <= 0.0 && first_across >= 0.0 && second_across <= 0.0;
    bool at_along = second_area <= 0.0 && first_along >= 0.0 && third_along <= 0.0;
    bool at_opposite = first_area <= 0.0 && beyond_second >= 0.0 && beyond_third >= 0.0;
    // Parts of the second and the third corner, and the whole of which they are parts, without branches
    vec3 parts = vec3(second_area, third_area, first_area + second_area + third_area);
    parts = at_opposite ? vec3(beyond_third, beyond_second, beyond_second + beyond_third) : parts;
    parts = at_along ? vec3(0.0, first_along, first_along - third_along) : parts;
    parts = at_across ? vec3(first_across, 0.0, first_across - second_across) : parts;
    parts = at_third ? vec3(0.0, 1.0, 1.0) : parts;
    parts = at_second ? vec3(1.0, 0.0, 1.0) : parts;
    parts = at_first ? vec3(0.0, 0.0, 1.0) : parts;
    float second = safe_part(parts.x, parts.z);
    float third = min(safe_part(parts.y, parts.z), 1.0 - second);
    // Beside the triangle the weights of the corners that do not count are exactly zero.
    bool is_opposite = at_opposite && !(at_first || at_second || at_third || at_across || at_along);
    second = is_opposite ? 1.0 - third : second;
    return vec3(is_opposite ? 0.0 : 1.0 - second - third, second, third);
}

// Half of the distance beyond the clearance that counts as near [m]: within a step a speed [m/s] may change by itself, but at
// least and at most so much.
float margin(float speed, float span) {
    return 0.5 * span * clamp(speed, 0.15, 0.6);
}

float face_margin(Face motion, float span) {
    return margin(max(length(motion.first), max(length(motion.second), length(motion.third))), span);
}
