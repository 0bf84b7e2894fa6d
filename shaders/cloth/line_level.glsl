// One level of parallel cyclic reduction: removes the neighbours at a distance from the row of one edge.
// Inputs: rows (lower, upper, right side, 0), distance of the neighbours and last row. Outputs: the same record.
// The rows at the ends of a line refer to nothing beyond, and those without an edge to nothing at all, so lines that
// follow each other do not mix.
// Reference: R. W. Hockney, C. R. Jesshope 1981, "Parallel computers", parallel cyclic reduction.

uniform samplerBuffer u_rows;
uniform vec2 u_reach;

void run(int id) {
    int distance = int(u_reach.x);
    vec4 own = texelFetch(u_rows, id);
    vec4 below = texelFetch(u_rows, max(id - distance, 0));
    vec4 above = texelFetch(u_rows, min(id + distance, int(u_reach.y)));
    float scale = 1.0 / (1.0 - (own.x * below.y + own.y * above.x));
    float right = own.z - (own.x * below.z + own.y * above.z);
    o_row = vec4(-own.x * below.x * scale, -own.y * above.y * scale, right * scale, 0.0);
}
