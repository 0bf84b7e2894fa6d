// Light reaching a surface point: hemisphere ambient and attenuated point lights, the first with a soft shadow.
// Inputs are in world space [m]; results are linear RGB.
// Reference: B. Karis, "Real Shading in Unreal Engine 4", SIGGRAPH 2013 (GGX specular term).

#include "viewport/frame.glsl"

uniform sampler2DShadow u_shadow_map;

// SHADOW_TAPS, at least 1, is the edge of the square of filtered shadow samples; LIGHT_COUNT is the number of lights.
// Both are compile-time: indexing the block by a variable costs software renderers a third of the frame time.
#ifndef SHADOW_TAPS
#define SHADOW_TAPS 3
#endif
#ifndef LIGHT_COUNT
#define LIGHT_COUNT 0
#endif

// Distance of the samples [texel of the map]; each is filtered over two texels, so that wider ones still overlap.
const float SHADOW_SPACING = SHADOW_TAPS > 2 ? 2.2 : 1.7;

// Fraction of the first light that reaches `position`, from filtered samples of the shadow map.
// The look-up moves along the normal by about two texels, which avoids acne without a large depth bias.
float shadow_visibility(vec3 position, vec3 normal) {
    if (frame.light_colour[0].w < 0.5) return 1.0;
    float texel = frame.sky.w;
    float distance_to_light = length(frame.light_position[0].xyz - position);
    vec4 place = frame.shadow_from_world * vec4(position + normal * distance_to_light * texel * 2.5, 1.0);
    if (place.w <= 0.0) return 1.0;
    vec3 coordinate = place.xyz / place.w;
    if (any(lessThan(coordinate.xy, vec2(0.0))) || any(greaterThan(coordinate.xy, vec2(1.0)))) return 1.0;
    // The map ends behind the subject, the shadow on the ground does not.
    coordinate.z = min(coordinate.z, 1.0) - 0.0004;
    float sum = 0.0;
    const float middle = 0.5 * float(SHADOW_TAPS - 1);
    for (int y = 0; y < SHADOW_TAPS; ++y)
        for (int x = 0; x < SHADOW_TAPS; ++x)
            sum += texture(u_shadow_map, vec3(coordinate.xy + (vec2(x, y) - middle) * texel * SHADOW_SPACING, coordinate.z));
    return sum / float(SHADOW_TAPS * SHADOW_TAPS);
}

// Intensity of a point light at an offset [m]: 1 at its reach, inverse square, bounded close to the light.
float attenuation(vec3 offset, float reach) {
    return reach * reach / max(dot(offset, offset), 0.01 * reach * reach);
}

// Unit vector; zero for a zero vector, where normalize() is undefined.
vec3 unit(vec3 direction) {
    return direction * inversesqrt(max(dot(direction, direction), 1e-30));
}

float ggx_specular(vec3 normal, vec3 to_light, vec3 to_eye, float roughness) {
    vec3 halfway = unit(to_light + to_eye);
    float a2 = roughness * roughness * roughness * roughness;
    float nh = max(dot(normal, halfway), 0.0);
    float lh = max(dot(to_light, halfway), 0.0);
    float d = nh * nh * (a2 - 1.0) + 1.0;
    return a2 / (4.0 * 3.14159265 * d * d * max(lh * lh, 0.1) * (roughness + 0.5));
}

// Unit vector from a surface point to the camera.
vec3 direction_to_eye(vec3 position) {
    return frame.eye.w > 0.5 ? unit(frame.eye.xyz - position) : -frame.view_direction.xyz;
}

// Light of one point light that leaves the surface towards the camera; see `shaded`.
// place: xyz [m] and reach [m]; colour: rgb times intensity; visible: fraction that is not in the shadow.
vec3 point_light(vec4 place, vec3 colour, float visible, vec3 position, vec3 normal, vec3 to_eye, vec3 albedo,
                vec3 specular, float roughness) {
    vec3 offset = place.xyz - position;
    vec3 to_light = unit(offset);
    vec3 direct = colour * (attenuation(offset, place.w) * max(dot(normal, to_light), 0.0) * visible);
    return direct * (albedo + specular * ggx_specular(normal, to_light, to_eye, roughness) * 3.14159265);
}

// Reflectance of dielectrics.
const float DIELECTRIC = 0.04;

#ifdef STANDARD
// A direction of the world in the panorama of the environment.
vec3 in_environment(vec3 d) {
    vec2 turn = frame.environment.xy;
    return vec3(turn.x * d.x - turn.y * d.z, d.y, turn.y * d.x + turn.x * d.z);
}
#endif

// Light from around that arrives from about a direction.
vec3 light_from(vec3 direction) {
#ifdef STANDARD
    // Source: R. Ramamoorthi, P. Hanrahan 2001, "An Efficient Representation for Irradiance Environment Maps".
    vec3 d = in_environment(direction);
    vec3 linear = frame.harmonics[1].rgb * d.y + frame.harmonics[2].rgb * d.z + frame.harmonics[3].rgb * d.x;
    vec3 square = frame.harmonics[4].rgb * (d.x * d.y) + frame.harmonics[5].rgb * (d.y * d.z)
        + frame.harmonics[6].rgb * (3.0 * d.z * d.z - 1.0) + frame.harmonics[7].rgb * (d.x * d.z)
        + frame.harmonics[8].rgb * (d.x * d.x - d.y * d.y);
    return max(frame.harmonics[0].rgb + linear + square, 0.0);
#else
    return mix(frame.ground.rgb, frame.sky.rgb, direction.y * 0.5 + 0.5);
#endif
}

// Arguments of the function above: of one light, and of the surface.
#define LIGHT_OF(index) frame.light_position[index], frame.light_colour[index].rgb
#define SURFACE position, normal, to_eye, albedo, specular, roughness

// Light that leaves the surface towards the camera.
// albedo: diffuse reflectance; specular: reflectance at normal incidence; roughness: 0 to 1.
// open: part of the light from around that arrives.
vec3 shaded(vec3 position, vec3 normal, vec3 albedo, vec3 specular, float roughness, float open) {
    vec3 to_eye = direction_to_eye(position);
    vec3 ambient = open * light_from(normal);
    float grazing = 1.0 - max(dot(normal, to_eye), 0.0);
    float rim = grazing * grazing * grazing * grazing;
    vec3 light = ambient * (albedo + (specular + 0.06) * rim);
    // Metals have no diffuse reflection.
    light += open * light_from(reflect(-to_eye, normal)) * max(specular - DIELECTRIC, 0.0);
#if LIGHT_COUNT > 0
    light += point_light(LIGHT_OF(0), shadow_visibility(position, normal), SURFACE);
#endif
#if LIGHT_COUNT > 1
    light += point_light(LIGHT_OF(1), 1.0, SURFACE);
#endif
#if LIGHT_COUNT > 2
    light += point_light(LIGHT_OF(2), 1.0, SURFACE);
#endif
#if LIGHT_COUNT > 3
    light += point_light(LIGHT_OF(3), 1.0, SURFACE);
#endif
    return light;
}

vec3 shaded(vec3 position, vec3 normal, vec3 albedo, vec3 specular, float roughness) {
    return shaded(position, normal, albedo, specular, roughness, 1.0);
}
