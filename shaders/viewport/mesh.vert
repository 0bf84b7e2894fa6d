#version 330 core
// Surface of a character from the skinned-vertex buffer.
// Inputs: position and normal in model space (skinned), texture coordinate, optional scalar for the ramps or
// the part of the light that strands let through to their roots, or a colour that is shown instead of the material.
// Outputs: the same in world space [m].

#include "viewport/frame.glsl"

uniform mat4 u_world_from_model;
uniform mat3 u_world_from_normal;   // inverse transpose of the linear part
uniform bool u_texture_origin_bottom;

in vec4 a_position;
in vec4 a_normal;
in vec2 a_texcoord;
#ifdef VERTEX_COLOUR
in vec4 a_colour;
out vec4 v_colour;
#endif
#if defined(SCALAR_WEIGHT) || defined(ROOT_SHADE)
in float a_scalar;
#endif
#ifdef SCALAR_DIFFERENCE
in vec4 a_other_position;
#endif
#ifdef SCALAR_COLOUR
in vec4 a_shown_colour;
out vec4 v_shown_colour;
#endif

out vec3 v_position;
out vec3 v_normal;
out vec2 v_texcoord;
out float v_scalar;

void main() {
    vec4 world = u_world_from_model * vec4(a_position.xyz, 1.0);
    v_position = world.xyz;
    v_normal = u_world_from_normal * a_normal.xyz;
    v_texcoord = u_texture_origin_bottom ? vec2(a_texcoord.x, 1.0 - a_texcoord.y) : a_texcoord;
#ifdef VERTEX_COLOUR
    v_colour = a_colour;
#endif
#ifdef SCALAR_COLOUR
    v_shown_colour = a_shown_colour;
#endif
    v_scalar = 0.0;
#if defined(SCALAR_WEIGHT) || defined(ROOT_SHADE)
    v_scalar = a_scalar;
#endif
#ifdef SCALAR_DIFFERENCE
    v_scalar = distance(a_position.xyz, a_other_position.xyz);
#endif
    gl_Position = frame.clip_from_world * world;
}
