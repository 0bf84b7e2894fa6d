// Bulge: a wave along the normals.  a: unit direction in which it runs, wave number; b: height, phase, and the part of
// the height that swings.  First order in the height: the change of the normals is neglected.
// Reference: Fernando and Kilgard 2003, "The Cg Tutorial", chapter 6.

Warp bulge(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s) {
    float phase = a.w * dot(a.xyz, p) + b.y;
    float height = 0.5 * b.x * (1.0 + b.z * sin(phase));
    vec3 slope = 0.5 * s.value * b.x * b.z * a.w * cos(phase) * a.xyz + height * s.slope;
    return Warp(p + s.value * height * n, mat3(1.0) + outerProduct(n, slope));
}
