// Unit quaternions (x, y, z, w) as rotations of vectors.
// Inputs and outputs in whatever space the caller uses; functions are named as in sim/maths/quaternion.py.
// Reference: Diebel 2006, "Representing attitude".

// The rotation b first, then a.
vec4 quaternion_multiply(vec4 a, vec4 b) {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

vec4 quaternion_conjugate(vec4 q) {
    return vec4(-q.xyz, q.w);
}

// v turned by the unit quaternion q.
vec3 quaternion_rotate(vec4 q, vec3 v) {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// The matrix of the unit quaternion q, for many vectors.
mat3 quaternion_matrix(vec4 q) {
    return mat3(
        quaternion_rotate(q, vec3(1.0, 0.0, 0.0)), quaternion_rotate(q, vec3(0.0, 1.0, 0.0)),
        quaternion_rotate(q, vec3(0.0, 0.0, 1.0))
    );
}
