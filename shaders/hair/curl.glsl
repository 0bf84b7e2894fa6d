// Curls of a strand: a helix around its curve, which is finer than its knots.
// Inputs of the code: direction from the curve in which the helix begins at the root, part of the radius, 0 to 1.
// Output: 24 bits as a number, 8 for the radius and 8 for each of two numbers of the direction.
// Reference: Q. Meyer et al. 2010, "On floating-point normal vectors", for the octahedron.

float curl_code(vec3 direction, float part) {
    vec3 flat_one = direction / max(abs(direction.x) + abs(direction.y) + abs(direction.z), 1e-9);
    vec2 lower = (1.0 - abs(flat_one.yx)) * mix(vec2(-1.0), vec2(1.0), greaterThanEqual(flat_one.xy, vec2(0.0)));
    vec2 place = flat_one.z < 0.0 ? lower : flat_one.xy;
    vec2 bits = floor((0.5 + 0.5 * place) * 255.0 + 0.5);
    return bits.x + 256.0 * bits.y + 65536.0 * floor(clamp(part, 0.0, 1.0) * 255.0 + 0.5);
}

// The direction, and the part of the radius.
vec4 curl_of(float code) {
    uint bits = uint(code);
    vec2 place = vec2(bits & 255u, (bits >> 8) & 255u) / 127.5 - 1.0;
    vec3 direction = vec3(place, 1.0 - abs(place.x) - abs(place.y));
    float under = max(-direction.z, 0.0);
    direction.xy -= under * mix(vec2(-1.0), vec2(1.0), greaterThanEqual(direction.xy, vec2(0.0)));
    return vec4(normalize(direction), float(bits >> 16) / 255.0);
}

// What a helix adds to a position of a curve and to its derivative; the direction away from the curve.
// share: of the way from root to tip; ahead: derivative by the share [m]; size: length of the strand [m].
void curl_at(vec4 begin, vec2 form, float share, vec3 ahead, float size, out vec3 place, out vec3 along, out vec3 away) {
    vec3 axis = ahead * inversesqrt(max(dot(ahead, ahead), 1e-20));
    vec3 side = begin.xyz - dot(begin.xyz, axis) * axis;
    side *= inversesqrt(max(dot(side, side), 1e-6));
    vec3 other = cross(axis, side);
    float turn = form.y * size;
    float radius = form.x * begin.w * min(4.0 * share, 1.0);
    away = cos(turn * share) * side + sin(turn * share) * other;
    place = radius * away;
    along = radius * turn * (cos(turn * share) * other - sin(turn * share) * side);
}
