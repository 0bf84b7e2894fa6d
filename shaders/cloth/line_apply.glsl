// Moves one particle by the impulses of the two edges that meet at it in a family of lines.
// Inputs: points, solved rows, edges. Outputs: point.
// LOAD also adds up the transverse stiffness of taut edges, which limits the substep, as a part of the limit.
// Reference: M. Tournier et al. 2015, "Stable constrained dynamics", for the geometric stiffness.

#include "cloth/line_edge.glsl"

uniform samplerBuffer u_rows;
#ifdef LOAD
uniform samplerBuffer u_sums;      // loads so far
#endif

void run(int id) {
    Beside around = beside(id);
    vec4 own = texelFetch(u_points, id);
    Way before = way_between(around.particles.x, id, thread_at(around.edges.x));
    Way after = way_between(id, around.particles.y, thread_at(around.edges.y));
    float to = texelFetch(u_rows, around.edges.x).z;
    float from = texelFetch(u_rows, around.edges.y).z;
    o_point = vec4(own.xyz + abs(own.w) * (pushed(before, to) - pushed(after, from)), own.w);
#ifdef LOAD
    float taut = max(-to, 0.0) / max(length(before.whole), 1e-20) * float(around.particles.x != id);
    taut += max(-from, 0.0) / max(length(after.whole), 1e-20) * float(around.particles.y != id);
    o_load = vec4(0.0, 0.0, 0.0, texelFetch(u_sums, id).w + 0.5 * abs(own.w) * taut);
#endif
}
