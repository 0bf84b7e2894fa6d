// Bend: bends a part of an axis to an arc.  a: unit axis, where the arc starts; b: a point of the axis, length of the
// part that bends; c: unit direction towards which it bends, across the axis, and curvature.  Beyond the arc the
// axis continues straight.  Reference: Barr 1984, "Global and local deformations of solid primitives".

Warp bend(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s) {
    float height = dot(a.xyz, p) - a.w;
    float along = clamp(height, 0.0, b.w);
    float beyond = height - along;
    float across = dot(c.xyz, p - b.xyz);
    float curvature = c.w * s.value;
    float t = curvature * along;
    float x = cos(t), y = sin(t);
    bool is_small = abs(t) < 1e-2;
    // sin(t) / t and (1 - cos(t)) / t, and their derivatives.
    float sine = is_small ? 1.0 - t * t / 6.0 : y / t;
    float cosine = is_small ? 0.5 * t - t * t * t / 24.0 : (1.0 - x) / t;
    float sine_slope = is_small ? -t / 3.0 + t * t * t / 30.0 : (x - sine) / t;
    float cosine_slope = is_small ? 0.5 - t * t / 8.0 : (y - cosine) / t;
    vec3 place = p + (a.w + along * sine - across * y + beyond * x - dot(a.xyz, p)) * a.xyz
                   + (along * cosine + across * x + beyond * y - across) * c.xyz;
    float stretch = along == height ? 1.0 - curvature * across : 1.0;
    vec3 by_height = stretch * (x * a.xyz + y * c.xyz);
    vec3 by_across = x * c.xyz - y * a.xyz;
    vec3 by_curvature = along * ((along * sine_slope - across * x - beyond * y) * a.xyz
                               + (along * cosine_slope - across * y + beyond * x) * c.xyz);
    mat3 jacobian = mat3(1.0) + outerProduct(by_height - a.xyz, a.xyz) + outerProduct(by_across - c.xyz, c.xyz);
    return Warp(place, jacobian + outerProduct(by_curvature, c.w * s.slope));
}
