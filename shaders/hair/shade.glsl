// Light that leaves the knots of a strand towards the camera.
// Inputs: knots in the world [m]; lamps of the frame. Outputs: linear colour of each knot. LOOK: 0 hair, 1 Kajiya-Kay.
// T is the tangent from root to tip. References: J. Kajiya, T. Kay 1989, "Rendering fur with three dimensional
// textures"; S. Marschner et al. 2003, "Light scattering from human hair fibers"; B. Karis 2016, "Physically based hair
// shading in Unreal", for the lobes.

#include "viewport/light.glsl"

uniform samplerBuffer u_strands;     // KNOTS texels a strand: place [m], random number
uniform vec3 u_root_colour;          // linear
uniform vec3 u_tip_colour;
uniform vec4 u_gloss;                // roughness, tilt [rad], spread of the brightness, self-shadow

const float PI = 3.14159265;
const float FRESNEL_0 = 0.0465;

float fresnel(float cosine) {
    float grazing = 1.0 - clamp(cosine, 0.0, 1.0);
    return FRESNEL_0 + (1.0 - FRESNEL_0) * grazing * grazing * grazing * grazing * grazing;
}

float lobe(float x, float middle, float width) {
    float away = (x - middle) / width;
    return exp(-0.5 * away * away) / (width * sqrt(2.0 * PI));
}

// Kajiya and Kay: what is scattered evenly, and what is mirrored into the cone.
vec2 kajiya(vec3 tangent, vec3 to_light, vec3 to_eye) {
    float tl = dot(tangent, to_light);
    float tv = dot(tangent, to_eye);
    float sines = sqrt(max(1.0 - tl * tl, 0.0)) * sqrt(max(1.0 - tv * tv, 0.0));
    return vec2(sqrt(max(1.0 - tl * tl, 0.0)), pow(max(sines - tl * tv, 0.0), 80.0));
}

// Mirrored at the surface, gone through, and mirrored within.
vec3 lobes(vec3 tangent, vec3 to_light, vec3 to_eye, vec3 colour, float roughness, float tilt) {
    float tl = clamp(dot(tangent, to_light), -1.0, 1.0);
    float tv = clamp(dot(tangent, to_eye), -1.0, 1.0);
    float x = tl + tv;
    vec3 across_light = to_light - tl * tangent;
    vec3 across_eye = to_eye - tv * tangent;
    float cos_phi = clamp(dot(across_light, across_eye)
        * inversesqrt(dot(across_light, across_light) * dot(across_eye, across_eye) + 1e-8), -1.0, 1.0);
    float half_phi = sqrt(max(0.5 + 0.5 * cos_phi, 0.0));
    float theta = max(cos(0.5 * abs(asin(tv) - asin(tl))), 0.2);
    float beta = roughness * roughness;
    float mirrored = lobe(x, -2.0 * tilt, beta) * 0.25 * half_phi * fresnel(sqrt(max(0.5 + 0.5 * dot(to_eye, to_light), 0.0)));
    vec3 through = lobe(x, tilt, 0.5 * beta) * exp(-3.65 * cos_phi - 3.98) * sqrt(colour);
    float f = fresnel(0.5 * theta);
    vec3 within = lobe(x, 4.0 * tilt, 2.0 * beta) * exp(17.0 * cos_phi - 16.78) * ((1.0 - f) * (1.0 - f) * f)
        * pow(colour, vec3(0.8 / theta));
    return mirrored + through + within;
}

vec3 strand_light(vec3 place, vec3 tangent, vec3 to_eye, vec3 colour, int lamp, float visible) {
    vec3 offset = frame.light_position[lamp].xyz - place;
    vec3 to_light = unit(offset);
    vec3 direct = frame.light_colour[lamp].rgb * (attenuation(offset, frame.light_position[lamp].w) * visible);
    vec2 plain = kajiya(tangent, to_light, to_eye);
#if LOOK == 1
    return direct * (plain.x * colour + 0.4 * plain.y);
#else
    return direct * (0.35 * plain.x * colour + PI * lobes(tangent, to_light, to_eye, colour, u_gloss.x, u_gloss.y));
#endif
}

// The part of the first lamp's light that comes through to a place: past other things, and through the hair before it.
#ifdef SELF_SHADOW
uniform sampler2D u_nearest;         // window depth of the nearest strand
uniform sampler2D u_layers;          // strands up to three depths behind it, and what all of them leave
uniform mat4 u_layers_from_world;    // to [0, 1] and window depth
uniform vec2 u_depth_terms;
uniform vec3 u_depths;               // [m]

float hair_before(vec3 place) {
    vec4 seen = u_layers_from_world * vec4(place, 1.0);
    vec2 at = seen.xy / max(seen.w, 1e-6);
    if (seen.w <= 0.0 || any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) return 0.0;
    float depth = textureLod(u_nearest, at, 0.0).r;
    float behind = seen.w - u_depth_terms.y / (2.0 * depth - 1.0 + u_depth_terms.x);
    vec4 layers = textureLod(u_layers, at, 0.0);
    float all = log(max(layers.a, 1e-4)) / log(0.95);
    if (depth >= 1.0 || behind <= 0.0) return 0.0;
    if (behind < u_depths.x) return layers.r * behind / u_depths.x;
    if (behind < u_depths.y) return mix(layers.r, layers.g, (behind - u_depths.x) / (u_depths.y - u_depths.x));
    if (behind < u_depths.z) return mix(layers.g, layers.b, (behind - u_depths.y) / (u_depths.z - u_depths.y));
    return mix(layers.b, all, min((behind - u_depths.z) / u_depths.z, 1.0));
}
#endif

float strand_visibility(vec3 place) {
    float visible = shadow_visibility(place, vec3(0.0));
#ifdef SELF_SHADOW
    visible *= exp(-0.35 * u_gloss.w * hair_before(place));
#endif
    return visible;
}

vec3 shaded_knot(vec3 place, vec3 tangent, vec3 colour, float share) {
    vec3 to_eye = direction_to_eye(place);
    // Light from all around comes less far down to the roots.
    vec3 light = colour * (0.5 * (frame.sky.rgb + frame.ground.rgb)) * mix(0.45, 1.0, share);
#if LIGHT_COUNT > 0
    light += strand_light(place, tangent, to_eye, colour, 0, strand_visibility(place));
#endif
#if LIGHT_COUNT > 1
    light += strand_light(place, tangent, to_eye, colour, 1, 1.0);
#endif
#if LIGHT_COUNT > 2
    light += strand_light(place, tangent, to_eye, colour, 2, 1.0);
#endif
#if LIGHT_COUNT > 3
    light += strand_light(place, tangent, to_eye, colour, 3, 1.0);
#endif
    return light;
}
