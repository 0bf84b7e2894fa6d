#version 330 core
// One particle of an emitter as a point sprite, with SPRITES, or as a quad, an instance of four vertices.
// LOOK: 0 round, 1 image, 2 streak; BLENDING: 0 additive, 1 alpha, 2 opaque; CAST draws what a light sees.
// Inputs: the state, two texels a slot (see emitter/step.glsl), and the table of its life (`life_table`).
// Outputs: position in the particle from -1 to 1, linear colour and opacity, depth [m], cell of the atlas, form of a streak.
// Size of a sprite: width [m] * scale * height of the image / (2 w), the same with and without perspective.

// Includes are text, once each, whatever the preprocessor leaves out: what all variants need comes first.
#include "emitter/shown.glsl"
#include "viewport/frame.glsl"
#if BLENDING == 1 && !defined(CAST)
#include "viewport/light.glsl"
#endif

#define TEXTURED (LOOK == 1)
#define STREAK (LOOK == 2)
#define OPAQUE (BLENDING == 2)

uniform samplerBuffer u_state;
uniform sampler2D u_life;          // linear red, green, blue, opacity | factor of the size
uniform uvec2 u_emitter;           // seed, capacity
uniform vec4 u_spans;              // mean [steps] and variance of the lifetime, mean [m] and variance of the width
uniform mat4 u_clip_from_world;
uniform vec2 u_scale;              // change of clip x and y over a metre across the view
uniform vec2 u_viewport;           // size of the target [px]
uniform uint u_first;              // particle that is drawn first, see u_stride
uniform int u_stride;              // slots to one that is drawn, which stands for all of them
uniform vec2 u_swell;              // factor of the size, and how many of that size it then stands for
uniform float u_variance;          // of the brightness, as part of it
#if STREAK
uniform float u_streak_time;       // [s]
#endif
#if TEXTURED
uniform vec3 u_atlas;              // columns, rows, 1 to play the images over the life
uniform float u_turn;              // largest random turn [rad]
#endif

flat out vec4 v_colour;
flat out float v_depth;            // distance along the view [m]
#ifndef SPRITES
out vec2 v_offset;
#endif
#if TEXTURED
flat out vec4 v_cell;              // corner and size of the image in the atlas
flat out vec2 v_turn;              // cosine and sine
#endif
#if STREAK
flat out float v_length;           // half of it, in half widths
flat out vec2 v_along;             // direction on the screen
#endif
#if BLENDING == 1 && !defined(CAST)
out vec3 v_light;                  // that falls on an alpha-blended particle
#endif
#ifdef SOFT
flat out vec2 v_middle;            // height of the middle over the ground, half the width [m]
#endif
#if OPAQUE
flat out vec3 v_centre;            // [m]
flat out float v_radius;           // [m]
flat out float v_pixels;           // radius [px]
#endif

const float STEP_TIME = 1.0 / 60.0;
const float LAST_TEXEL = 255.0;
// Anything narrower [px] is drawn this wide and as much fainter, so that it does not flicker.
const float NARROWEST = OPAQUE ? 1.0 : 1.5;
const float FARTHEST = 1e12;       // NaN is not drawn either [m]

void hide() {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
}


#if BLENDING == 1 && !defined(CAST)
// A bulging sheet: light wraps around it, as it does through smoke and snow.
vec3 soft_light(vec3 position, vec2 corner) {
    vec3 back = direction_to_eye(position);
    vec3 right = unit(cross(vec3(0.0, 1.0, 0.0), back) + vec3(1e-6, 0.0, 0.0));
    vec3 normal = unit(0.75 * (corner.x * right + corner.y * cross(back, right)) + 0.66 * back);
    vec3 light = light_from(normal);
    for (int i = 0; i < LIGHT_COUNT; ++i) {
        vec3 offset = frame.light_position[i].xyz - position;
        float wrapped = max((dot(normal, unit(offset)) + 0.6) / 1.6, 0.0);
        light += frame.light_colour[i].rgb * (attenuation(offset, frame.light_position[i].w) * wrapped);
    }
    return light;
}
#endif

#if TEXTURED
void choose_image(Shown shown) {
    vec2 cells = u_atlas.xy;
    float count = cells.x * cells.y;
    float chosen = u_atlas.z > 0.5 ? shown.share : shown.random.x;
    float index = min(floor(chosen * count), count - 1.0);
    v_cell = vec4(mod(index, cells.x) / cells.x, floor(index / cells.x) / cells.y, 1.0 / cells);
    float angle = (2.0 * shown.random.y - 1.0) * u_turn;
    v_turn = vec2(cos(angle), sin(angle));
}
#endif

#if STREAK
// A quad from where the particle was to where it is, in the plane of the image; never shorter than it is wide.
// The tail begins at the birth at the earliest, and stays before the eye.
void stretch(vec3 velocity, float age, vec4 head, float size, vec2 corner) {
    vec4 tail = head - u_clip_from_world * vec4(velocity * min(u_streak_time, age), 0.0);
    float nearest = 0.05 * head.w;
    if (tail.w < nearest) tail = mix(head, tail, (head.w - nearest) / (head.w - tail.w));
    vec2 half_viewport = 0.5 * u_viewport;
    vec2 from = tail.xy / tail.w * half_viewport;
    vec2 to = head.xy / head.w * half_viewport;
    float radius = 0.5 * size * u_scale.y * half_viewport.y / head.w;
    float span = length(to - from);
    v_along = span > 1e-3 ? (to - from) / span : vec2(0.0, 1.0);
    float reach = 0.5 * max(span, 2.0 * radius);
    v_length = reach / radius;
    vec2 place = 0.5 * (from + to) + v_along * (reach * corner.y) + vec2(v_along.y, -v_along.x) * (radius * corner.x);
    v_offset = vec2(corner.x, corner.y * v_length);
    // Each end has the depth of its own point.
    vec4 end = corner.y > 0.0 ? head : tail;
    gl_Position = vec4(place / half_viewport * end.w, end.zw);
}
#endif

void main() {
#ifdef SPRITES
    uint slot = (u_first + uint(gl_VertexID)) * uint(u_stride);
    const vec2 corner = vec2(0.0);
#else
    uint slot = (u_first + uint(gl_InstanceID)) * uint(u_stride);
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    v_offset = corner;
#endif
    vec4 first = texelFetch(u_state, int(2u * slot));
    vec4 second = texelFetch(u_state, int(2u * slot + 1u));
    Shown shown = shown_particle(first, second, slot, u_emitter, u_spans);
    int texel = int(shown.share * LAST_TEXEL + 0.5);
    vec4 colour = texelFetch(u_life, ivec2(texel, 0), 0);
    colour.rgb *= 1.0 + u_variance * (2.0 * shown.random.z - 1.0);
#if BLENDING == 0
    colour.rgb *= u_swell.y;
#elif BLENDING == 1
    colour.a = 1.0 - pow(max(1.0 - colour.a, 0.0), u_swell.y);
#endif
    float size = shown.size * texelFetch(u_life, ivec2(texel, 1), 0).x * u_swell.x;
    vec4 clip = u_clip_from_world * vec4(first.xyz, 1.0);
    float pixels = size * u_scale.y * u_viewport.y / (2.0 * clip.w);
    float thinning = min(pixels / NARROWEST, 1.0);
    size /= max(thinning, 1e-6);
    bool sound = dot(first.xyz, first.xyz) < FARTHEST * FARTHEST;
    v_depth = dot(first.xyz - frame.eye.xyz, frame.view_direction.xyz);
#if !OPAQUE
    // A streak becomes wider, but no longer.
    colour.a *= STREAK ? thinning : thinning * thinning;
#ifndef CAST
    // What flies into the eye fades before it fills the image.
    if (frame.eye.w > 0.5) colour.a *= clamp(2.0 * v_depth / size - 1.0, 0.0, 1.0);
#endif
#endif
    v_colour = colour;
#ifdef SOFT
    v_middle = vec2(first.y, 0.5 * size);
#endif
#if OPAQUE
    v_centre = first.xyz;
    v_radius = 0.5 * size;
    v_pixels = 0.5 * max(pixels, NARROWEST);
#endif
#if TEXTURED
    choose_image(shown);
#endif
#if STREAK
    v_length = 1.0;
    v_along = vec2(0.0, 1.0);
#endif
#if BLENDING == 1 && !defined(CAST)
    v_light = vec3(0.0);
#endif
    if (!shown.lives || !sound || pixels <= 0.0 || colour.a <= 0.0) {
        hide();
        return;
    }
#if BLENDING == 1 && !defined(CAST)
    v_light = soft_light(first.xyz, corner);
#endif
#if STREAK
    // What is left of a life and the share of it that is over tell the age.
    float age = max(first.w, 1e-3) * shown.share / max(1.0 - shown.share, 1e-6) * STEP_TIME;
    stretch(second.xyz, age, clip, size, corner);
#else
    gl_Position = vec4(clip.xy + corner * (0.5 * size) * u_scale, clip.zw);
#endif
    gl_PointSize = max(pixels, NARROWEST);
}
