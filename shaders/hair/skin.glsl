// A strand meets moving skins at the end of a substep, after the other colliders, in the same way.
// Inputs: see hair/contact.glsl, which comes before; lists of triangles for each knot, see skin/near.glsl. Outputs: knots.

#include "skin/contact.glsl"

void meet_skin(int strand, Root root, inout vec3 knots[KNOTS]) {
    vec3 former = vec3(0.0);
    vec3 former_start = vec3(0.0);
    for (int k = 1; k < u_knots; ++k) {
        vec3 place = knots[1];
        vec3 start = start_of(strand, k);
        place = at_segment(former, place, former_start, start, root.segment);
        former_start = start;
        vec3 begin = root.place - root.move + start;
        Contact contact = skin_contact(strand * KNOTS + k, begin, root.place + place, span.x, span.y, u_step.x);
        // Roots are on a skin or inside: a knot is kept only as far out as half the way to it.
        float depth = min(u_contact.x, 0.5 * float(k) * root.segment) - contact.distance;
        if (depth > 0.0) {
            vec3 way = place - start + root.move - u_step.x * contact.velocity;
            vec3 slide = way - dot(way, contact.normal) * contact.normal;
            float friction = sqrt(u_contact.y * contact.friction);
#ifdef FREE_LENGTH
            float sliding = sqrt(dot(slide, slide));
            place += depth * contact.normal - slide * min(1.0, friction * depth / max(sliding, STRAND_TINY));
#else
            place = touched(former, place, root.segment, contact.normal, depth, slide, friction);
#endif
        }
        former = place;
        // The knots go round, as in hair/contact.glsl.
        for (int j = 1; j < SEGMENTS; ++j) knots[j] = knots[j + 1];
        knots[SEGMENTS] = place;
    }
}
