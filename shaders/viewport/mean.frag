#version 330 core
// Adds an image to the sum of samples; with MEAN shows their mean instead.
// Inputs: image, sRGB-encoded, or with MEAN the sum, in linear light, and one over the number of samples.

#include "viewport/colour.glsl"

uniform sampler2D u_image;
#ifdef MEAN
uniform float u_share;
#endif

out vec4 o_colour;

void main() {
    vec3 colour = texelFetch(u_image, ivec2(gl_FragCoord.xy), 0).rgb;
#ifdef MEAN
    o_colour = vec4(srgb_from_linear(colour * u_share), 1.0);
#else
    o_colour = vec4(linear_from_srgb(colour), 1.0);
#endif
}
