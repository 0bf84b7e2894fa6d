// Contact of a point with moving skins, continuous, by the triangles that are listed for it.
// Inputs: triangles, lists of skin/near.glsl, the path of the point within a substep, the substep as fractions of the
// step and in seconds; world space, metres. Outputs: a contact as in common/collide.glsl, include that before.
// A path that enters a triangle from outside touches its plane; otherwise the nearest triangle counts, and the side of
// that triangle says whether the point is inside. The edges of an opening, and points deeper than SKIN_DEEPEST, touch
// nothing from inside: there the nearest surface may be on the wrong side.

#include "skin/triangle.glsl"

uniform usamplerBuffer u_near;

const float SKIN_DEEPEST = 0.05;

bool is_at_opening(vec3 weights, uint flags) {
    bvec3 none = lessThanEqual(weights, vec3(0.0));
    bvec3 at_opening = notEqual(uvec3(flags) & uvec3(1u, 2u, 4u), uvec3(0u));
    return any(none) && (none.x || at_opening.x) && (none.y || at_opening.y) && (none.z || at_opening.z);
}

// Where a point that sits `clearance` above a skin goes with it, and whether it sits on one, at most `slop` off.
bool skin_carried(int record, inout vec3 point, float from, float to, float clearance, float slop) {
    bool held = false;
    vec3 start = point;
    for (int entry = SKIN_LISTED * record; entry < SKIN_LISTED * (record + 1); ++entry) {
        uint listed = texelFetch(u_near, entry).x;
        if (listed == SKIN_END || held) {
            break;
        }
        Triangle before = triangle_at(int(listed), from);
        Triangle after = triangle_at(int(listed), to);
        vec3 weights = nearest_weights(before, start);
        vec3 apart = start - point_at(before, weights);
        float height = sqrt(dot(apart, apart));
        held = abs(height - clearance) < slop;
        vec3 normal = unit_or_zero(area_normal(after));
        normal *= dot(apart, area_normal(before)) < 0.0 ? -1.0 : 1.0;
        point = held ? point_at(after, weights) + clearance * normal : point;
    }
    return held;
}

Contact skin_contact(int record, vec3 start, vec3 end, float from, float to, float substep) {
    Contact contact = Contact(SKIN_FAR, vec3(0.0, 1.0, 0.0), vec3(0.0), 0.0, 0.0);
    float least = SKIN_FAR;
    float facing = 0.0;
    float first = 1.5;
    int entry = SKIN_LISTED * record;
    int last = entry + SKIN_LISTED;
    uint listed = texelFetch(u_near, entry).x;
    while (listed != SKIN_END) {
        int number = int(listed);
        ++entry;
        listed = entry < last ? texelFetch(u_near, entry).x : SKIN_END;
        uint flags = skin_flags(number);
        Triangle before = triangle_at(number, from);
        Triangle after = triangle_at(number, to);
        vec2 surface = vec2(texelFetch(u_skin, 3 * number).w, texelFetch(u_skin, 3 * number + 1).w);
        float side = (flags & 16u) != 0u ? -1.0 : 1.0;
        vec3 normal = side * unit_or_zero(area_normal(after));
        vec2 sides = vec2(
            side * dot(start - before.a, unit_or_zero(area_normal(before))), dot(end - after.a, normal)
        );
        float turned = (flags & 8u) != 0u && sides.x < 0.0 ? -1.0 : 1.0;
        normal *= turned;
        sides *= turned;
        float moment = sides.x >= 0.0 ? meeting_time(before, after, sides, start, end) : 2.0;
        vec3 weights = nearest_weights(after, moment <= 1.0 ? end - sides.y * normal : end);
        vec3 foot = point_at(after, weights);
        vec3 apart = end - foot;
        float height = dot(apart, normal);
        float far = sqrt(dot(apart, apart));
        vec3 velocity = (foot - point_at(before, weights)) / substep;
        if (moment < first) {
            first = moment;
            contact = Contact(sides.y, normal, velocity, surface.x, surface.y);
        }
        // Of the triangles at an edge the one that the point is more in front of, or behind, says on which side it is.
        bool equal = abs(far - least) <= 1e-5 * least + 1e-7;
        bool counts = equal ? abs(height) > facing : far < least;
        if (first > 1.0 && counts) {
            least = far;
            facing = abs(height);
            bool outside = height >= 0.0;
            bool none = !outside && (far > SKIN_DEEPEST || is_at_opening(weights, flags));
            vec3 away = outside && far > 1e-6 ? apart / far : normal;
            contact = Contact(none ? SKIN_FAR : outside ? far : height, away, velocity, surface.x, surface.y);
        }
    }
    return contact;
}
