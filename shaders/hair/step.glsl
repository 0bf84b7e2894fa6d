// A substep of one strand, or with WHOLE many in a row: no strand asks for another, and compute can store both moments.
// SOLVER: 0 rod, 1 springs, 2 layers; GUSTS, CURVED, LOADS, HOLD, HEAD, CONTACT and, with it, SKIN compile in what is
// needed; SKIN_ALONE: there are no other colliders.
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
#ifdef SKIN
#include "hair/skin.glsl"
#endif
#endif

#ifdef WHOLE
uniform ivec3 u_part;                // first substep, how many, of how many
layout(std430, binding = 1) restrict writeonly buffer Before { vec4 before[]; };
#else
uniform vec2 u_span;
#endif

// What `now` is after a substep; returns the first vec4 of the state.
vec4 substep(int strand, vec4 first) {
    vec3 knots[KNOTS];
    moved = first.xyz;
    Root root = root_of(strand);
    solve_strand(strand, root, knots);
#ifdef CONTACT
#ifdef WHOLE
    starts = now;
#endif
#ifndef SKIN_ALONE
    meet_colliders(strand, root, knots);
#endif
#ifdef SKIN
    meet_skin(strand, root, knots);
#endif
#endif
    bool sound = first.w == 0.0;
    for (int k = 1; k < KNOTS; ++k) sound = sound && is_sound(knots[k]);
    was = now;
    if (sound) now = knots;
    return sound ? vec4(root.move, 0.0) : vec4(0.0, 0.0, 0.0, 1.0);
}

void run(int id) {
    vec4 first = texelFetch(u_now, id * KNOTS);
    now[0] = vec3(0.0);
    was[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) now[k] = texelFetch(u_now, id * KNOTS + k).xyz;
    for (int k = 1; k < KNOTS; ++k) was[k] = texelFetch(u_before, id * KNOTS + k).xyz;
#ifdef WHOLE
    vec4 former = first;
    for (int index = u_part.x; index < u_part.x + u_part.y; ++index) {
        span = vec2(index, index + 1) / float(u_part.z);
        former = first;
        first = substep(id, first);
        for (int k = 1; k < KNOTS; ++k) now[k] = flush_denormals(now[k]);
    }
    before[id * KNOTS] = former;
    for (int k = 1; k < KNOTS; ++k) before[id * KNOTS + k] = vec4(was[k], 0.0);
#else
    span = u_span;
    first = substep(id, first);
#endif
    store(now, first.xyz, first.w);
}
