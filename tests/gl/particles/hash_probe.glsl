// Hashes of the numbers of the vertices, for a test that compares them bit for bit.

#include "common/hash.glsl"

uniform uint u_seed;
uniform uint u_group;
uniform uint u_first;

void run(int id) {
    uint number = u_first + uint(id);
    o_bits = uvec4(birth_bits(u_seed, number, u_group), pcg4d(uvec4(number, u_seed, u_group, 5u)).w);
    o_numbers = vec4(birth_numbers(u_seed, number, u_group), 0.0);
}
