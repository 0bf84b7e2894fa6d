#version 330 core
// Surface shading: textured and lit, world normals as colours, or a scalar through a colour ramp (lit softly, so
// that form stays readable and the ramp stays true).
// Output: sRGB-encoded colour.

#include "viewport/light.glsl"
#include "viewport/colour.glsl"

uniform vec3 u_diffuse;
uniform vec3 u_specular;
uniform float u_roughness;
uniform vec3 u_emission;          // light that the surface gives off by itself, linear
uniform sampler2D u_texture;      // sRGB image, decoded by the sampler; white where there is none
uniform sampler2D u_ramp;         // 256 x 1 colours, sRGB-encoded
uniform float u_ramp_scale;       // ramp coordinate per unit of the scalar

in vec3 v_position;
in vec3 v_normal;
in vec2 v_texcoord;
in float v_scalar;
out vec4 o_colour;

// Unit normal turned towards the viewer on back faces; never NaN for a zero normal.
vec3 surface_normal() {
    vec3 normal = v_normal * (gl_FrontFacing ? 1.0 : -1.0);
    float size = dot(normal, normal);
    return size > 1e-20 ? normal * inversesqrt(size) : vec3(0.0, 1.0, 0.0);
}

void main() {
    vec3 normal = surface_normal();
#if defined(SHOW_NORMALS)
    o_colour = vec4(normal * 0.5 + 0.5, 1.0);
#elif defined(SCALAR_WEIGHT) || defined(SCALAR_DIFFERENCE)
    vec3 ramp = texture(u_ramp, vec2(clamp(v_scalar * u_ramp_scale, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
    float form = 0.62 + 0.38 * max(dot(normal, direction_to_eye(v_position)), 0.0);
    o_colour = vec4(ramp * form, 1.0);
#else
    vec3 albedo = u_diffuse * texture(u_texture, v_texcoord).rgb;
    vec3 light = shaded(v_position, normal, albedo, u_specular, u_roughness) + u_emission;
    o_colour = vec4(srgb_from_linear(tone_mapped(light)), 1.0);
#endif
}
