// The point of one particle in natural order; with LOAD its load, after zeros.
// Inputs: points in ORDER, or loads in ORDER, four in a texel.

#include "cloth/line_layout.glsl"

#ifdef LOAD
uniform samplerBuffer u_sums;
#else
uniform samplerBuffer u_points;
#endif

void run(int id) {
    int at = point_of(id);
#ifdef LOAD
    o_load = vec4(0.0, 0.0, 0.0, texelFetch(u_sums, at >> 2)[at & 3]);
#else
    o_point = texelFetch(u_points, at);
#endif
}
