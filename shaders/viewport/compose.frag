#version 330 core
// Blends the transparent particles over the image.
// Inputs: the image so far (sRGB-encoded), with COVER the sums of weighted blending, with LIGHT the sum of all emitted
// light (linear). Output: the image with particles, sRGB-encoded; pixels without particles are unchanged.
// Light is added where the scene's own light was before its tone curve bent it, so that a flame before a bright wall
// and a hundred sparks on one pixel go to white smoothly.

#include "viewport/colour.glsl"

uniform sampler2D u_scene;
#ifdef COVER
uniform sampler2D u_sum;
uniform sampler2D u_weight;
#endif
#ifdef LIGHT
uniform sampler2D u_light;
#endif

in vec2 v_ndc;
out vec4 o_colour;

const float LARGEST = 6e4;   // of a half float, nearly
const float FAINTEST = 1e-3; // less does not change eight bits

void main() {
    vec2 place = v_ndc * 0.5 + 0.5;
    bool changed = false;
    vec3 colour = linear_from_image(texelFetch(u_scene, ivec2(gl_FragCoord.xy), 0).rgb);
#ifdef COVER
    vec4 sum = min(texture(u_sum, place), vec4(LARGEST));
    float weight = min(texture(u_weight, place).r, LARGEST);
    if (sum.a < 1.0 - FAINTEST) {
        colour = mix(tone_mapped(sum.rgb / max(weight, 1e-6)), colour, sum.a);
        changed = true;
    }
#endif
#ifdef LIGHT
    vec3 light = min(texture(u_light, place).rgb, vec3(LARGEST));
    if (max(light.r, max(light.g, light.b)) > FAINTEST) {
        colour = tone_mapped(tone_unmapped(colour) + light);
        changed = true;
    }
#endif
    if (!changed) discard;
    o_colour = vec4(image_from_linear(colour), 1.0);
}
