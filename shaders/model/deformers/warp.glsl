// Input and output of a deformer, and how it moves a surface: positions by the map, directions by its Jacobian.
// A deformer is a pure function `Warp name(vec4 a, vec4 b, vec4 c, vec3 p, vec3 n, Strength s)` in a file of its own: its
// values as the settings pack them, a point of the bind pose with its unit normal, and how strongly it acts there.
// Output: the surface after it, its directions of length 1.  Needs model/blend.glsl before it.

// Strength of a deformer at a point, 0 to 1, and its gradient.
struct Strength {
    float value;
    vec3 slope;
};

// The deformed point, and the Jacobian, column by column.
struct Warp {
    vec3 place;
    mat3 jacobian;
};

// Normals turn by the cofactors of the derivative, tangents by the derivative itself.
Surface surface_warp(Warp warp, Surface rest) {
    vec3 x = warp.jacobian[0], y = warp.jacobian[1], z = warp.jacobian[2];
    vec3 normal = mat3(cross(y, z), cross(z, x), cross(x, y)) * rest.normal;
    return Surface(
        warp.place,
        unit_or(dot(x, cross(y, z)) < 0.0 ? -normal : normal, rest.normal),
        unit_or(warp.jacobian * rest.tangent, rest.tangent)
    );
}

// A slope of the bind pose after maps whose derivative is `jacobian`; none where they flatten everything.
vec3 slope_after(mat3 jacobian, vec3 slope) {
    return abs(determinant(jacobian)) > 1e-12 ? inverse(transpose(jacobian)) * slope : vec3(0.0);
}
