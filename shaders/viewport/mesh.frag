#version 330 core
// Surface shading: textured and lit, world normals as colours, or a scalar through a colour ramp (lit softly, so
// that form stays readable and the ramp stays true).
// Output: sRGB-encoded colour.

#include "viewport/light.glsl"
#include "viewport/colour.glsl"
#include "viewport/toon.glsl"
#if defined(STANDARD) && !defined(TOON) && !defined(UNLIT)
#include "viewport/surface.glsl"
#endif

uniform vec3 u_diffuse;           // base colour of METAL and in the STANDARD look
uniform vec3 u_specular;          // there the reflectance from the front where it is not metallic
uniform float u_roughness;
uniform vec3 u_emission;          // light that the surface gives off by itself, linear
uniform sampler2D u_texture;      // sRGB image, decoded by the sampler; white where there is none
uniform sampler2D u_ramp;         // 256 x 1 colours, sRGB-encoded
uniform float u_ramp_scale;       // ramp coordinate per unit of the scalar

#ifdef EMISSION
uniform vec3 u_own_light;         // the same of the material
#endif
#ifdef EMISSION_MAP
uniform sampler2D u_emission_map; // colours, sRGB
#endif
#ifdef NORMAL_MAP
uniform sampler2D u_normal_map;   // normals: right, up the image, outwards
uniform float u_normal_scale;
#endif
#ifdef SURFACE_MAP
uniform sampler2D u_surface_map;  // roughness in green, metal in blue
#endif
#if defined(SURFACE_MAP) || defined(METAL) || defined(STANDARD)
uniform vec2 u_surface;           // metal and roughness, or factors of the image
#endif
#ifdef OCCLUSION_MAP
uniform sampler2D u_occlusion_map;
uniform float u_occlusion;
#endif
#ifdef OCCLUSION
uniform sampler2D u_open;         // part of the light from around that arrives, by place in the image
#endif
#if defined(MASK) || defined(BLEND)
uniform float u_opacity;
#endif
#ifdef MASK
uniform float u_cutoff;           // least opacity that is there
#endif

in vec3 v_position;
in vec3 v_normal;
in vec2 v_texcoord;
in float v_scalar;
#ifdef VERTEX_COLOUR
in vec4 v_colour;
#endif
#ifdef SCALAR_COLOUR
in vec4 v_shown_colour;
#endif
out vec4 o_colour;

// Unit normal turned towards the viewer on back faces; never NaN for a zero normal. That of the face where it is FLAT.
vec3 surface_normal() {
#ifdef FLAT
    vec3 normal = cross(dFdx(v_position), dFdy(v_position));
#else
    vec3 normal = v_normal * (gl_FrontFacing ? 1.0 : -1.0);
#endif
    float size = dot(normal, normal);
    return size > 1e-20 ? normal * inversesqrt(size) : vec3(0.0, 1.0, 0.0);
}

// Raw values of an image that holds no colours; without RAW_DATA the sampler has decoded them as sRGB.
vec3 data_of(sampler2D image) {
    vec3 value = texture(image, v_texcoord).rgb;
#ifdef RAW_DATA
    return value;
#else
    return srgb_from_linear(value);
#endif
}

#ifdef NORMAL_MAP
// The normal of the normal map, relative to the normal of the surface.
// Source: C. Schueler 2013, "Normal mapping without precomputed tangents".
vec3 mapped_normal(vec3 normal) {
    vec3 along_x = dFdx(v_position), along_y = dFdy(v_position);
    vec2 image_x = dFdx(v_texcoord), image_y = dFdy(v_texcoord);
    vec3 across_y = cross(along_y, normal), across_x = cross(normal, along_x);
    vec3 right = across_y * image_x.x + across_x * image_y.x;
    vec3 down = across_y * image_x.y + across_x * image_y.y;
    float size = max(dot(right, right), dot(down, down));
    vec3 lean = data_of(u_normal_map) * 2.0 - 1.0;
    lean.xy *= u_normal_scale;
    return size > 0.0 ? unit(inversesqrt(size) * (lean.x * right - lean.y * down) + lean.z * normal) : normal;
}
#endif

// Light that the surface gives off by itself.
vec3 glow_of() {
    vec3 glow = u_emission;
#ifdef EMISSION
#ifdef EMISSION_MAP
    glow += u_own_light * texture(u_emission_map, v_texcoord).rgb;
#else
    glow += u_own_light;
#endif
#endif
    return glow;
}

void main() {
    vec3 normal = surface_normal();
    vec4 base = vec4(u_diffuse, 1.0) * texture(u_texture, v_texcoord);
#if defined(VERTEX_COLOUR) && !defined(TOON)
    base *= v_colour;
#endif
#if defined(MASK) || defined(BLEND)
    float opacity = base.a * u_opacity;
#else
    float opacity = 1.0;
#endif
#ifdef MASK
    if (opacity < u_cutoff) discard;
    opacity = 1.0;
#endif
#if defined(SHOW_NORMALS)
    o_colour = vec4(normal * 0.5 + 0.5, 1.0);
#elif defined(SCALAR_WEIGHT) || defined(SCALAR_DIFFERENCE)
    vec3 ramp = texture(u_ramp, vec2(clamp(v_scalar * u_ramp_scale, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
    float form = 0.62 + 0.38 * max(dot(normal, direction_to_eye(v_position)), 0.0);
    o_colour = vec4(ramp * form, 1.0);
#elif defined(SCALAR_COLOUR)
    float form = 0.62 + 0.38 * max(dot(normal, direction_to_eye(v_position)), 0.0);
    o_colour = vec4(v_shown_colour.rgb * form, 1.0);
#elif defined(UNLIT)
    o_colour = vec4(image_from_linear(base.rgb + u_emission), opacity);
#elif defined(TOON)
#ifdef NORMAL_MAP
    normal = mapped_normal(normal);
#endif
    vec3 light = toon_shaded(v_position, normal, base.rgb, v_texcoord) + glow_of();
    o_colour = vec4(image_from_linear(tone_mapped(light)), opacity);
#elif defined(STANDARD)
    vec2 surface = u_surface;
    float open = 1.0;
#ifdef SURFACE_MAP
    surface *= data_of(u_surface_map).bg;
#endif
#ifdef OCCLUSION_MAP
    open = mix(1.0, data_of(u_occlusion_map).r, u_occlusion);
#endif
#ifdef NORMAL_MAP
    normal = mapped_normal(normal);
#endif
#ifdef OCCLUSION
    open *= texture(u_open, gl_FragCoord.xy * frame.viewport.zw).r;
#endif
    vec3 light = surface_light(v_position, normal, base.rgb, u_specular, surface.x, surface.y, open);
#ifdef ROOT_SHADE
    light *= v_scalar;
#endif
    light += glow_of();
    o_colour = vec4(image_from_linear(tone_mapped(light)), opacity);
#else
    vec3 albedo = base.rgb, specular = u_specular, glow = glow_of();
    float roughness = u_roughness, open = 1.0;
#ifdef SURFACE_MAP
    // Roughness below 0.15 would reflect nothing but the lights.
    vec3 surface = data_of(u_surface_map);
    float metal = u_surface.x * surface.b;
    roughness = clamp(u_surface.y * surface.g, 0.15, 1.0);
    specular = mix(vec3(0.04), albedo, metal);
    albedo *= 1.0 - metal;
#elif defined(METAL)
    specular = mix(u_specular, albedo, u_surface.x);
    albedo *= 1.0 - u_surface.x;
#endif
#ifdef OCCLUSION_MAP
    open = mix(1.0, data_of(u_occlusion_map).r, u_occlusion);
#endif
#ifdef NORMAL_MAP
    normal = mapped_normal(normal);
#endif
    vec3 light = shaded(v_position, normal, albedo, specular, roughness, open) + glow;
    o_colour = vec4(image_from_linear(tone_mapped(light)), opacity);
#endif
}
