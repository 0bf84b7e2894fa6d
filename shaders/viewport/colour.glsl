// Colour conversion between linear light and the sRGB encoding of the screen.
// Source: IEC 61966-2-1.

vec3 srgb_from_linear(vec3 linear) {
    vec3 low = linear * 12.92;
    vec3 high = 1.055 * pow(max(linear, vec3(0.0031308)), vec3(1.0 / 2.4)) - 0.055;
    return mix(low, high, step(vec3(0.0031308), linear));
}

vec3 linear_from_srgb(vec3 encoded) {
    vec3 low = encoded / 12.92;
    vec3 high = pow((max(encoded, vec3(0.04045)) + 0.055) / 1.055, vec3(2.4));
    return mix(low, high, step(vec3(0.04045), encoded));
}

// Compresses light above the shoulder smoothly towards 1, so that highlights keep their hue.
const float SHOULDER = 0.75;

vec3 tone_mapped(vec3 light) {
    vec3 over = max(light - SHOULDER, 0.0);
    return min(light, vec3(SHOULDER)) + over / (1.0 + over / (1.0 - SHOULDER));
}

// The light that `tone_mapped` gave this; bounded for white, which any light can be.
vec3 tone_unmapped(vec3 mapped) {
    vec3 over = min(max(mapped - SHOULDER, 0.0), vec3(0.985 * (1.0 - SHOULDER)));
    return min(mapped, vec3(SHOULDER)) + over / (1.0 - over / (1.0 - SHOULDER));
}
