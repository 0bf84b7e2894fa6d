// The equations of the edges of one segment of a line, solved but for the last edges of this segment and of the one before.
// Inputs: state, points of a substep in ORDER. Outputs: for each edge its impulse, and what it changes with that of the last
// edge of the segment before and of this one; for the last edge of this one with that of the segment before and of the
// first edge of the next segment. The fourth number is 1 if impulses are along the edge as it was.
// The equations are those of cloth/line_set_up.glsl, the directions those of cloth/line_edge.glsl.
// Reference: H. H. Wang 1981, "A parallel method for tridiagonal equations".

#include "cloth/line_segment.glsl"
#include "cloth/offset.glsl"

uniform float u_border;            // part of the stiffness that lines along the border have
uniform vec2 u_thread;             // rest length [m], factor
uniform float u_compliance;        // 1 / (stiffness for a factor of 1, times the square of the substep) [1/kg]
#ifdef SPRING_MAPS
uniform samplerBuffer u_spring_maps; // as in cloth/grid.glsl
uniform ivec2 u_map;               // texel and number of the factor of the edge
#endif
#ifdef DAMPED
uniform float u_rate;              // damping over stiffness over the substep
#endif

const float TRUST = 0.25;          // as in cloth/line_set_up.glsl
const float SOFTEST = 1e-6;
const float TURN = 0.98;           // as in cloth/line_edge.glsl

struct Point {
    vec3 place;
    vec3 offset;
    vec3 moved;                    // within the substep
    float weight;                  // inverse mass
    bool heavy;
};

struct Edge {
    vec3 along;
    vec3 push;
    float reach;
    float factor;                  // 0 if there is none
    float former;
};

Point point_in(ivec2 cell) {
    cell = inside(cell);
    int natural = cell.y * u_size.x + cell.x;
    vec3 place = texelFetch(u_state, 2 * natural).xyz;
    vec4 point = texelFetch(u_points, point_at(cell));
#ifdef DAMPED
    vec3 moved = point.xyz - remainder_of(texelFetch(u_state, 2 * natural + 1).w, place);
#else
    vec3 moved = vec3(0.0);
#endif
    return Point(place, point.xyz, moved, abs(point.w), point.w < 0.0);
}

Edge edge_between(ivec2 cell, Point first, Point second, float factor) {
#ifdef SPRING_MAPS
    ivec2 from = inside(cell);
    factor *= texelFetch(u_spring_maps, 3 * (from.y * u_size.x + from.x) + u_map.x)[u_map.y];
#endif
    factor = leads_on(cell) ? factor : 0.0;
    vec3 start = second.place - first.place;
    vec3 whole = start + (second.offset - first.offset);
    float reach = sqrt(dot(whole, whole));
    float former_reach = sqrt(dot(start, start));
    vec3 along = whole / max(reach, 1e-20);
    vec3 former = start / max(former_reach, 1e-20);
    float weight = max(first.weight, second.weight);
    float force = abs(former_reach - u_thread.x) * factor * weight / max(u_compliance * former_reach, 1e-30);
    bool keeps = u_inertia * force < 1.0 && dot(former, along) > TURN && !first.heavy && !second.heavy;
    float exists = factor > 0.0 ? 1.0 : 0.0;
    return Edge(exists * along, exists * (keeps ? former : along), reach, factor, keeps ? 1.0 : 0.0);
}

void run(int id) {
    Segment segment = segment_of(id);
    float factor = segment.exists ? u_thread.y : 0.0;
#if FAMILY == 2
    factor *= segment.line > 0 && segment.line < u_size.y - 1 ? 1.0 : u_border;
#elif FAMILY == 3
    factor *= segment.line > 0 && segment.line < u_size.x - 1 ? 1.0 : u_border;
#endif
    ivec2 cell = cell_at(segment.line, segment.first - 1);
    ivec2 next = cell_at(segment.line, segment.first);
    Point first = point_in(cell);
    Point second = point_in(next);
    Edge before = edge_between(cell, first, second, factor);
    first = second;
    cell = next;
    next = cell_at(segment.line, segment.first + 1);
    second = point_in(next);
    Edge edge = edge_between(cell, first, second, factor);
    vec4 rows[SEGMENT];
    vec3 known = vec3(0.0, 1.0, 0.0);
    for (int i = 0; i < SEGMENT; ++i) {
        cell = next;
        next = cell_at(segment.line, segment.first + i + 2);
        Point third = point_in(next);
        Edge after = edge_between(cell, second, third, factor);
        float longer = edge.reach - u_thread.x;
        float error = longer / max(max(edge.reach, u_thread.x), 1e-20);
        float softest = max(SOFTEST, TRUST * error * error);
        float compliance = u_compliance / max(edge.factor, 1e-20);
#ifdef DAMPED
        longer = (longer + u_rate * dot(edge.along, second.moved - first.moved)) / (1.0 + u_rate);
        compliance /= 1.0 + u_rate;
#endif
        float weight = first.weight + second.weight;
        float lower = -first.weight * dot(before.push, edge.along);
        float upper = -second.weight * dot(edge.along, after.push);
        float diagonal = max(compliance, softest * weight) + weight * dot(edge.along, edge.push);
        // With what is known of the edge before: impulse, by the segment before, by the next edge
        float inverse = edge.factor > 0.0 ? 1.0 / max(diagonal + lower * known.z, 1e-30) : 0.0;
        known = vec3(-longer - lower * known.x, -lower * known.y, -upper) * inverse;
        rows[i] = vec4(known, edge.former);
        before = edge;
        edge = after;
        first = second;
        second = third;
    }
    // Back to the first edge: with the last edge of the segment instead of the next one
    vec3 later = rows[SEGMENT - 2].xyz;
    for (int i = SEGMENT - 3; i >= 0; --i) {
        vec3 own = rows[i].xyz;
        later = vec3(own.xy + own.z * later.xy, own.z * later.z);
        rows[i].xyz = later;
    }
    o_row_0 = rows[0];
    o_row_1 = rows[1];
    o_row_2 = rows[2];
    o_row_3 = rows[3];
    o_row_4 = rows[4];
    o_row_5 = rows[5];
    o_row_6 = rows[6];
    o_row_7 = rows[7];
#if SEGMENT > 8
    o_row_8 = rows[8];
    o_row_9 = rows[9];
    o_row_10 = rows[10];
    o_row_11 = rows[11];
    o_row_12 = rows[12];
    o_row_13 = rows[13];
    o_row_14 = rows[14];
    o_row_15 = rows[15];
#endif
}
