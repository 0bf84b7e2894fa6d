// One pass of the implicit bending of a mesh: Richardson's iteration with the steps of Chebyshev.
// Inputs: points so far (offset [m], inverse mass [1/kg]); with FIRST state, else aims. Outputs: point; with FIRST also its
// aim, which all passes share: the offset before bending, moved by the bending of the positions.
// The energy is quadratic in the positions and zero for a flat mesh; the rows of the stiffness come from a table of NEAR
// entries. A sheet has cloth/line_bend_rows.glsl instead.
// References: M. Wardetzky et al. 2007, "Discrete quadratic curvature energies"; V. Lebedev, S. Finogenov 1971
// for the order of the steps.

#ifdef FIRST
uniform samplerBuffer u_state;
#else
uniform samplerBuffer u_aims;
#endif
uniform samplerBuffer u_points;    // so far
uniform vec2 u_relax;              // step of this pass, 0
uniform samplerBuffer u_entries;   // particle and weight of two entries
uniform vec2 u_bend;               // stiffness times the square of the substep [kg m2], 0

void run(int id) {
    vec4 start = texelFetch(u_points, id);
    vec3 bending = vec3(0.0);
#ifdef FIRST
    vec3 place = texelFetch(u_state, 2 * id).xyz;
    vec3 bent = vec3(0.0);
#endif
    for (int i = 0; i < NEAR / 2; ++i) {
        vec4 entry = texelFetch(u_entries, id * (NEAR / 2) + i);
        bending += entry.y * (texelFetch(u_points, int(entry.x)).xyz - start.xyz)
            + entry.w * (texelFetch(u_points, int(entry.z)).xyz - start.xyz);
#ifdef FIRST
        bent += entry.y * (texelFetch(u_state, 2 * int(entry.x)).xyz - place)
            + entry.w * (texelFetch(u_state, 2 * int(entry.z)).xyz - place);
#endif
    }
    float stiffness = abs(start.w) * u_bend.x;
#ifdef FIRST
    vec3 aim = start.xyz - stiffness * bent;
    o_aim = vec4(aim, 0.0);
#else
    vec3 aim = texelFetch(u_aims, id).xyz;
#endif
    o_point = vec4(start.xyz + u_relax.x * (aim - start.xyz - stiffness * bending), start.w);
}
