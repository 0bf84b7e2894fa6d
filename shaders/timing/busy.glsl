// Known work for the comparison of timer and clock: numbers hashed again and again.
// Inputs: u_rounds (hashes), u_salt (so that no result can be kept). Output: bits that depend on all of them.

#include "common/hash.glsl"

uniform int u_rounds;
uniform int u_salt;

void run(int id) {
    uvec4 bits = uvec4(id, u_salt, 1u, 2u);
    for (int i = 0; i < u_rounds; ++i) {
        bits = pcg4d(bits);
    }
    o_bits = vec4(bits >> 8u) * HASH_UNIT;
}
