// A strand after a substep, near the one that the user pulls: a knot of that goes to the hand, the same knot of others
// around its root goes along the less the farther away they grow. With FREE_LENGTH the knots before it follow in
// proportion; else the lengths of the segments are kept, from the hand to the root and back. CONTACT keeps them out of
// colliders then.
// Inputs: see hair/strand.glsl, u_now has the knots as they were before the substep; u_solved those at its end. Outputs:
// the knots.
// Reference: A. Aristidou, J. Lasenby 2011, "FABRIK: a fast, iterative solver for the inverse kinematics problem".

#include "hair/strand.glsl"
#include "hair/store.glsl"
#ifdef CONTACT
#include "hair/contact.glsl"
#endif

uniform vec2 u_span;                 // substep as fractions of the step: start, end
uniform samplerBuffer u_solved;
uniform ivec2 u_pulled;              // strand, knot
uniform vec4 u_hand;                 // position [m], distance from the root at which no strand comes along [m]

const int PULL_ROUNDS = 2;

// Where the pulled knot of a strand is to be at the end of the substep: the way to the hand is gone evenly over a step.
vec3 pulled_place(int strand, Root root, Root holder) {
    vec3 held = holder.place - holder.move + texelFetch(u_now, u_pulled.x * KNOTS + u_pulled.y).xyz;
    float share = (span.y - span.x) / max(1.0 - span.x, 1e-6);
    return texelFetch(u_now, strand * KNOTS + u_pulled.y).xyz - root.move + share * (u_hand.xyz - held);
}

float pulled_share(int strand, Root root, Root holder) {
    float away = distance(root.place, holder.place) / max(u_hand.w, STRAND_TINY);
    return strand == u_pulled.x ? 1.0 : 1.0 - smoothstep(0.0, 1.0, away);
}

void pull_knots(inout vec3 knots[KNOTS], float segment, vec3 target) {
    vec3 shift = target - knots[u_pulled.y];
#ifdef FREE_LENGTH
    for (int k = 1; k < u_knots; ++k) knots[k] += min(float(k) / float(u_pulled.y), 1.0) * shift;
#else
    for (int k = u_pulled.y + 1; k < u_knots; ++k) knots[k] += shift;
    vec3 along = at_length(target, 1.0, vec3(0.0, 1.0, 0.0));
    for (int round = 0; round < PULL_ROUNDS; ++round) {
        knots[u_pulled.y] = target;
        for (int k = u_pulled.y - 1; k > 0; --k) {
            knots[k] = knots[k + 1] + at_length(knots[k] - knots[k + 1], segment, -along);
        }
        for (int k = 1; k <= u_pulled.y; ++k) {
            knots[k] = knots[k - 1] + at_length(knots[k] - knots[k - 1], segment, along);
        }
    }
    // What lies beyond the hand is kept at its lengths too, from where the pulled knot came to be.
    for (int k = u_pulled.y + 1; k < u_knots; ++k) {
        knots[k] = knots[k - 1] + at_length(knots[k] - knots[k - 1], segment, along);
    }
#endif
}

void run(int id) {
    vec3 knots[KNOTS];
    span = u_span;
    vec4 first = texelFetch(u_solved, id * KNOTS);
    moved = first.xyz;
    knots[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) knots[k] = texelFetch(u_solved, id * KNOTS + k).xyz;
    Root root = root_of(id);
    Root holder = root_of(u_pulled.x);
    float share = pulled_share(id, root, holder);
    if (share > 0.0 && first.w == 0.0) {
        vec3 here = knots[u_pulled.y];
        pull_knots(knots, root.segment, here + share * (pulled_place(id, root, holder) - here));
#ifdef CONTACT
        meet_colliders(id, root, knots);
#endif
    }
    store(knots, first.xyz, first.w);
}
