// Random numbers by counting: a hash of integers, without state and without sine.
// Inputs: any integers. Outputs: bits, or numbers from 0 up to and without 1 (the upper 24 bits, so that they are exact).
// Functions are named as in sim/maths/hash.py and give the very same bits.
// Reference: M. Jarzynski, M. Olano 2020, "Hash functions for GPU rendering", JCGT 9(3), pcg, pcg3d and pcg4d.

const float HASH_UNIT = 1.0 / 16777216.0;

uint pcg(uint v) {
    uint state = v * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

uvec3 pcg3d(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return v;
}

uvec4 pcg4d(uvec4 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    v ^= v >> 16u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    return v;
}

// Three channels of random bits of one birth. Numbers that only differ in their upper bits, as in one slot,
// would stay alike through pcg3d; hashed first they do not.
uvec3 birth_bits(uint seed, uint number, uint group) {
    return pcg3d(uvec3(pcg(number), seed, group));
}

vec3 unit_numbers(uvec3 bits) {
    return vec3(bits >> 8u) * HASH_UNIT;
}

// Three channels of random numbers of one birth, 0 up to and without 1.
vec3 birth_numbers(uint seed, uint number, uint group) {
    return unit_numbers(birth_bits(seed, number, group));
}
