#version 330 core
// Known work for the comparison of timer and clock: numbers hashed again and again, captured by transform feedback.
// Inputs: u_rounds (hashes), u_salt (so that no result can be kept). Output: bits that depend on all of them.

#include "common/hash.glsl"

uniform int u_rounds;
uniform int u_salt;

void main() {
    uvec4 bits = uvec4(gl_VertexID, u_salt, 1u, 2u);
    for (int i = 0; i < u_rounds; ++i) {
        bits = pcg4d(bits);
    }
    o_bits = vec4(bits >> 8u) * HASH_UNIT;
}
