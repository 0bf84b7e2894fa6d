// Morph targets of one vertex: adds weighted differences to the bind pose, before skinning.
// Inputs: slots, one for each target that acts: texel of its first differences, first vertex, number of vertices less
// one, bits of the weight; differences of position, normal and, with TANGENT, tangent, target after target, vertex by
// vertex.  The first slots are uniforms, unused ones have the weight 0; MANY_MORPHS has more in a buffer.
// Output: the surface in bind space, its directions of length 1.
// Every fetch is unconditional: the row is clamped, and the weight is 0 outside the run of a target.  No loop over the
// first slots: software renderers evaluate variable indices and the end condition again for every vertex.

#ifdef TANGENT
#define DELTA_TEXELS 3
#else
#define DELTA_TEXELS 2
#endif

void morph_add(inout Surface moved, samplerBuffer deltas, ivec4 slot, int vertex) {
    int row = vertex - slot.y;
    int near = clamp(row, 0, slot.z);
    float weight = row == near ? intBitsToFloat(slot.w) : 0.0;
    int texel = slot.x + near * DELTA_TEXELS;
    moved.position += weight * texelFetch(deltas, texel).xyz;
    moved.normal += weight * texelFetch(deltas, texel + 1).xyz;
#ifdef TANGENT
    moved.tangent += weight * texelFetch(deltas, texel + 2).xyz;
#endif
}

#ifdef MANY_MORPHS
Surface morphed_more(usamplerBuffer slots, int slot_count, samplerBuffer deltas, int vertex, Surface moved) {
    for (int index = 0; index < slot_count; ++index) {
        morph_add(moved, deltas, ivec4(texelFetch(slots, index)), vertex);
    }
    return moved;
}
#endif

Surface morphed(ivec4 slots[4], samplerBuffer deltas, int vertex, Surface rest) {
    morph_add(rest, deltas, slots[0], vertex);
    morph_add(rest, deltas, slots[1], vertex);
    morph_add(rest, deltas, slots[2], vertex);
    morph_add(rest, deltas, slots[3], vertex);
    return rest;
}

// What was added up, with directions of length 1; where one has none, it is that at rest.
Surface morph_end(Surface moved, Surface rest) {
    return Surface(moved.position, unit_or(moved.normal, rest.normal), unit_or(moved.tangent, rest.tangent));
}
