// The load of one particle, in natural order.
// Inputs: loads in ORDER, four in a texel. Outputs: zeros, load.

#include "cloth/line_layout.glsl"

uniform samplerBuffer u_sums;

void run(int id) {
    int at = point_of(id);
    o_load = vec4(0.0, 0.0, 0.0, texelFetch(u_sums, at / 4)[at % 4]);
}
