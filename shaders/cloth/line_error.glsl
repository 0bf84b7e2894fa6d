// Adds to the load of one particle the largest error that a substep leaves in its edges of one family, because the families
// were solved one after the other: length minus the one that the impulse stands for, as a part of the rest length.
// Inputs: points after all families in natural order, impulses of this family, loads. Outputs: the largest error so far,
// 0, 0, load.

#include "cloth/line_segment.glsl"

uniform samplerBuffer u_rows;
uniform samplerBuffer u_loads;

float error_from(CELL cell) {
    vec2 thread = thread_in(cell);
    Point first = point_in(cell);
    Point second = point_in(moved_along(cell, 1));
    vec3 whole = end_between(first, second);
    float longer = sqrt(dot(whole, whole)) - thread.x;
    longer += texelFetch(u_rows, row_of(cell)).x * u_compliance / max(thread.y, 1e-20);
#ifdef DAMPED
    longer = (longer + u_rate * dot(direction(whole), change_between(first, second))) / (1.0 + u_rate);
#endif
    return thread.y > 0.0 ? abs(longer) / max(thread.x, 1e-20) : 0.0;
}

void run(int id) {
#ifdef GRID
    ivec2 cell = cell_of(id);
#else
    int cell = int(texelFetch(u_order, id).x);
#endif
    vec4 load = texelFetch(u_loads, id);
    float error = max(error_from(moved_along(cell, -1)), error_from(cell));
    o_load = vec4(max(load.x, error), 0.0, 0.0, load.w);
}
