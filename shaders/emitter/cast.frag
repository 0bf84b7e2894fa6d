#version 330 core
// Depth of an opaque particle as a light sees it: a disc, or the form of a streak or a image.
// PICK: which object covers a pixel; of transparent particles only the middle, so that objects behind can be picked.

#define TEXTURED (LOOK == 1)
#define STREAK (LOOK == 2)

#ifndef SPRITES
in vec2 v_offset;
#endif
#if TEXTURED
uniform sampler2D u_image;
flat in vec4 v_cell;
flat in vec2 v_turn;
#endif
#if STREAK
flat in float v_length;
#endif

#ifdef PICK
uniform uint u_object;
out uvec2 o_identity;
#endif
#if defined(PICK) && BLENDING != 2
const float CORE = 0.25;  // squared part of the width
#else
const float CORE = 1.0;
#endif

void main() {
#ifdef SPRITES
    vec2 offset = vec2(2.0, -2.0) * gl_PointCoord + vec2(-1.0, 1.0);
#else
    vec2 offset = v_offset;
#endif
#if TEXTURED
    vec2 turned = vec2(v_turn.x * offset.x - v_turn.y * offset.y, v_turn.y * offset.x + v_turn.x * offset.y);
    vec2 inside = vec2(0.5, 0.5) + vec2(0.5, -0.5) * turned;
    bool outside = any(greaterThan(abs(turned), vec2(1.0)));
    if (outside || textureLod(u_image, v_cell.xy + inside * v_cell.zw, 0.0).a <= 0.5) discard;
#else
#if STREAK
    offset.y = max(abs(offset.y) - (v_length - 1.0), 0.0);
#endif
    if (dot(offset, offset) > CORE) discard;
#endif
#ifdef PICK
    o_identity = uvec2(u_object + 1u, 0u);
#endif
}
