// Rigid motions as unit dual quaternions: real part the rotation, dual part half the translation times the rotation.
// Inputs and outputs in whatever space and length unit the caller uses; named as in sim/maths/dual_quaternion.py.
// Reference: Kavan, Collins, Zara, O'Sullivan 2008, "Geometric skinning with approximate dual quaternion blending".

#include "common/quaternion.glsl"

struct DualQuaternion {
    vec4 real;
    vec4 dual;
};

// Divided by the length of the real part; algorithm 1, line 5.
DualQuaternion dual_quaternion_normalised(DualQuaternion q) {
    float scale = inversesqrt(dot(q.real, q.real));
    return DualQuaternion(q.real * scale, q.dual * scale);
}

// Translation of a unit dual quaternion.
vec3 dual_quaternion_translation(DualQuaternion q) {
    return 2.0 * (q.real.w * q.dual.xyz - q.dual.w * q.real.xyz + cross(q.real.xyz, q.dual.xyz));
}

// A point turned and moved by a unit dual quaternion.
vec3 dual_quaternion_transform_point(DualQuaternion q, vec3 point) {
    return quaternion_rotate(q.real, point) + dual_quaternion_translation(q);
}
