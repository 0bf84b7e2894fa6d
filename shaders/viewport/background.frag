#version 330 core
// Vertical gradient behind everything, dithered by half a step of 8 bits against banding.

#include "viewport/frame.glsl"
#include "viewport/colour.glsl"

in vec2 v_ndc;
out vec4 o_colour;

// Interleaved gradient noise. Source: J. Jimenez, "Next Generation Post Processing in Call of Duty", 2014.
float dither(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

void main() {
    float height = smoothstep(0.0, 1.0, v_ndc.y * 0.5 + 0.5);
    vec3 light = mix(frame.background_bottom.rgb, frame.background_top.rgb, height);
#ifdef LINEAR
    o_colour = vec4(light, 1.0);
#else
    vec3 colour = srgb_from_linear(light);
    float vignette = 1.0 - 0.10 * dot(v_ndc, v_ndc) * 0.5;
    o_colour = vec4(colour * vignette + (dither(gl_FragCoord.xy) - 0.5) / 255.0, 1.0);
#endif
}
