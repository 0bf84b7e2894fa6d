// A strand meets colliders at the end of a substep: from the root on every knot is put on the surface and at the length
// of its segment, both at once; with FREE_LENGTH on the surface alone.
// Inputs: see hair/strand.glsl; the knots at the end of the substep and before it. Outputs: the knots.
// A root may lie inside a body: a knot is only kept as far out as its root is, and half the way along the strand.

#include "common/collide.glsl"

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

// A knot as far out of a collider as its root and its way along the strand demand; `start` is where it was before.
vec3 kept_out(Collider collider, vec3 place, vec3 former, vec3 start, float allowed, Root root) {
    Contact contact = contact_with(collider, root.place + place, u_step.x);
    float depth = min(u_contact.x, allowed) - contact.distance;
    vec3 moved = place - start + root.move - u_step.x * contact.velocity;
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

#ifdef WHOLE
vec3 starts[KNOTS];                  // a copy of `now` that goes round, as the knots do below
#endif

// Where a knot was before the substep, for one after the other from the root on.
vec3 start_of(int strand, int knot) {
#ifdef WHOLE
    vec3 start = starts[1];
    for (int j = 1; j < SEGMENTS; ++j) starts[j] = starts[j + 1];
    starts[SEGMENTS] = start;
    return start;
#else
    return texelFetch(u_now, strand * KNOTS + knot).xyz;
#endif
}

// A knot at the length of its segment from the former knot; starts are their places at the start of the substep.
vec3 at_segment(vec3 former, vec3 place, vec3 former_start, vec3 start, float segment) {
#ifdef FREE_LENGTH
    return place;
#else
    vec3 along = at_length(start - former_start, 1.0, vec3(0.0, 1.0, 0.0));
    return former + at_length(place - former, segment, along);
#endif
}

// From the root on, collider by collider: every knot at the length of its segment, and out of the collider. Strands that
// are far from all come by once too, for their lengths; the collider they look at changes nothing.
void meet_colliders(int strand, Root root, inout vec3 knots[KNOTS]) {
    float reach = float(SEGMENTS) * root.segment + u_contact.x;
    int index = collider_next(u_colliders, 0, u_collider_count, root.place, span.y, reach);
    for (bool first = true; first || index < u_collider_count; first = false) {
        Collider collider = collider_at(u_colliders, min(index, u_collider_count - 1), span.y);
        float root_distance = contact_with(collider, root.place, u_step.x).distance;
        vec3 former = vec3(0.0);
        vec3 former_start = vec3(0.0);
        for (int k = 1; k < u_knots; ++k) {
            vec3 place = knots[1];
            vec3 start = start_of(strand, k);
            place = at_segment(former, place, former_start, start, root.segment);
            former_start = start;
            if (may_be_near(collider.sphere, collider.travel, collider.size.xyz, root.place + place, span.y, u_contact.x)) {
                place = kept_out(collider, place, former, start, root_distance + 0.5 * float(k) * root.segment, root);
            }
            former = place;
            // The knots go round, so that none is chosen by a number that is not known when compiling.
            for (int j = 1; j < SEGMENTS; ++j) knots[j] = knots[j + 1];
            knots[SEGMENTS] = place;
        }
        index = collider_next(u_colliders, index + 1, u_collider_count, root.place, span.y, reach);
    }
}
