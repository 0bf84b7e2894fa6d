// A strand that is drawn, between the three guides that are nearest to its root.
// Inputs: corners of the triangle of its root, their shares and a factor of the length; guides, the number of the
// strand, weights, a random number; factors of clump, curls, noise and thickness; the state of the guides and their roots as they are shown.
// Outputs: its knots in the world [m], and beside them the random number, but beside the root the thickness.

#include "common/hash.glsl"
#include "common/quaternion.glsl"
#include "hair/surface.glsl"
#include "hair/store.glsl"

uniform samplerBuffer u_state;       // KNOTS texels a guide: place from the root [m]
uniform samplerBuffer u_roots;       // 4 texels a guide; of its start as it was simulated, of its end as it is shown
uniform vec4 u_form;                 // clump, radius of curls [m], turns [rad/m], noise [m]

const float TWO_PI = 6.283185307179586;

vec4 shown_turn(int guide) {
    return quaternion_multiply(texelFetch(u_roots, 4 * guide + 3), quaternion_conjugate(texelFetch(u_roots, 4 * guide + 1)));
}

vec3 offset_of(int guide, vec4 turn, int knot) {
    return quaternion_rotate(turn, texelFetch(u_state, guide * KNOTS + knot).xyz);
}

void run(int id) {
    ivec3 guides = ivec3(a_guides.xyz);
    Spot spot = surface_spot(a_corners, a_shares.xyz);
    vec4 turns[3] = vec4[3](shown_turn(guides.x), shown_turn(guides.y), shown_turn(guides.z));
    vec4 clump_root = texelFetch(u_roots, 4 * guides.x + 2);
    float segment = texelFetch(u_roots, 4 * guides.x).w;
    vec3 random = vec3(pcg3d(uvec3(a_guides.w, a_guides.x, 7u)) >> 8u) / 16777216.0;
    vec3 of_clump = vec3(pcg3d(uvec3(a_guides.x, 3u, 11u)) >> 8u) / 16777216.0;
    vec4 form = u_form * vec4(a_form.xy, 1.0, a_form.z);
    float phase = TWO_PI * (of_clump.x + (1.0 - form.x) * (random.x - 0.5));
    vec3 knots[KNOTS];
    vec3 before = spot.normal;
    knots[0] = spot.place;
    vec3 formers[3] = vec3[3](vec3(0.0), vec3(0.0), vec3(0.0));
    vec3 grown = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        float share = float(k) / float(KNOTS - 1);
        vec3 mean = vec3(0.0);
        float size = 0.0;
        for (int i = 0; i < 3; ++i) {
            vec3 offset = offset_of(guides[i], turns[i], k);
            mean += a_weights[i] * (offset - formers[i]);
            size += a_weights[i] * distance(offset, formers[i]);
            formers[i] = offset;
        }
        // Where guides part, their mean would be shorter than they are.
        vec3 along = unit_or(mean, before);
        grown += size * along;
        before = along;
        vec3 place = spot.place + a_shares.w * grown;
        place = mix(place, clump_root.xyz + a_shares.w * formers[0], form.x * share * share);
        vec3 side = unit_or(cross(along, spot.tangent), spot.normal);
        vec3 other = cross(along, side);
        float arc = share * segment * float(KNOTS - 1) * a_shares.w;
        float angle = phase + form.z * arc * (0.85 + 0.3 * random.y);
        place += (form.y * min(4.0 * share, 1.0)) * (cos(angle) * side + sin(angle) * other);
        vec2 wave = sin(vec2(7.0 * random.y + 5.0 * share, 7.0 * random.z + 4.0 * share) + TWO_PI * random.xy);
        place += (form.w * share) * (wave.x * side + wave.y * other);
        knots[k] = place;
    }
    store_all(knots, a_weights.w);
    o_knot0.w = a_form.w;
}
