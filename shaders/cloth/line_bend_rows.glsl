// One pass of the implicit bending of a sheet, see cloth/line_bend.glsl, for SEGMENT particles of a row.
// Inputs: state, points before bending in natural order, and so far in ORDER. Outputs: points in the order of rows.
// With AIM a step of 1 from no offsets makes the aims, which all passes share: with AIMED these read them instead of the state
// and of the points before bending.

#include "cloth/line_layout.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_flat;      // before bending; or aims, in the order of rows
uniform samplerBuffer u_points;    // so far
uniform vec2 u_relax;              // step of this pass, 0
uniform vec2 u_bend;               // stiffness across and along, times the square of the substep [kg]
#ifdef BEND_MAP
uniform samplerBuffer u_maps;      // factors of bending in w
#endif

struct Point {
    vec3 place;
    vec3 offset;
};

Point at(int column, int row) {
    ivec2 cell = clamp(ivec2(column, row), ivec2(0), u_size - 1);
    Point point = Point(vec3(0.0), vec3(0.0));
#ifndef AIMED
    point.place = texelFetch(u_state, 2 * index_in(NATURAL, cell)).xyz;
#endif
#ifndef AIM
    point.offset = texelFetch(u_points, index_in(ORDER, cell)).xyz;
#endif
    return point;
}

vec3 way(Point from, Point to) {
    return (to.place - from.place) + (to.offset - from.offset);
}

float bent(int column, int row) {
#ifdef BEND_MAP
    ivec2 cell = clamp(ivec2(column, row), ivec2(0), u_size - 1);
    return texelFetch(u_maps, index_in(NATURAL, cell)).w;
#else
    return 1.0;
#endif
}

// Fourth difference in one direction, from the ways to the neighbours.
vec3 fourth(vec3 far_before, vec3 before, vec3 after, vec3 far_after, int place, int last, vec3 factors) {
    bvec4 near = bvec4(place > 1, place > 0, place < last, place < last - 1);
    vec3 one = near.x ? factors.x * (far_before - 2.0 * before) : vec3(0.0);
    vec3 two = near.y && near.z ? factors.y * (before + after) : vec3(0.0);
    vec3 three = near.w ? factors.z * (far_after - 2.0 * after) : vec3(0.0);
    return one - 2.0 * two + three;
}

void run(int id) {
    ivec2 last = u_size - 1;
    int count = int(uint(padded(u_size.x)) / uint(SEGMENT));
    int row = int((float(id) + 0.5) / float(count));
    int first = SEGMENT * (id - row * count);
    row = min(row, last.y);
    float row_share = row > 0 && row < last.y ? 1.0 : 0.5;
    Point far_before = at(first - 2, row);
    Point before = at(first - 1, row);
    Point own = at(first, row);
    Point after = at(first + 1, row);
    vec4 points[SEGMENT];
    for (int i = 0; i < SEGMENT; ++i) {
        int column = first + i;
        Point far_after = at(column + 2, row);
#ifdef AIMED
        vec4 start = texelFetch(u_flat, index_in(2, ivec2(column, row)));
#else
        vec4 start = texelFetch(u_flat, row * u_size.x + min(column, last.x));
#endif
        float column_share = column > 0 && column < last.x ? 1.0 : 0.5;
        vec3 across = fourth(
            way(own, far_before), way(own, before), way(own, after), way(own, far_after), column, last.x,
            vec3(bent(column - 1, row), bent(column, row), bent(column + 1, row))
        );
        vec3 down = fourth(
            way(own, at(column, row - 2)), way(own, at(column, row - 1)), way(own, at(column, row + 1)),
            way(own, at(column, row + 2)), row, last.y,
            vec3(bent(column, row - 1), bent(column, row), bent(column, row + 1))
        );
        vec3 stiffness = (u_bend.x * row_share) * across + (u_bend.y * column_share) * down;
        points[i] = vec4(own.offset + u_relax.x * (start.xyz - own.offset - abs(start.w) * stiffness), start.w);
        far_before = before;
        before = own;
        own = after;
        after = far_after;
    }
#include "cloth/line_points.glsl"
}
