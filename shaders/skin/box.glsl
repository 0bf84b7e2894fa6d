// The box around four triangles over the whole step, or around four boxes of the level below.
// Inputs: triangles, see skin/triangle.glsl, or with INNER boxes. Outputs: lowest and highest corner [m]; a box without
// content is inside out.

#ifdef INNER
uniform samplerBuffer u_boxes;
uniform int u_first_child;
#else
uniform samplerBuffer u_skin;
uniform samplerBuffer u_skin_before;
uniform int u_count;                 // number of triangles
#endif

const float NOWHERE = 1e18;

void run(int id) {
    vec3 lo = vec3(NOWHERE);
    vec3 hi = vec3(-NOWHERE);
#ifdef INNER
    for (int child = u_first_child + 4 * id; child < u_first_child + 4 * id + 4; ++child) {
        lo = min(lo, texelFetch(u_boxes, 2 * child).xyz);
        hi = max(hi, texelFetch(u_boxes, 2 * child + 1).xyz);
    }
#else
    for (int texel = 12 * id; texel < min(12 * id + 12, 3 * u_count); ++texel) {
        vec3 before = texelFetch(u_skin_before, texel).xyz;
        vec3 now = texelFetch(u_skin, texel).xyz;
        lo = min(lo, min(before, now));
        hi = max(hi, max(before, now));
    }
#endif
    o_lo = vec4(lo, 0.0);
    o_hi = vec4(hi, 0.0);
}
