// Morph targets of one vertex: adds weighted differences to the bind pose, before skinning.
// Inputs: slots, one for each target that acts: first texel of its differences, first vertex, number of vertices, bits
// of the weight; differences of position, normal and, with TANGENT, tangent, target after target, vertex by vertex.
// Output: the surface in bind space, its directions of length 1.
// Every fetch is unconditional: the row is clamped, and the weight is 0 outside the run of a target.

#ifdef TANGENT
#define DELTA_TEXELS 3
#else
#define DELTA_TEXELS 2
#endif

Surface deformed(usamplerBuffer slots, int slot_count, samplerBuffer deltas, int vertex, Surface rest) {
    Surface moved = rest;
    for (int index = 0; index < slot_count; ++index) {
        uvec4 slot = texelFetch(slots, index);
        int row = vertex - int(slot.y);
        int last = int(slot.z) - 1;
        float weight = row < 0 || row > last ? 0.0 : uintBitsToFloat(slot.w);
        int texel = int(slot.x) + clamp(row, 0, last) * DELTA_TEXELS;
        moved.position += weight * texelFetch(deltas, texel).xyz;
        moved.normal += weight * texelFetch(deltas, texel + 1).xyz;
#ifdef TANGENT
        moved.tangent += weight * texelFetch(deltas, texel + 2).xyz;
#endif
    }
    moved.normal = unit_or(moved.normal, rest.normal);
    moved.tangent = unit_or(moved.tangent, rest.tangent);
    return moved;
}
