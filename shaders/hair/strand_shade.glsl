// The colours of one strand that is drawn.
// Inputs: its knots in the world [m], factors of its colours; what the first light sees of other things, and the layers of hair that it sees.
// Outputs: linear colour of each knot. MODE: 0 lit, 1 by the bend of the joints, 2 by the stretch of the segments.

#include "hair/shade.glsl"
#include "hair/store.glsl"

#if MODE == 0
uniform vec3 u_dye_colour;
#else
uniform sampler2D u_ramp;            // 256 colours, sRGB-encoded
uniform samplerBuffer u_roots;       // 4 texels a strand, of its start the length of a segment
uniform float u_ramp_scale;
#include "viewport/colour.glsl"

vec3 ramp_colour(float value) {
    float place = clamp(value * u_ramp_scale, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0;
    return linear_from_srgb(textureLod(u_ramp, vec2(place, 0.5), 0.0).rgb);
}
#endif

const float TILT_SPREAD = 0.05;      // [rad]

void run(int id) {
    vec3 places[KNOTS];
    vec3 colours[KNOTS];
    for (int k = 0; k < KNOTS; ++k) places[k] = texelFetch(u_strands, id * KNOTS + k).xyz;
#if MODE == 0
    float random = texelFetch(u_strands, id * KNOTS + 1).w;
    vec3 root = a_tint.rgb * mix(u_root_colour, vec3(1.0), a_tip_tint.a);
    vec3 tip = a_tip_tint.rgb * mix(u_tip_colour, vec3(1.0), a_tip_tint.a);
    float bright = 1.0 + u_gloss.z * (2.0 * random - 1.0);
    // Scales tilt a little otherwise on every strand, so that highlights end softly.
    float tilt = u_gloss.y + TILT_SPREAD * (2.0 * fract(random * 61.0) - 1.0);
#endif
    for (int k = 0; k < KNOTS; ++k) {
        vec3 tangent = unit(places[min(k + 1, KNOTS - 1)] - places[max(k - 1, 0)]);
        float share = float(k) / float(KNOTS - 1);
#if MODE == 0
        vec3 colour = mix(mix(root, tip, share), u_dye_colour, a_tint.a) * bright;
        colours[k] = shaded_knot(places[k], tangent, colour, share, tilt);
#elif MODE == 1
        vec3 before = unit(places[k] - places[max(k - 1, 0)]);
        vec3 after = unit(places[min(k + 1, KNOTS - 1)] - places[k]);
        colours[k] = ramp_colour(k > 0 && k < KNOTS - 1 ? acos(clamp(dot(before, after), -1.0, 1.0)) : 0.0);
#else
        float size = distance(places[max(k, 1)], places[max(k, 1) - 1]);
        colours[k] = ramp_colour(size / texelFetch(u_roots, 4 * id).w - 1.0);
#endif
    }
    store_all(colours, 1.0);
}
