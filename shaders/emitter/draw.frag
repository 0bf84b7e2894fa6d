#version 330 core
// Colour of a fragment of a particle. LOOK and BLENDING as in emitter/draw.vert; SOFT fades before the scene and at the ground.
// Outputs by BLENDING: 0 linear light and how much of it; 1 the sums of weighted blending, see below; 2 an
// sRGB-encoded colour and the depth of a small sphere.
// Reference: M. McGuire, L. Bavoil 2013, "Weighted blended order-independent transparency", JCGT 2(2).

#define TEXTURED (LOOK == 1)
#define STREAK (LOOK == 2)
#define OPAQUE (BLENDING == 2)

#include "viewport/frame.glsl"
#if OPAQUE
#include "viewport/light.glsl"
#include "viewport/colour.glsl"
#endif

flat in vec4 v_colour;
flat in float v_depth;
#ifndef SPRITES
in vec2 v_offset;
#endif
#if TEXTURED
uniform sampler2D u_image;      // sRGB image with alpha, decoded by the sampler
uniform vec2 u_inset;             // half a texel
flat in vec4 v_cell;
flat in vec2 v_turn;
#endif
#if STREAK
flat in float v_length;
flat in vec2 v_along;
#endif
#if BLENDING == 1
in vec3 v_light;
#endif
#if OPAQUE
flat in vec3 v_centre;
flat in float v_radius;
flat in float v_pixels;
uniform float u_least;            // opacity below which nothing is drawn; edges have all of them where samples are averaged
#endif
#ifdef SOFT
uniform sampler2D u_scene_depth;  // window depth of everything opaque
uniform vec2 u_depth_terms;       // third row of the projection: its third and fourth element
uniform float u_softness;         // [m]
uniform vec4 u_height;            // world y of a point in clip coordinates, as its product; zeros without a ground
uniform vec2 u_viewport;          // size of the target [px]
flat in vec2 v_middle;            // height of the middle over the ground, half the width [m]
#endif

#if BLENDING == 1
#include "viewport/weighted.glsl"

layout(location = 0) out vec4 o_sum;      // weighted colour; transmittance of the background, as a product
layout(location = 1) out vec4 o_weight;   // weight
uniform float u_middle;                   // depth whose weight is 1 [m]
#else
layout(location = 0) out vec4 o_colour;
#endif

vec2 place_in_particle() {
#ifdef SPRITES
    return vec2(2.0, -2.0) * gl_PointCoord + vec2(-1.0, 1.0);
#else
    return v_offset;
#endif
}

#ifdef SOFT
// Depth of the scene along the view [m].
float scene_depth() {
    float ndc = 2.0 * texelFetch(u_scene_depth, ivec2(gl_FragCoord.xy), 0).r - 1.0;
    return frame.eye.w > 0.5 ? u_depth_terms.y / (ndc + u_depth_terms.x) : (u_depth_terms.y - ndc) / u_depth_terms.x;
}
#endif

#ifdef SOFT
// What the ground leaves of a particle. It hides nothing and is not in the depth buffer, but what is on the other side
// of it than the middle of the particle is not to be seen. Over half a width at most, so that what lies on it shows.
float ground_share() {
    vec3 place = vec3(gl_FragCoord.xy / u_viewport, gl_FragCoord.z) * 2.0 - 1.0;
    float height = dot(u_height, vec4(place, 1.0)) / gl_FragCoord.w;
    float share = clamp(height * sign(v_middle.x) / min(u_softness, v_middle.y), 0.0, 1.0);
    return u_height == vec4(0.0) ? 1.0 : share;
}
#endif

#if TEXTURED
vec4 image_colour(vec2 offset) {
    vec2 turned = vec2(v_turn.x * offset.x - v_turn.y * offset.y, v_turn.y * offset.x + v_turn.x * offset.y);
    vec2 place = v_cell.xy + (vec2(0.5, 0.5) + vec2(0.5, -0.5) * turned) * v_cell.zw;
    // Neighbours in the atlas stay out, also where a pixel covers many texels.
    vec2 inset = min(max(u_inset, fwidth(place)), 0.5 * v_cell.zw);
    place = clamp(place, v_cell.xy + inset, v_cell.xy + v_cell.zw - inset);
    return any(greaterThan(abs(turned), vec2(1.0))) ? vec4(0.0) : texture(u_image, place);
}
#endif

// Place relative to the nearest point of the core, which is the middle, or the line that a streak is drawn along.
vec2 from_core(vec2 offset) {
#if STREAK
    return vec2(offset.x, sign(offset.y) * max(abs(offset.y) - (v_length - 1.0), 0.0));
#else
    return offset;
#endif
}

// Colour and opacity at this fragment.
vec4 surface(vec2 offset) {
#if TEXTURED
    return v_colour * image_colour(offset);
#else
    vec2 away = from_core(offset);
#if OPAQUE
    return vec4(v_colour.rgb, clamp((1.0 - length(away)) * v_pixels + 0.5, 0.0, 1.0));
#else
    float bulge = max(1.0 - dot(away, away), 0.0);
    float cover = bulge * bulge;
#if STREAK
    // Brightest at the head; a streak without length is a spot.
    float tail = 0.5 - 0.5 * offset.y / v_length;
    cover *= mix(1.0, 1.0 - tail * tail, clamp(v_length - 1.0, 0.0, 1.0));
#endif
    return vec4(v_colour.rgb, v_colour.a * cover);
#endif
#endif
}

#if OPAQUE
// Shades a ball, a rod or a flat image, and puts a ball at its true depth.
void draw_solid(vec4 shown, vec2 offset) {
    vec3 back = frame.eye.w > 0.5 ? unit(frame.eye.xyz - v_centre) : -frame.view_direction.xyz;
    vec3 right = unit(cross(vec3(0.0, 1.0, 0.0), back) + vec3(1e-6, 0.0, 0.0));
    vec3 up = cross(back, right);
#if TEXTURED
    vec3 normal = back;
#else
    vec2 flat_part = from_core(offset);
    float height = sqrt(max(1.0 - dot(flat_part, flat_part), 0.0));
#if STREAK
    flat_part = flat_part.x * vec2(v_along.y, -v_along.x) + flat_part.y * v_along;
#endif
    vec3 normal = flat_part.x * right + flat_part.y * up + height * back;
#endif
    gl_FragDepth = gl_FragCoord.z;
#if LOOK == 0
    vec4 clip = frame.clip_from_world * vec4(v_centre + v_radius * normal, 1.0);
    gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
#endif
    vec3 light = shaded(v_centre + v_radius * normal, normal, shown.rgb, vec3(0.04), 0.5);
    o_colour = vec4(image_from_linear(tone_mapped(light)), shown.a);
}
#endif

void main() {
    vec2 offset = place_in_particle();
    vec4 shown = surface(offset);
#if OPAQUE
    if (shown.a < u_least) discard;
#else
    if (shown.a <= 0.0) discard;
#endif
#ifdef SOFT
    float gap = scene_depth() - v_depth;
    if (gap <= 0.0) discard;
    shown.a *= min(gap / u_softness, 1.0) * ground_share();
#endif
#if OPAQUE
    draw_solid(shown, offset);
#elif BLENDING == 1
    float weight = layer_weight(u_middle, v_depth);
    o_sum = vec4(shown.rgb * v_light * (shown.a * weight), shown.a);
    o_weight = vec4(shown.a * weight);
#else
    o_colour = shown;
#endif
}
