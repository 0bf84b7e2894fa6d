#version 330 core
// Hair in its colours, or what passes of the light: DEEP adds layers of opacity behind the nearest strand. Of a SHELL
// the positions between strands are left out, of a LINE what is too thin; with BLENDED layers are summed up without an order.
// Inputs: linear colour; distance along the view [m]. Outputs: sRGB-encoded colour; with DEEP how many strands there are
// up to three depths behind the nearest one, and what all of them together leave of the light; with BLENDED weighted
// colour and what is left to see of the background, weight.
// Reference: C. Yuksel, J. Keyser 2008, "Deep opacity maps".

#include "viewport/colour.glsl"
#ifdef SHELL
#include "hair/shell.glsl"
in vec3 v_cell;
in vec3 v_shift;
#endif
#ifdef BLENDED
#include "viewport/weighted.glsl"
#endif

#ifdef DEEP
uniform sampler2D u_nearest;         // window depth of the nearest strand
uniform vec2 u_depth_terms;          // that tell the distance from the depth
uniform vec3 u_depths;               // [m]
#endif
#ifdef FLAT
flat in vec3 v_colour;
#elif !defined(CAST)
in vec3 v_colour;
#endif
#if defined(LINE) || defined(BLENDED)
in vec3 v_cover;                     // see hair/ribbon.vert
#endif
flat in uint v_strand;
in float v_distance;
#if defined(PICK)
uniform uint u_object;
out uvec2 o_identity;
#elif defined(BLENDED)
uniform float u_middle;              // depth whose weight is 1 [m]
layout(location = 0) out vec4 o_sum;
layout(location = 1) out vec4 o_weight;
#else
out vec4 o_colour;
#endif

const float STRAND_OPACITY = 0.05;

void main() {
    float bright = 1.0;
#if defined(UNDERCOAT)
    if (!undercoat_covers(v_cell, dFdx(v_cell), dFdy(v_cell), v_shift.z)) discard;
#elif defined(SHELL)
    if (!shell_covers(v_cell, dFdx(v_cell), dFdy(v_cell), v_shift, bright)) discard;
#elif defined(LINE)
    if (v_cover.z <= 0.0) discard;
#endif
#if defined(PICK)
    o_identity = uvec2(u_object + 1u, v_strand);
#elif defined(DEEP)
    float nearest = u_depth_terms.y / (2.0 * texelFetch(u_nearest, ivec2(gl_FragCoord.xy), 0).r - 1.0 + u_depth_terms.x);
    o_colour = vec4(step(vec3(v_distance - nearest), u_depths), STRAND_OPACITY);
#elif defined(BLENDED)
    float alpha = v_cover.z * clamp(v_cover.y + 0.5 - abs(v_cover.x), 0.0, 1.0);
    if (alpha <= 0.0) discard;
    float weight = alpha * layer_weight(u_middle, v_distance);
    o_sum = vec4(v_colour * weight, alpha);
    o_weight = vec4(weight);
#elif !defined(CAST)
    o_colour = vec4(image_from_linear(tone_mapped(v_colour * bright)), 1.0);
#else
    o_colour = vec4(1.0);
#endif
}
