// Twist: rotates about an axis by an angle that increases along it.  a: unit axis, where it starts; b: a point of the axis,
// length of the part that twists; c: angle for each unit of length.
// Reference: Barr 1984, "Global and local deformations of solid primitives".

Warp twist(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s) {
    float height = dot(a.xyz, p) - a.w;
    float along = clamp(height, 0.0, b.w);
    float angle = c.x * s.value * along;
    vec3 slope = c.x * (along * s.slope + (along == height ? s.value : 0.0) * a.xyz);
    float x = cos(angle), y = sin(angle);
    vec3 q = a.xyz, k = y * q;
    mat3 turn = x * mat3(1.0) + (1.0 - x) * outerProduct(q, q) + mat3(0.0, k.z, -k.y, -k.z, 0.0, k.x, k.y, -k.x, 0.0);
    vec3 moved = turn * (p - b.xyz);
    return Warp(b.xyz + moved, turn + outerProduct(cross(q, moved), slope));
}
