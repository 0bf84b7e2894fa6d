// One pass of the implicit bending of a mesh: Richardson's iteration with the steps of Chebyshev.
// Inputs: state, points before bending and so far (offset [m], inverse mass [1/kg]). Outputs: point.
// The energy is quadratic in the positions and zero for a flat mesh; the rows of the stiffness come from a table of NEAR
// entries. A sheet has cloth/line_bend_rows.glsl instead.
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

void run(int id) {
    vec4 start = texelFetch(u_flat, id);
    vec3 own = texelFetch(u_points, id).xyz;
    vec3 left = start.xyz - own - abs(start.w) * stiffness(id);
    o_point = vec4(own + u_relax.x * left, start.w);
}
