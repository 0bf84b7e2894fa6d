// One pass of the implicit bending of a cloth: Richardson's iteration with the steps of Chebyshev.
// Inputs: state, points before bending and so far (offset [m], inverse mass [1/kg]). Outputs: point.
// The energy is quadratic in the positions and zero for a flat sheet. GRID takes the second differences along rows and
// columns, with BEND_MAP times a factor of the middle, otherwise the rows of the stiffness come from a table of NEAR entries.
// References: M. Wardetzky et al. 2007, "Discrete quadratic curvature energies"; V. Lebedev, S. Finogenov 1971
// for the order of the steps.

uniform samplerBuffer u_state;
uniform samplerBuffer u_flat;      // before bending
uniform samplerBuffer u_points;    // so far
uniform vec2 u_relax;              // step of this pass, 0

vec3 way_between(int from, int to) {
    return (texelFetch(u_state, 2 * to).xyz - texelFetch(u_state, 2 * from).xyz)
        + (texelFetch(u_points, to).xyz - texelFetch(u_points, from).xyz);
}

#ifdef GRID
uniform ivec2 u_size;              // columns, rows
uniform vec2 u_bend;               // stiffness across and along, times the square of the substep [kg]

#ifdef BEND_MAP
uniform samplerBuffer u_maps;      // factors of bending in w
#endif

float bent(int id) {
#ifdef BEND_MAP
    return texelFetch(u_maps, id).w;
#else
    return 1.0;
#endif
}

// Fourth difference in one direction.
vec3 along(int id, int place, int last, int stride) {
    bvec4 near = bvec4(place > 1, place > 0, place < last, place < last - 1);
    vec3 before = way_between(id, near.y ? id - stride : id);
    vec3 after = way_between(id, near.z ? id + stride : id);
    vec3 far_before = way_between(id, near.x ? id - 2 * stride : id);
    vec3 far_after = way_between(id, near.w ? id + 2 * stride : id);
    vec3 one = near.x ? bent(id - stride) * (far_before - 2.0 * before) : vec3(0.0);
    vec3 two = near.y && near.z ? bent(id) * (before + after) : vec3(0.0);
    vec3 three = near.w ? bent(id + stride) * (far_after - 2.0 * after) : vec3(0.0);
    return one - 2.0 * two + three;
}

vec3 stiffness(int id) {
    int row = int((float(id) + 0.5) / float(u_size.x));
    int column = id - row * u_size.x;
    ivec2 last = u_size - 1;
    float row_share = row > 0 && row < last.y ? 1.0 : 0.5;
    float column_share = column > 0 && column < last.x ? 1.0 : 0.5;
    vec3 across = along(id, column, last.x, 1);
    vec3 down = row <= last.y ? along(id, row, last.y, u_size.x) : vec3(0.0);
    return (u_bend.x * row_share) * across + (u_bend.y * column_share) * down;
}
#else
uniform samplerBuffer u_entries;   // particle and weight of two entries
uniform vec2 u_bend;               // stiffness times the square of the substep [kg m2], 0

vec3 stiffness(int id) {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < NEAR / 2; ++i) {
        vec4 entry = texelFetch(u_entries, id * (NEAR / 2) + i);
        sum += entry.y * way_between(id, int(entry.x)) + entry.w * way_between(id, int(entry.z));
    }
    return u_bend.x * sum;
}
#endif

void run(int id) {
    vec4 start = texelFetch(u_flat, id);
    vec3 own = texelFetch(u_points, id).xyz;
    vec3 left = start.xyz - own - abs(start.w) * stiffness(id);
    o_point = vec4(own + u_relax.x * left, start.w);
}
