// A strand that is drawn, between the three guides that are nearest to its root.
// Inputs: corners of the triangle of its root, their shares and a factor of the length; guides, the number of the
// strand, weights, a random number; factors of clump, curls, noise and thickness; the state of the guides and their roots
// as they are shown.
// Outputs: its knots in the world [m], and beside them the random number, but beside the root the thickness, and beside
// the third knot how it curls, see hair/curl.glsl.

#include "common/hash.glsl"
#include "common/quaternion.glsl"
#include "hair/curl.glsl"
#include "hair/surface.glsl"
#include "hair/store.glsl"

uniform samplerBuffer u_state;       // KNOTS texels a guide: position from the root [m]
uniform samplerBuffer u_roots;       // 4 texels a guide; of its start as it was simulated, of its end as it is shown
uniform vec3 u_form;                 // clump, part of the radius of curls, noise [m]

#ifdef DETAILS
uniform samplerBuffer u_details;     // KNOTS texels a strand: what it has along, to the side of and across its curve [m]
#endif

const float CLUMP_REACH = 0.35;      // part of the length
const float TWO_PI = 6.283185307179586;

vec4 shown_turn(int guide) {
    return quaternion_multiply(texelFetch(u_roots, 4 * guide + 3), quaternion_conjugate(texelFetch(u_roots, 4 * guide + 1)));
}

vec3 offset_of(int guide, vec4 turn, int knot) {
    return quaternion_rotate(turn, texelFetch(u_state, guide * KNOTS + knot).xyz);
}

// Where the skin is round a strand leans as the guide does, seen from its own root: the turn from the normal there, as
// an axis times its sine, and the way on which strands part that keep to it [m]; farther out it is that of the guide.
vec4 lean_from(int guide, Spot spot) {
    vec3 turn = cross(quaternion_rotate(texelFetch(u_roots, 4 * guide + 3), vec3(0.0, 0.0, 1.0)), spot.normal);
    float apart = distance(texelFetch(u_roots, 4 * guide + 2).xyz, spot.place);
    return vec4(turn, apart * inversesqrt(max(dot(turn, turn), 1e-12)));
}

void run(int id) {
    ivec3 guides = ivec3(a_guides.xyz);
    Spot spot = surface_spot(a_corners, a_shares.xyz);
    vec4 turns[3] = vec4[3](shown_turn(guides.x), shown_turn(guides.y), shown_turn(guides.z));
    vec4 clump_root = texelFetch(u_roots, 4 * guides.x + 2);
    vec3 random = vec3(pcg3d(uvec3(a_guides.w, a_guides.x, 7u)) >> 8u) / 16777216.0;
    vec3 of_clump = vec3(pcg3d(uvec3(a_guides.x, 3u, 11u)) >> 8u) / 16777216.0;
    float length_there = texelFetch(u_roots, 4 * guides.x).w * float(KNOTS - 1) * a_shares.w;
    vec3 form = u_form * a_form.xyz;
    // Guides that stand farther off than a part of their length would be pulled through what they grow on.
    float clump = form.x * min(1.0, CLUMP_REACH * length_there / max(distance(clump_root.xyz, spot.place), 1e-9));
    vec4 leans[3] = vec4[3](lean_from(guides.x, spot), lean_from(guides.y, spot), lean_from(guides.z, spot));
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
            vec3 edge = offset - formers[i];
            vec3 leant = edge + min(1.0, leans[i].w / (share * length_there)) * cross(leans[i].xyz, edge);
            mean += a_weights[i] * unit_or(leant, before) * length(edge);
            size += a_weights[i] * length(edge);
            formers[i] = offset;
        }
        // Where guides part, their mean would be shorter than they are.
        vec3 along = unit_or(mean, before);
        grown += size * along;
        before = along;
        vec3 place = spot.place + a_shares.w * grown;
        place = mix(place, clump_root.xyz + a_shares.w * formers[0], clump * share * share);
        vec3 side = unit_or(cross(along, spot.tangent), spot.normal);
        vec3 other = cross(along, side);
        vec2 wave = sin(vec2(7.0 * random.y + 5.0 * share, 7.0 * random.z + 4.0 * share) + TWO_PI * random.xy);
#ifdef DETAILS
        vec3 detail = texelFetch(u_details, int(a_guides.w) * KNOTS + k).xyz;
        place += a_shares.w * (detail.x * along + detail.y * side + detail.z * other);
#endif
        place += (form.z * share) * (wave.x * side + wave.y * other);
        knots[k] = place;
    }
    store_all(knots, a_weights.w);
    o_knot0.w = a_form.w;
    float phase = TWO_PI * (of_clump.x + (1.0 - form.x) * (random.x - 0.5));
    o_knot2.w = curl_code(cos(phase) * spot.tangent + sin(phase) * cross(spot.normal, spot.tangent), form.y);
}
