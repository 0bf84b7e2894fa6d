// Light that leaves the knots of a strand towards the camera.
// Inputs: knots in the world [m]; lights of the frame. Outputs: linear colour of each knot. LOOK: 0 hair, 1 Kajiya-Kay.

#include "hair/scatter.glsl"
#include "viewport/light.glsl"

uniform samplerBuffer u_strands;     // KNOTS texels a strand: position [m], random number
uniform vec3 u_root_colour;          // linear
uniform vec3 u_tip_colour;
uniform vec4 u_gloss;                // roughness, tilt [rad], spread of the brightness, self-shadow

vec3 strand_light(vec3 place, vec3 tangent, vec3 to_eye, vec3 colour, float tilt, int index,
                  float visible) {
    vec3 offset = frame.light_position[index].xyz - place;
    vec3 to_light = unit(offset);
    vec3 direct = frame.light_colour[index].rgb * (attenuation(offset, frame.light_position[index].w) * visible);
    vec2 plain = kajiya(tangent, to_light, to_eye);
#if LOOK == 1
    return direct * (plain.x * colour + 0.4 * plain.y);
#else
    // Light hair scatters on from strand to strand, which single strands know nothing of.
    vec3 even = 0.35 + 0.45 * min(colour * colour, 1.0);
    return direct * (even * plain.x * colour + PI * lobes(tangent, to_light, to_eye, colour, u_gloss.x, tilt));
#endif
}

// The part of the first light's light that comes through to a position: past other things, and through the hair before it.
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

vec3 shaded_knot(vec3 place, vec3 tangent, vec3 colour, float share, float tilt) {
    vec3 to_eye = direction_to_eye(place);
    // Light from all around comes less far down to the roots.
    vec3 light = colour * (0.5 * (frame.sky.rgb + frame.ground.rgb)) * mix(0.45, 1.0, share);
#if LIGHT_COUNT > 0
    light += strand_light(place, tangent, to_eye, colour, tilt, 0, strand_visibility(place));
#endif
#if LIGHT_COUNT > 1
    light += strand_light(place, tangent, to_eye, colour, tilt, 1, 1.0);
#endif
#if LIGHT_COUNT > 2
    light += strand_light(place, tangent, to_eye, colour, tilt, 2, 1.0);
#endif
#if LIGHT_COUNT > 3
    light += strand_light(place, tangent, to_eye, colour, tilt, 3, 1.0);
#endif
    return light;
}
