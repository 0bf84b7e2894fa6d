// Skins one vertex of a character, after its morph targets where it has any.
// Inputs: rest record (position and normal, optional tangent, bind space), joints and weights, palette of the pose; with
// MORPHS the differences of all targets and a slot for each that acts.
// Outputs: the same record in model space, file units. METHOD is skin_lbs, skin_dqs or skin_dqs_scale.
// Reference: see model/blend.glsl and model/deform.glsl.

#include "model/blend.glsl"

uniform samplerBuffer u_palette;

#ifdef MORPHS
#include "model/deform.glsl"

uniform usamplerBuffer u_slots;
uniform int u_slot_count;
uniform samplerBuffer u_deltas;
#endif

void run(int id) {
#if INFLUENCES > 4
    ivec4 joints[2] = ivec4[2](ivec4(a_joints), ivec4(a_joints_more));
    vec4 weights[2] = vec4[2](a_weights, a_weights_more);
#else
    ivec4 joints[2] = ivec4[2](ivec4(a_joints), ivec4(0));
    vec4 weights[2] = vec4[2](a_weights, vec4(0.0));
#endif
#ifdef TANGENT
    Surface rest = Surface(a_position.xyz, a_normal.xyz, a_tangent.xyz);
#else
    Surface rest = Surface(a_position.xyz, a_normal.xyz, vec3(0.0));
#endif
#ifdef MORPHS
    rest = deformed(u_slots, u_slot_count, u_deltas, id, rest);
#endif
    Surface skinned = METHOD(u_palette, joints, weights, rest);
#ifdef TANGENT
    o_tangent = vec4(skinned.tangent, a_tangent.w);
#endif
    o_position = vec4(skinned.position, 1.0);
    o_normal = vec4(skinned.normal, 0.0);
}
