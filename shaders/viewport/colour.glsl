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

#if defined(LINEAR)
// An image in linear light.
#define image_from_linear(light) (light)
#define linear_from_image(encoded) (encoded)
#define tone_mapped(light) (light)
#define tone_unmapped(mapped) (mapped)
#else
#define image_from_linear srgb_from_linear
#define linear_from_image linear_from_srgb
#endif

#if defined(STANDARD) && !defined(LINEAR)
// Keeps base colours, and compresses highlights towards white, with less and less colour.
// Source: Khronos 3D Commerce, "PBR Neutral Tone Mapper".
const float COMPRESSED = 0.76;  // largest component above which it compresses
const float DESATURATION = 0.15;

float reflection_offset(float least) {
    return least < 0.08 ? least - 6.25 * least * least : 0.04;
}

vec3 tone_mapped(vec3 light) {
    light = max(light, 0.0) - reflection_offset(max(min(light.r, min(light.g, light.b)), 0.0));
    float peak = max(light.r, max(light.g, light.b));
    if (peak < COMPRESSED) return light;
    float d = 1.0 - COMPRESSED, mapped = 1.0 - d * d / (peak + d - COMPRESSED);
    float grey = 1.0 - 1.0 / (DESATURATION * (peak - mapped) + 1.0);
    return mix(light * (mapped / peak), vec3(mapped), grey);
}

// The light that `tone_mapped` gave this; bounded for white, which any light can be.
vec3 tone_unmapped(vec3 colour) {
    float mapped = min(max(colour.r, max(colour.g, colour.b)), 0.985);
    colour = min(colour, vec3(mapped));
    if (mapped >= COMPRESSED) {
        float d = 1.0 - COMPRESSED, peak = d * d / (1.0 - mapped) + COMPRESSED - d;
        float grey = 1.0 - 1.0 / (DESATURATION * (peak - mapped) + 1.0);
        colour = (colour - grey * mapped) / (1.0 - grey) * (peak / mapped);
    }
    float least = max(min(colour.r, min(colour.g, colour.b)), 0.0);
    return max(colour + (least < 0.04 ? sqrt(least) / 2.5 - least : 0.04), 0.0);
}
#elif !defined(LINEAR)
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
#endif
