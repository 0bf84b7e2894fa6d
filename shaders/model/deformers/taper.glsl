// Taper: widens or narrows a part along an axis.  a: unit axis, where it starts; b: a point of the axis,
// length of the part that changes; c: factor at its end, less 1.
// Reference: Barr 1984, "Global and local deformations of solid primitives".

Warp taper(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s) {
    float height = dot(a.xyz, p) - a.w;
    float part = clamp(height / b.w, 0.0, 1.0);
    float more = c.x * s.value * part;
    bool is_inside = height >= 0.0 && height <= b.w;
    vec3 slope = c.x * (part * s.slope + (is_inside ? s.value / b.w : 0.0) * a.xyz);
    vec3 q = p - b.xyz;
    vec3 across = q - dot(a.xyz, q) * a.xyz;
    mat3 across_only = mat3(1.0) - outerProduct(a.xyz, a.xyz);
    return Warp(p + more * across, mat3(1.0) + more * across_only + outerProduct(across, slope));
}
