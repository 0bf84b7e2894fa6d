// Two levels of parallel cyclic reduction: removes the neighbours at a distance, and at twice the distance, from the row of
// one edge. TWICE, otherwise only one level.
// Inputs: rows (lower, upper, right side, 0), distance of the neighbours and last row. Outputs: the same record.
// The rows at the ends of a line refer to nothing beyond, and those without an edge to nothing at all, so lines that
// follow each other do not mix.
// Reference: R. W. Hockney, C. R. Jesshope 1981, "Parallel computers", parallel cyclic reduction.

uniform samplerBuffer u_rows;
uniform vec2 u_reach;

vec4 row_at(int id) {
    return texelFetch(u_rows, clamp(id, 0, int(u_reach.y)));
}

vec4 reduced(vec4 own, vec4 below, vec4 above) {
    float scale = 1.0 / (1.0 - (own.x * below.y + own.y * above.x));
    float right = own.z - (own.x * below.z + own.y * above.z);
    return vec4(-own.x * below.x * scale, -own.y * above.y * scale, right * scale, 0.0);
}

void run(int id) {
    int distance = int(u_reach.x);
    vec4 own = row_at(id);
    vec4 below = row_at(id - distance);
    vec4 above = row_at(id + distance);
    o_row = reduced(own, below, above);
#ifdef TWICE
    vec4 lower = reduced(row_at(id - 2 * distance), row_at(id - 3 * distance), below);
    vec4 upper = reduced(row_at(id + 2 * distance), above, row_at(id + 3 * distance));
    o_row = reduced(o_row, lower, upper);
#endif
}
