// Positions as a float32 and what it cannot hold, and their changes as offsets from it: h h g of a short substep is less than
// the last place of a position some metres from the origin.
// The remainder is three numbers of 8 bits, in units of 1/254 of the last place. Its code is a whole number below 2^24, so
// that no driver changes it; 0 stands for none.

uniform float u_one;               // 1: compilers take (a + b) - a for b

// 1/254 in 16 bits: its products with numbers of 8 bits are exact. A rounded one differs between a product and a fused
// multiply and add, and a particle would be apart from itself.
const float REMAINDER_UNIT = 33026.0 / 8388608.0;

// Distance to the next float32; 0 below 2^-103.
vec3 last_place(vec3 position) {
    ivec3 bits = (floatBitsToInt(position) & 0x7f800000) - 0x0b800000;
    return intBitsToFloat(max(bits, ivec3(0)));
}

vec3 remainder_of(float code, vec3 position) {
    int whole = int(code);
    ivec3 parts = (ivec3(whole, whole + 128, whole + 32896) << ivec3(24, 16, 8)) >> 24;
    return vec3(parts) * (last_place(position) * REMAINDER_UNIT);
}

float remainder_code(vec3 remainder, vec3 position) {
    vec3 parts = clamp(roundEven(remainder / max(last_place(position), 1e-30) * 254.0), -127.0, 127.0);
    return parts.x + 256.0 * parts.y + 65536.0 * parts.z;
}

// Position and code of what is at `offset` from `from`.
vec4 moved_by(vec3 from, vec3 offset) {
    vec3 position = u_one * (from + offset);
    return vec4(position, remainder_code(offset - (position - from), position));
}
