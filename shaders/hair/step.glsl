// A substep of one strand. SOLVER: 0 rod, 1 springs, 2 layers; GUSTS, CURVED, LOADS, HOLD, HEAD and CONTACT compile in
// what is needed.
// Inputs: see hair/strand.glsl. Outputs: the knots of the strand; one that broke keeps its last sound ones.

#include "hair/strand.glsl"
#include "hair/store.glsl"
#if SOLVER == 0
#include "hair/rod.glsl"
#elif SOLVER == 1
#include "hair/springs.glsl"
#else
#include "hair/layers.glsl"
#endif
#ifdef CONTACT
#include "hair/contact.glsl"
#endif

void run(int id) {
    vec3 now[KNOTS];
    vec3 knots[KNOTS];
    vec4 first = texelFetch(u_now, id * KNOTS);
    now[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) now[k] = texelFetch(u_now, id * KNOTS + k).xyz;
    Root root = root_of(id, first.xyz);
    solve_strand(id, root, now, knots);
#ifdef CONTACT
    meet_colliders(id, root, knots);
#endif
    bool sound = first.w == 0.0;
    for (int k = 1; k < KNOTS; ++k) sound = sound && is_sound(knots[k]);
    if (!sound) knots = now;
    store(knots, sound ? root.move : vec3(0.0), sound ? 0.0 : 1.0);
}
