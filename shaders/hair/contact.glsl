// A strand meets colliders at the end of a substep: from the root on every knot is put on the surface and at the length
// of its segment, both at once; with FREE_LENGTH on the surface alone.
// Inputs: see hair/strand.glsl; u_before has the knots as they were before the substep. Outputs: the knots.
// A root may lie inside a body: a knot is only kept as far out as its root is, and half the way along the strand.

#include "common/collide.glsl"
#include "hair/strand.glsl"
#include "hair/store.glsl"

uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform vec2 u_contact;              // clearance [m], friction

// Where a knot goes that is `depth` too deep below a surface with a normal: from `former`, the knot before it, at the
// length of the segment. `slide` is what it moved along the surface, of which friction takes a part.
vec3 touched(vec3 former, vec3 candidate, float segment, vec3 normal, float depth, vec3 slide, float friction) {
    vec3 edge = candidate - former;
    float height = clamp(dot(edge, normal) + depth, -segment, segment);
    float sliding = sqrt(dot(slide, slide));
    vec3 across = edge - dot(edge, normal) * normal - slide * min(1.0, friction * depth / max(sliding, STRAND_TINY));
    vec3 aside = abs(normal.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    vec3 level = at_length(across, 1.0, normalize(cross(normal, aside)));
    return former + height * normal + sqrt(max(segment * segment - height * height, 0.0)) * level;
}

// A knot as far out of a collider as its root and its way along the strand demand.
vec3 kept_out(vec3 place, vec3 former, int strand, int k, int index, Root root, float root_distance) {
    Contact contact = collider_contact(u_colliders, index, root.place + place, u_span.y, u_step.x);
    float depth = min(u_contact.x, root_distance + 0.5 * float(k) * root.segment) - contact.distance;
    vec3 moved = place - before_of(strand, k) + root.move - u_step.x * contact.velocity;
    vec3 slide = moved - dot(moved, contact.normal) * contact.normal;
    float friction = sqrt(u_contact.y * contact.friction);
#ifdef FREE_LENGTH
    float sliding = sqrt(dot(slide, slide));
    vec3 kept = place + depth * contact.normal - slide * min(1.0, friction * depth / max(sliding, STRAND_TINY));
#else
    vec3 kept = touched(former, place, root.segment, contact.normal, depth, slide, friction);
#endif
    return depth > 0.0 ? kept : place;
}

void meet_colliders(inout vec3 knots[KNOTS], int strand, Root root) {
    float reach = float(SEGMENTS) * root.segment + u_contact.x;
    int index = collider_next(u_colliders, 0, u_collider_count, root.place, u_span.y, reach);
    while (index < u_collider_count) {
        Contact at_root = collider_contact(u_colliders, index, root.place, u_span.y, u_step.x);
        vec3 former = vec3(0.0);
        for (int k = 1; k < u_knots; ++k) {
            vec3 place = knots[k];
#ifndef FREE_LENGTH
            place = former + at_length(place - former, root.segment, vec3(0.0, 1.0, 0.0));
#endif
            // Most knots are far from most colliders, and lanes that are all far do nothing.
            if (collider_next(u_colliders, index, index + 1, root.place + place, u_span.y, u_contact.x) == index) {
                place = kept_out(place, former, strand, k, index, root, at_root.distance);
            }
            knots[k] = place;
            former = place;
        }
        index = collider_next(u_colliders, index + 1, u_collider_count, root.place, u_span.y, reach);
    }
}

void run(int id) {
    vec3 knots[KNOTS];
    vec4 first = texelFetch(u_now, id * KNOTS);
    knots[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) knots[k] = texelFetch(u_now, id * KNOTS + k).xyz;
    if (first.w == 0.0) meet_colliders(knots, id, root_of(id, first.xyz));
    store(knots, first.xyz, first.w);
}
