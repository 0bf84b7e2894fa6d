// A curve through points at equal distances of its parameter.
// Inputs: four points in a row, the share of the way from the second to the third. Outputs: position, tangent.
// Reference: Catmull, Rom 1974, "A class of local interpolating splines".

vec3 curve_place(vec3 a, vec3 b, vec3 c, vec3 d, float t) {
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
}

vec3 curve_tangent(vec3 a, vec3 b, vec3 c, vec3 d, float t) {
    return 0.5 * (c - a + t * (2.0 * (2.0 * a - 5.0 * b + 4.0 * c - d) + 3.0 * t * (3.0 * (b - c) + d - a)));
}
