// Moves the points of one segment of a family of lines by the impulses of its edges.
// Inputs: state, points of a substep in ORDER, edges of cloth/line_sweep.glsl and cloth/line_joints.glsl. Outputs: the points
// in the order of the family; with IMPULSES instead the impulses of the edges; with LOAD the loads of the particles, four in a
// texel: the transverse stiffness of taut edges, which limits the substep, as a part of the limit.
// Reference: M. Tournier et al. 2015, "Stable constrained dynamics", for the geometric stiffness.

#include "cloth/line_segment.glsl"

uniform samplerBuffer u_rows;
uniform samplerBuffer u_joints;    // impulses of the last edges of the segments
#ifdef LOAD
uniform samplerBuffer u_sums;      // loads so far, in ORDER
#endif

// Impulse of the edge between two points with its direction; its tension over the length, for an inverse mass of 1.
vec4 push_between(Point first, Point second, float impulse, float former) {
    vec3 start = start_between(first, second);
    vec3 whole = end_between(first, second);
    float reach = max(sqrt(dot(whole, whole)), 1e-20);
    float load = abs(impulse) * max(first.weight, second.weight) / reach;
    vec3 along = former > 0.0 && u_inertia * load < 1.0 ? direction(start) : whole / reach;
    return vec4(impulse * along, max(-impulse, 0.0) / reach);
}

void run(int id) {
    Segment segment = segment_of(id);
    int joint = JOINTS * blocks_of_a_line() * segment.line + segment.number;
    float to_next = texelFetch(u_joints, joint / 4)[joint % 4];
    int last = max(joint - 1, 0);
    float from_last = segment.number > 0 ? texelFetch(u_joints, last / 4)[last % 4] : 0.0;
#ifdef IMPULSES
    vec4 rows[SEGMENT];
    for (int i = 0; i < SEGMENT; ++i) {
        vec4 row = texelFetch(u_rows, SEGMENT * id + i);
        rows[i] = vec4(i < SEGMENT - 1 ? row.x + row.y * from_last + row.z * to_next : to_next, 0.0, 0.0, 0.0);
    }
#include "cloth/line_rows.glsl"
#else
    CELL cell = first_cell(id);
    CELL former = moved_along(cell, -1);
    Point there = point_in(cell);
    vec4 pull = vec4(0.0);
    if (thread_in(former).y > 0.0) {
        pull = push_between(point_in(former), there, from_last, texelFetch(u_rows, max(SEGMENT * id - 1, 0)).w);
    }
#ifdef LOAD
    vec4 loads[SEGMENT / 4];
#else
    vec4 points[SEGMENT];
#endif
    for (int i = 0; i < SEGMENT; ++i) {
        Point here = there;
        CELL next = moved_along(cell, 1);
        there = point_in(next);
        vec4 row = texelFetch(u_rows, SEGMENT * id + i);
        float impulse = i < SEGMENT - 1 ? row.x + row.y * from_last + row.z * to_next : to_next;
        vec4 push = thread_in(cell).y > 0.0 ? push_between(here, there, impulse, row.w) : vec4(0.0);
#ifdef LOAD
        int at = point_in_order(cell);
        float load = texelFetch(u_sums, at / 4)[at % 4];
        loads[i / 4][i % 4] = load + 0.5 * here.weight * (pull.w + push.w);
#else
        points[i] = vec4(here.offset + here.weight * (pull.xyz - push.xyz), here.sign * here.weight);
#endif
        pull = push;
        cell = next;
    }
#ifdef LOAD
    o_load_0 = loads[0];
    o_load_1 = loads[1];
#if SEGMENT > 8
    o_load_2 = loads[2];
    o_load_3 = loads[3];
#endif
#else
#include "cloth/line_points.glsl"
#endif
#endif
}
