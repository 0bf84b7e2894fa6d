// All deformers of a character, one after the other, after its morph targets and before skinning.
// Inputs: for each deformer 4 texels: its number and that of its mask or -1, then its values; for each mask and vertex the
// gradient of the weight in the bind pose, and the weight; in the mask `seams`, unless it is -1, the mean of the
// normals at positions with several normals, and 1. WARP_CASES is a `case` for every deformer, such as
// `case 0: warp = bulge(a, b, c, p, n, s); break;`.
// Output: the surface in bind space, its directions of length 1.

#include "model/deformers/warp.glsl"
#include "model/deformers/bulge.glsl"
#include "model/deformers/twist.glsl"
#include "model/deformers/bend.glsl"
#include "model/deformers/taper.glsl"
#include "model/deformers/wave.glsl"

Surface warped(samplerBuffer warps, int warp_count, samplerBuffer masks, int seams, int vertex_count, int vertex,
               Surface rest) {
    vec4 seam = seams >= 0 ? texelFetch(masks, seams * vertex_count + vertex) : vec4(0.0);
    Surface moved = rest;
    mat3 total = mat3(1.0);
    for (int index = 0; index < warp_count; ++index) {
        vec4 head = texelFetch(warps, 4 * index);
        vec4 a = texelFetch(warps, 4 * index + 1);
        vec4 b = texelFetch(warps, 4 * index + 2);
        vec4 c = texelFetch(warps, 4 * index + 3);
        Strength s = Strength(1.0, vec3(0.0));
        if (head.y >= 0.0) {
            vec4 mask = texelFetch(masks, int(head.y) * vertex_count + vertex);
            s = Strength(mask.w, slope_after(total, mask.xyz));
        }
        vec3 p = moved.position, n = seam.w > 0.0 ? seam.xyz : moved.normal;
        Warp warp = Warp(p, mat3(1.0));
        switch (int(head.x)) { WARP_CASES }
        if (seam.w > 0.0) seam.xyz = surface_warp(warp, Surface(p, seam.xyz, moved.tangent)).normal;
        moved = surface_warp(warp, moved);
        total = warp.jacobian * total;
    }
    return moved;
}
