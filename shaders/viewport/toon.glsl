// Toon shading: the colour of a surface changes at one edge between light and shade, and light runs along its outline.
// Needs viewport/light.glsl.  Colours are linear RGB.
// Source: VRM Consortium, VRMC_materials_mtoon 1.0.

#ifdef TOON
uniform vec3 u_shade;      // colour in the shade
uniform vec3 u_toon;       // shift of the edge, how narrow it is (below 1), how even the light from around is
uniform vec3 u_rim;        // colour of the light along the outline
uniform vec3 u_rim_shape;  // its power, its lift, how much it depends on the lights
#ifdef SHADE_MAP
uniform sampler2D u_shade_map;
#endif
#ifdef RIM_MAP
uniform sampler2D u_rim_map;
#endif
#ifdef MATCAP
uniform sampler2D u_matcap_map;
uniform vec3 u_matcap;
#endif

// Light of one point light that leaves the surface; adds to `received` what arrives. For `place` see `point_light`.
vec3 toon_light(vec4 place, vec3 colour, float visible, vec3 position, vec3 normal, vec3 base, vec3 shade,
                inout vec3 received) {
    vec3 offset = place.xyz - position;
    vec3 arriving = colour * attenuation(offset, place.w);
    float lit = clamp((dot(normal, unit(offset)) + u_toon.x + 1.0 - u_toon.y) / (2.0 - 2.0 * u_toon.y), 0.0, 1.0);
    received += arriving;
    return arriving * mix(shade, base, lit * visible);
}

vec3 toon_shaded(vec3 position, vec3 normal, vec3 base, vec2 texcoord) {
    vec3 to_eye = direction_to_eye(position), shade = u_shade;
#ifdef SHADE_MAP
    shade *= texture(u_shade_map, texcoord).rgb;
#endif
    vec3 received = mix(light_from(normal), 0.5 * (frame.sky.rgb + frame.ground.rgb), u_toon.z);
    vec3 light = received * base;
#define TOON_SURFACE position, normal, base, shade, received
#if LIGHT_COUNT > 0
    light += toon_light(LIGHT_OF(0), shadow_visibility(position, normal), TOON_SURFACE);
#endif
#if LIGHT_COUNT > 1
    light += toon_light(LIGHT_OF(1), 1.0, TOON_SURFACE);
#endif
#if LIGHT_COUNT > 2
    light += toon_light(LIGHT_OF(2), 1.0, TOON_SURFACE);
#endif
#if LIGHT_COUNT > 3
    light += toon_light(LIGHT_OF(3), 1.0, TOON_SURFACE);
#endif
    vec3 rim = u_rim * pow(clamp(1.0 - dot(normal, to_eye) + u_rim_shape.y, 0.0, 1.0), u_rim_shape.x);
#ifdef MATCAP
    vec3 right = unit(vec3(to_eye.z, 0.0, -to_eye.x));
    vec2 place = vec2(dot(right, normal), -dot(cross(to_eye, right), normal));
    rim += u_matcap * texture(u_matcap_map, place * 0.495 + 0.5).rgb;
#endif
#ifdef RIM_MAP
    rim *= texture(u_rim_map, texcoord).rgb;
#endif
    return light + rim * mix(vec3(1.0), received, u_rim_shape.z);
}
#endif
