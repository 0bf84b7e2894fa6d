// Moves the points of one segment of a family of lines by the impulses of its edges.
// Inputs: state, points of a substep in ORDER, last edges of segments by cloth/line_joints.glsl. Outputs: the points in the
// order of the family; with IMPULSES instead the impulses of the edges; with LOAD the loads of the particles, four in a texel:
// the transverse stiffness of taut edges, which limits the substep, as a part of the limit.
// Reference: M. Tournier et al. 2015, "Stable constrained dynamics", for the geometric stiffness.

#include "cloth/line_segment.glsl"
#include "cloth/line_edge.glsl"

uniform samplerBuffer u_joints;    // impulses of the last edges of the segments
#ifdef LOAD
uniform samplerBuffer u_sums;      // loads so far, in ORDER
#endif

// Impulse of an edge with its direction; its tension over the length, for an inverse mass of 1.
vec4 push_of(Edge edge, float impulse) {
    float reach = max(edge.reach, 1e-20);
    vec3 along = u_inertia * abs(impulse) * edge.weight < reach ? edge.push : edge.along;
    return edge.thread.y > 0.0 ? vec4(impulse * along, max(-impulse, 0.0) / reach) : vec4(0.0);
}

CELL next;
Point first;
Point second;
Edge before;
Edge edges[SEGMENT];
vec4 points[SEGMENT];
vec3 rows[SEGMENT];
vec3 known = vec3(0.0, 1.0, 0.0);
vec4 outside;                      // push of the edge before the segment
vec4 push;                         // of the edge after the point
float impulse;                     // of this edge
float from_last;
#ifdef LOAD
vec4 loads[SEGMENT / 4];
#endif

// Takes the edge after `i`, and solves the edge.
void advance(int i) {
    points[i] = vec4(first.offset, first.sign * first.weight);
    if (i < SEGMENT - 1) {
        CELL cell = next;
        next = moved_along(cell, 1);
        Point third = point_in(next);
        edges[i + 1] = edge_between(cell, second, third);
        rows[i] = known = solved(known, before, edges[i], edges[i + 1], first, second);
        before = edges[i];
        first = second;
        second = third;
    }
}

void finish(int i) {
#ifdef IMPULSES
    points[i] = vec4(impulse, 0.0, 0.0, 0.0);
#endif
    vec4 pull = outside;
    if (i > 0) {
        impulse = rows[i - 1].x + rows[i - 1].y * from_last + rows[i - 1].z * impulse;
        pull = push_of(edges[i - 1], impulse);
    }
#if defined(LOAD)
    loads[i / 4][i % 4] += 0.5 * abs(points[i].w) * (pull.w + push.w);
#elif !defined(IMPULSES)
    points[i].xyz += abs(points[i].w) * (pull.xyz - push.xyz);
#endif
    push = pull;
}

void run(int id) {
    Segment segment = segment_of(id);
    int joint = JOINTS * blocks_of_a_line() * segment.line + segment.number;
    int last = max(joint - 1, 0);
    impulse = texelFetch(u_joints, joint >> 2)[joint & 3];
    from_last = segment.number > 0 ? texelFetch(u_joints, last >> 2)[last & 3] : 0.0;
    CELL cell = first_cell(id);
    CELL former = moved_along(cell, -1);
    next = moved_along(cell, 1);
    first = point_in(cell);
    second = point_in(next);
    before = edge_between(former, point_in(former), first);
    outside = push_of(before, from_last);
    edges[0] = edge_between(cell, first, second);
    EACH(advance);
    push = push_of(edges[SEGMENT - 1], impulse);
#ifdef LOAD
    for (int i = 0; i < SEGMENT; ++i) {
        int at = point_in_order(moved_along(cell, i));
        loads[i / 4][i % 4] = texelFetch(u_sums, at >> 2)[at & 3];
    }
#endif
    EACH_BACK(finish);
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
}
