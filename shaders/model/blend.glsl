// Skinning of one vertex as pure functions: blend the joints of a palette, then deform.
// Inputs: palette in a buffer texture, up to 8 joints with weights that sum to 1, strongest first; positions and
// directions in bind space (file units). Outputs: the same in model space.
// INFLUENCES (1 to 8) is how many of the weights are read; every fetch is unconditional, a weight of 0 masks it.
// References: Magnenat-Thalmann et al. 1988 (linear blend); Kavan et al. 2008, algorithm 1 and section 4.3.

#include "common/dual_quaternion.glsl"

#ifndef INFLUENCES
#define INFLUENCES 4
#endif

// The upper three rows of an affine matrix.
struct Affine {
    vec4 x;
    vec4 y;
    vec4 z;
};

struct Surface {
    vec3 position;
    vec3 normal;
    vec3 tangent;
};

const float NO_DIRECTION = 1e-24;   // squared length below which a vector has no direction

// v with length 1, or the fallback where v has no direction.
vec3 unit_or(vec3 v, vec3 fallback) {
    float square = dot(v, v);
    return square > NO_DIRECTION ? v * inversesqrt(square) : fallback;
}

vec3 affine_direction(Affine m, vec3 v) {
    return vec3(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

vec3 affine_point(Affine m, vec3 p) {
    return affine_direction(m, p) + vec3(m.x.w, m.y.w, m.z.w);
}

// Cofactor matrix applied to v: the inverse transpose up to a positive factor, also for flat matrices.
vec3 affine_normal(Affine m, vec3 v) {
    vec3 yz = cross(m.y.xyz, m.z.xyz);
    vec3 turned = vec3(dot(yz, v), dot(cross(m.z.xyz, m.x.xyz), v), dot(cross(m.x.xyz, m.y.xyz), v));
    return dot(m.x.xyz, yz) < 0.0 ? -turned : turned;
}

// Adds one weighted matrix, whose rows are at `texel` and the two after it.
void affine_add(inout Affine total, samplerBuffer palette, int texel, float weight) {
    total.x += weight * texelFetch(palette, texel);
    total.y += weight * texelFetch(palette, texel + 1);
    total.z += weight * texelFetch(palette, texel + 2);
}

// Weighted sum of palette matrices; the entry of joint j begins at texel j * stride + first.
Affine affine_blend(samplerBuffer palette, int stride, int first, ivec4 joints[2], vec4 weights[2]) {
    Affine total = Affine(vec4(0.0), vec4(0.0), vec4(0.0));
    ivec4 a = joints[0] * stride + first;
    affine_add(total, palette, a.x, weights[0].x);
#if INFLUENCES > 1
    affine_add(total, palette, a.y, weights[0].y);
#endif
#if INFLUENCES > 2
    affine_add(total, palette, a.z, weights[0].z);
#endif
#if INFLUENCES > 3
    affine_add(total, palette, a.w, weights[0].w);
#endif
#if INFLUENCES > 4
    ivec4 b = joints[1] * stride + first;
    affine_add(total, palette, b.x, weights[1].x);
#endif
#if INFLUENCES > 5
    affine_add(total, palette, b.y, weights[1].y);
#endif
#if INFLUENCES > 6
    affine_add(total, palette, b.z, weights[1].z);
#endif
#if INFLUENCES > 7
    affine_add(total, palette, b.w, weights[1].w);
#endif
    return total;
}

// Adds one weighted motion with the sign that lies on the side of the pivot; q and -q are the same motion.
void motion_add(inout DualQuaternion total, samplerBuffer palette, int texel, float weight, vec4 pivot) {
    vec4 real = texelFetch(palette, texel);
    float signed_weight = dot(real, pivot) < 0.0 ? -weight : weight;
    total.real += signed_weight * real;
    total.dual += signed_weight * texelFetch(palette, texel + 1);
}

// Normalised weighted sum of palette motions; the pivot is the first joint, which is the strongest.
DualQuaternion motion_blend(samplerBuffer palette, int stride, ivec4 joints[2], vec4 weights[2]) {
    ivec4 a = joints[0] * stride;
    vec4 pivot = texelFetch(palette, a.x);
    DualQuaternion total = DualQuaternion(weights[0].x * pivot, weights[0].x * texelFetch(palette, a.x + 1));
#if INFLUENCES > 1
    motion_add(total, palette, a.y, weights[0].y, pivot);
#endif
#if INFLUENCES > 2
    motion_add(total, palette, a.z, weights[0].z, pivot);
#endif
#if INFLUENCES > 3
    motion_add(total, palette, a.w, weights[0].w, pivot);
#endif
#if INFLUENCES > 4
    ivec4 b = joints[1] * stride;
    motion_add(total, palette, b.x, weights[1].x, pivot);
#endif
#if INFLUENCES > 5
    motion_add(total, palette, b.y, weights[1].y, pivot);
#endif
#if INFLUENCES > 6
    motion_add(total, palette, b.z, weights[1].z, pivot);
#endif
#if INFLUENCES > 7
    motion_add(total, palette, b.w, weights[1].w, pivot);
#endif
    return dual_quaternion_normalised(total);
}

Surface surface_transform(Affine m, Surface rest) {
    return Surface(
        affine_point(m, rest.position),
        unit_or(affine_normal(m, rest.normal), rest.normal),
        unit_or(affine_direction(m, rest.tangent), rest.tangent)
    );
}

Surface surface_move(DualQuaternion motion, Surface rest) {
    return Surface(
        dual_quaternion_transform_point(motion, rest.position),
        quaternion_rotate(motion.real, rest.normal),
        quaternion_rotate(motion.real, rest.tangent)
    );
}

// Linear blend skinning; palette of 3 texels a joint.
Surface skin_lbs(samplerBuffer palette, ivec4 joints[2], vec4 weights[2], Surface rest) {
    return surface_transform(affine_blend(palette, 3, 0, joints, weights), rest);
}

// Dual quaternion skinning; palette of 2 texels a joint. Scale is left out.
Surface skin_dqs(samplerBuffer palette, ivec4 joints[2], vec4 weights[2], Surface rest) {
    return surface_move(motion_blend(palette, 2, joints, weights), rest);
}

// The scales blended linearly and applied first, then the motion; palette of 5 texels a joint: motion, scale.
Surface skin_dqs_scale(samplerBuffer palette, ivec4 joints[2], vec4 weights[2], Surface rest) {
    Surface scaled = surface_transform(affine_blend(palette, 5, 2, joints, weights), rest);
    return surface_move(motion_blend(palette, 5, joints, weights), scaled);
}
