#version 330 core
// The same work for every pixel.
// Inputs: u_rounds (hashes), u_salt. Output: a colour that depends on all of them.

#include "common/hash.glsl"

uniform int u_rounds;
uniform int u_salt;

out vec4 o_colour;

void main() {
    uvec4 bits = uvec4(uvec2(gl_FragCoord.xy), u_salt, 1u);
    for (int i = 0; i < u_rounds; ++i) {
        bits = pcg4d(bits);
    }
    o_colour = vec4(bits >> 8u) * HASH_UNIT;
}
