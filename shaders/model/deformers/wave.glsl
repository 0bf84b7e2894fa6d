// Wave: a transverse sine wave along an axis.  a: unit direction in which it runs, wave number; b: unit direction in
// which it moves, amplitude; c: phase.

Warp wave(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s) {
    float phase = a.w * dot(a.xyz, p) + c.x;
    float height = b.w * sin(phase);
    vec3 slope = s.value * b.w * a.w * cos(phase) * a.xyz + height * s.slope;
    return Warp(p + s.value * height * b.xyz, mat3(1.0) + outerProduct(b.xyz, slope));
}
