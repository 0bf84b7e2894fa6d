// Light of metallic-roughness surfaces under point lights and an environment, with the energy that bounces between microfacets.
// Needs viewport/light.glsl.  Colours are linear RGB.
// References: E. Heitz 2014, JCGT 3(2) (visibility of GGX); C. Fdez-Aguera 2019, "A Multiple-Scattering Microfacet Model for
// Real-Time Image-Based Lighting", JCGT 8(1); S. Lagarde 2014, "Moving Frostbite to PBR" (specular occlusion).

#include "viewport/octahedron.glsl"

uniform sampler2D u_environment;   // tiles above each other, of roughness 0 to 1 in steps of 0.2
uniform sampler2D u_irradiance;    // over pi
uniform sampler2D u_split_sum;     // scale and bias of the reflectance by cosine and roughness

const float PI = 3.14159265;
const float ROUGHNESS_TILES = 6.0;

struct Surface {
    vec3 position, normal, to_eye;
    vec3 albedo, front, dielectric;  // diffuse reflectance; reflectance from the front, and that without metal
    float roughness, grazing, rim;   // grazing, rim: the same at grazing angles
    vec3 bounces;                    // factor of highlights for light that bounces
};

vec3 environment_tile(vec2 place, float tile) {
    vec2 size = vec2(textureSize(u_environment, 0));
    return textureLod(u_environment, (place * (size.x - 1.0) + 0.5 + vec2(0.0, tile * size.x)) / size, 0.0).rgb;
}

// Nothing real reflects less than 2 % from the front: less switches the reflection off.
float at_grazing(vec3 front) {
    return clamp(50.0 * max(front.r, max(front.g, front.b)), 0.0, 1.0);
}

vec3 surface_lamp(Surface s, vec4 place, vec3 colour, float visible) {
    vec3 offset = place.xyz - s.position, to_light = unit(offset);
    float nl = dot(s.normal, to_light);
    if (nl <= 0.0) return vec3(0.0);
    vec3 halfway = unit(to_light + s.to_eye);
    float nv = max(dot(s.normal, s.to_eye), 1e-4), nh = max(dot(s.normal, halfway), 0.0);
    float vh = max(dot(s.to_eye, halfway), 0.0), a2 = s.roughness * s.roughness * s.roughness * s.roughness;
    // 1 - nh² without cancellation.
    vec3 across = cross(s.normal, halfway);
    float d = dot(across, across) + a2 * nh * nh;
    float v = 0.5 / (nl * sqrt(a2 + (1.0 - a2) * nv * nv) + nv * sqrt(a2 + (1.0 - a2) * nl * nl));
    float rest = (1.0 - vh) * (1.0 - vh), fifth = rest * rest * (1.0 - vh);
    vec3 mirrored = (s.front + (s.grazing - s.front) * fifth) * s.bounces * (a2 * v / (d * d));
    vec3 scattered = s.albedo * (1.0 - s.dielectric - (s.rim - s.dielectric) * fifth);
    return colour * (attenuation(offset, place.w) * nl * visible) * (scattered + mirrored);
}

// base: after images and vertex colours; dielectric: reflectance from the front where it is not metallic; open: see `shaded`.
vec3 surface_light(vec3 position, vec3 normal, vec3 base, vec3 dielectric, float metal, float roughness, float open) {
    Surface s;
    s.position = position;
    s.normal = normal;
    s.to_eye = direction_to_eye(position);
    s.albedo = base * (1.0 - metal);
    s.dielectric = dielectric;
    s.front = mix(dielectric, base, metal);
    s.roughness = clamp(roughness, 0.045, 1.0);
    s.grazing = at_grazing(s.front);
    s.rim = at_grazing(dielectric);
    float nv = clamp(dot(normal, s.to_eye), 0.0, 1.0);
    vec2 sums = textureLod(u_split_sum, (vec2(nv, s.roughness) * 31.0 + 0.5) / 32.0, 0.0).rg;
    float total = sums.x + sums.y;
    s.bounces = 1.0 + s.front * (1.0 / total - 1.0);

    float tile = s.roughness * (ROUGHNESS_TILES - 1.0), lower = min(floor(tile), ROUGHNESS_TILES - 2.0);
    vec2 place = octahedron_place(in_environment(reflect(-s.to_eye, normal)));
    vec3 seen = mix(environment_tile(place, lower), environment_tile(place, lower + 1.0), tile - lower);
    float edge = float(textureSize(u_irradiance, 0).x);
    vec2 outwards = octahedron_place(in_environment(normal));
    vec3 around = textureLod(u_irradiance, (outwards * (edge - 1.0) + 0.5) / edge, 0.0).rgb;
    vec3 single = s.front * sums.x + s.grazing * sums.y;
    vec3 mean = s.front + (1.0 - s.front) / 21.0;
    vec3 multiple = single * mean * (1.0 - total) / (1.0 - mean * (1.0 - total));
    float visible = clamp(pow(nv + open, exp2(-16.0 * s.roughness - 1.0)) - 1.0 + open, 0.0, 1.0);
    vec3 light = frame.environment.z
        * (visible * single * seen + open * (multiple + s.albedo * (1.0 - single - multiple)) * around);
#if LIGHT_COUNT > 0
    light += surface_lamp(s, LIGHT_OF(0), shadow_visibility(position, normal));
#endif
#if LIGHT_COUNT > 1
    light += surface_lamp(s, LIGHT_OF(1), 1.0);
#endif
#if LIGHT_COUNT > 2
    light += surface_lamp(s, LIGHT_OF(2), 1.0);
#endif
#if LIGHT_COUNT > 3
    light += surface_lamp(s, LIGHT_OF(3), 1.0);
#endif
    return light;
}
