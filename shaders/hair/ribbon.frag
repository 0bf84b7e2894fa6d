#version 330 core
// A ribbon of hair in its colours, or what passes of the light: DEEP adds layers of opacity behind the nearest strand.
// Inputs: linear colour; distance along the view [m]. Outputs: sRGB-encoded colour; with DEEP how many strands there are
// up to three depths behind the nearest one, and what all of them together leave of the light.
// Reference: C. Yuksel, J. Keyser 2008, "Deep opacity maps".

#include "viewport/colour.glsl"

#ifdef DEEP
uniform sampler2D u_nearest;         // window depth of the nearest strand
uniform vec2 u_depth_terms;          // that tell the distance from the depth
uniform vec3 u_depths;               // [m]
#endif
#ifndef CAST
in vec3 v_colour;
#endif
flat in uint v_strand;
in float v_distance;
#ifdef PICK
uniform uint u_object;
out uvec2 o_identity;
#else
out vec4 o_colour;
#endif

const float STRAND_OPACITY = 0.05;

void main() {
#if defined(PICK)
    o_identity = uvec2(u_object + 1u, v_strand);
#elif defined(DEEP)
    float nearest = u_depth_terms.y / (2.0 * texelFetch(u_nearest, ivec2(gl_FragCoord.xy), 0).r - 1.0 + u_depth_terms.x);
    o_colour = vec4(step(vec3(v_distance - nearest), u_depths), STRAND_OPACITY);
#elif !defined(CAST)
    o_colour = vec4(srgb_from_linear(tone_mapped(v_colour)), 1.0);
#else
    o_colour = vec4(1.0);
#endif
}
