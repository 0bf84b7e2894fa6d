// The edges of one segment of a line, solved but for the last edges of this segment and of the one before.
// Inputs: state, points of a substep in ORDER. Outputs: of the first edge its impulse times the substep, and what it changes
// with that of the last edge of the segment before and of this one; of the last edge with that of the segment before and of
// the first edge of the next segment.

#include "cloth/line_segment.glsl"
#include "cloth/line_edge.glsl"

CELL next;
Point first;
Point second;
Edge before;
Edge edge;
vec3 known = vec3(0.0, 1.0, 0.0);
vec3 begin;

void advance(int i) {
    CELL cell = next;
    next = moved_along(cell, 1);
    Point third = point_in(next);
    Edge after = edge_between(cell, second, third);
    known = solved(known, before, edge, after, first, second);
    if (i == 0) {
        begin = known;
    } else if (i < SEGMENT - 1) {
        begin = vec3(begin.xy + begin.z * known.xy, begin.z * known.z);
    }
    before = edge;
    edge = after;
    first = second;
    second = third;
}

void run(int id) {
    CELL cell = first_cell(id);
    CELL former = moved_along(cell, -1);
    next = moved_along(cell, 1);
    first = point_in(cell);
    second = point_in(next);
    before = edge_between(former, point_in(former), first);
    edge = edge_between(cell, first, second);
    EACH(advance);
    o_first = vec4(begin, 0.0);
    o_last = vec4(known, 0.0);
}
