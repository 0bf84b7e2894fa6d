// Directions on a square: an octahedron, unfolded; its lower half lies in the corners. Texels lie on its edges, so that no image needs a border.
// Source: Z. Cigolle et al. 2014, "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 3(2).

vec2 octahedron_place(vec3 direction) {
    vec3 d = direction / max(abs(direction.x) + abs(direction.y) + abs(direction.z), 1e-20);
    vec2 corner = (1.0 - abs(d.zx)) * vec2(d.x >= 0.0 ? 1.0 : -1.0, d.z >= 0.0 ? 1.0 : -1.0);
    return (d.y >= 0.0 ? d.xz : corner) * 0.5 + 0.5;
}

vec3 octahedron_direction(vec2 place) {
    vec2 f = place * 2.0 - 1.0;
    float y = 1.0 - abs(f.x) - abs(f.y);
    vec2 corner = (1.0 - abs(f.yx)) * vec2(f.x >= 0.0 ? 1.0 : -1.0, f.y >= 0.0 ? 1.0 : -1.0);
    vec2 xz = y >= 0.0 ? f : corner;
    return normalize(vec3(xz.x, y, xz.y));
}
