// Skins one vertex of a character, after its morph targets and deformers.
// Inputs: rest record (position and normal, optional tangent, bind space), joints and weights, palette of the pose; with
// MORPHS the differences of all targets and a slot for each that acts, MANY_MORPHS if there are many; with WARP_CASES the deformers.
// Outputs: the same record in model space, file units. METHOD is skin_lbs, skin_dqs or skin_dqs_scale, undefined for a
// model without joints.
// Reference: see model/blend.glsl, model/deform.glsl and model/warps.glsl.

#include "model/blend.glsl"

#ifdef METHOD
uniform samplerBuffer u_palette;
#endif

#ifdef MORPHS
#include "model/deform.glsl"

uniform ivec4 u_slots[4];
uniform samplerBuffer u_deltas;
#ifdef MANY_MORPHS
uniform usamplerBuffer u_more_slots;
uniform int u_more_slot_count;
#endif
#endif

#ifdef WARP_CASES
#include "model/warps.glsl"

uniform samplerBuffer u_warps;
uniform int u_warp_count;
uniform samplerBuffer u_masks;
uniform int u_seams;                 // number of the mask that holds them, or -1
uniform int u_vertex_count;
#endif

void run(int id) {
#ifdef TANGENT
    Surface rest = Surface(a_position.xyz, a_normal.xyz, a_tangent.xyz);
#else
    Surface rest = Surface(a_position.xyz, a_normal.xyz, vec3(0.0));
#endif
#ifdef MORPHS
    Surface moved = morphed(u_slots, u_deltas, id, rest);
#ifdef MANY_MORPHS
    moved = morphed_more(u_more_slots, u_more_slot_count, u_deltas, id, moved);
#endif
    rest = morph_end(moved, rest);
#endif
#ifdef WARP_CASES
    rest = warped(u_warps, u_warp_count, u_masks, u_seams, u_vertex_count, id, rest);
#endif
#ifndef METHOD
    Surface skinned = rest;
#else
#if INFLUENCES > 4
    ivec4 joints[2] = ivec4[2](ivec4(a_joints), ivec4(a_joints_more));
    vec4 weights[2] = vec4[2](a_weights, a_weights_more);
#else
    ivec4 joints[2] = ivec4[2](ivec4(a_joints), ivec4(0));
    vec4 weights[2] = vec4[2](a_weights, vec4(0.0));
#endif
    Surface skinned = METHOD(u_palette, joints, weights, rest);
#endif
#ifdef TANGENT
    o_tangent = vec4(skinned.tangent, a_tangent.w);
#endif
    o_position = vec4(skinned.position, 1.0);
    o_normal = vec4(skinned.normal, 0.0);
}
