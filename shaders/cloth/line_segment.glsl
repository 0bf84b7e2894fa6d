// A segment of a line of a sheet: SEGMENT points and the edges from each of them to the next.
// FAMILY is the family of lines, numbered as the orders of cloth/line_layout.glsl.

#include "cloth/line_layout.glsl"

uniform samplerBuffer u_points;    // in ORDER
uniform samplerBuffer u_state;     // at the beginning of the substep
uniform float u_inertia;           // as in cloth/line_predict.glsl

struct Segment {
    int line;
    int first;                     // place of its first point in the line
    int number;                    // of the segment in its line
    int count;                     // segments of a line
    bool exists;
};

Segment segment_of(int id) {
#if FAMILY == 2
    int count = padded(u_size.x) / SEGMENT;
    int lines = u_size.y;
#else
    int count = padded(u_size.y) / SEGMENT;
    int lines = u_size.x;
#endif
    int line = int((float(id) + 0.5) / float(count));
    int number = id - line * count;
    return Segment(line, SEGMENT * number, number, count, line < lines);
}

ivec2 cell_at(int line, int place) {
#if FAMILY == 0
    return ivec2(wrapped(line + place), place);
#elif FAMILY == 1
    return ivec2(wrapped(line - place), place);
#elif FAMILY == 2
    return ivec2(place, line);
#else
    return ivec2(line, place);
#endif
}

ivec2 inside(ivec2 cell) {
    return clamp(cell, ivec2(0), u_size - 1);
}

// Whether an edge leads from the cell to the next of its line.
bool leads_on(ivec2 cell) {
#if FAMILY == 0
    return cell.y >= 0 && cell.y < u_size.y - 1 && cell.x < u_size.x - 1;
#elif FAMILY == 1
    return cell.y >= 0 && cell.y < u_size.y - 1 && cell.x > 0;
#elif FAMILY == 2
    return cell.x >= 0 && cell.x < u_size.x - 1;
#else
    return cell.y >= 0 && cell.y < u_size.y - 1;
#endif
}

vec3 direction(vec3 way) {
    return way / max(sqrt(dot(way, way)), 1e-20);
}
