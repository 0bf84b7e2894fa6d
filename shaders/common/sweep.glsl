// Continuous collision: where the path of a point within a substep enters a collider that may move meanwhile.
// Inputs: world points [m] at both ends of the substep, colliders as packed by sim/colliders/pack.py, the substep as
// fractions of the step and in seconds. Outputs: entries and contacts, world space at the end of the substep.
// Functions are named as in tests/oracles/sweep.py; the path is straight in the frame of the collider.
// Reference: Ericson 2005, "Real-time collision detection", chapter 5.3.

#include "common/collide.glsl"

const float SWEEP_SLOP = 1e-4;      // m; a path that begins this deep still begins outside
const float SWEEP_NEVER = 2.0;      // entry time of a line that misses
const float SWEEP_NO_MOTION = 1e-12;

struct Hit {
    bool found;
    float time;        // of the entry, as a fraction of the substep; above 1 where there is none
    vec3 point;        // of the entry, carried along to the end of the substep
    vec3 normal;       // outward, there
};

// When the line begin + t path enters a sphere, or with two zero components a cylinder.
float entry_sphere(vec3 begin, vec3 path, float radius) {
    float a = max(dot(path, path), SWEEP_NO_MOTION * SWEEP_NO_MOTION);
    float b = dot(begin, path);
    vec3 nearest = begin - (b / a) * path;
    float inside_root = a * (radius * radius - dot(nearest, nearest));
    return inside_root >= 0.0 ? (-b - sqrt(max(inside_root, 0.0))) / a : SWEEP_NEVER;
}

// Through the endless cylinder, whose entry tells which round end, if any, can be met first.
float entry_capsule(vec3 begin, vec3 path, float straight, float radius) {
    float time = entry_sphere(vec3(begin.x, 0.0, begin.z), vec3(path.x, 0.0, path.z), radius);
    float height = begin.y + time * path.y;
    vec3 end = vec3(0.0, clamp(height, -straight, straight), 0.0);
    float capped = entry_sphere(begin - end, path, radius);
    return time == SWEEP_NEVER || abs(height) <= straight ? time : capped;
}

float entry_box(vec3 begin, vec3 path, vec3 half_sizes) {
    vec3 moving = (step(0.0, path) * 2.0 - 1.0) * max(abs(path), vec3(SWEEP_NO_MOTION));
    vec3 middle = -begin / moving;
    vec3 span = half_sizes / abs(moving);
    vec3 firsts = middle - span;
    vec3 lasts = middle + span;
    float first = max(firsts.x, max(firsts.y, firsts.z));
    return first <= min(lasts.x, min(lasts.y, lasts.z)) ? first : SWEEP_NEVER;
}

float entry_time(samplerBuffer colliders, int index, vec3 begin, vec3 path) {
    vec4 size = texelFetch(colliders, index * COLLIDER_TEXELS + 2);
    float kind = texelFetch(colliders, index * COLLIDER_TEXELS + 1).w;
    vec3 axes = kind == 2.0 ? size.xyz : vec3(1.0);
    float radius = kind == 2.0 ? 1.0 : size.w;
    float straight = kind == 2.0 ? 0.0 : size.y;
    float oval = entry_capsule(begin / axes, path / axes, straight, radius);
    float flat_one = path.y < -SWEEP_NO_MOTION ? begin.y / -path.y : SWEEP_NEVER;
    float boxed = entry_box(begin, path, size.xyz);
    return kind == 1.0 ? flat_one : radius > 0.0 ? oval : boxed;
}

// Where a point that goes from `start` to `end` enters the collider. A path that begins inside, or leaves, does not.
Hit collider_sweep(
    samplerBuffer colliders, int index, vec3 start, vec3 end, float fraction_start, float fraction_end
) {
    ColliderPose from = collider_pose(colliders, index, fraction_start);
    ColliderPose to = collider_pose(colliders, index, fraction_end);
    vec3 begin = quaternion_rotate(quaternion_conjugate(from.orientation), start - from.centre);
    vec3 path = quaternion_rotate(quaternion_conjugate(to.orientation), end - to.centre) - begin;
    float time = entry_time(colliders, index, begin, path);
    vec3 place = begin + clamp(time, 0.0, 1.0) * path;
    vec4 near = collider_distance(colliders, index, place);
    bool found = time <= 1.0 && abs(near.w) <= SWEEP_SLOP && dot(path, near.xyz) < 0.0;
    return Hit(
        found,
        found ? clamp(time, 0.0, 1.0) : SWEEP_NEVER,
        to.centre + quaternion_rotate(to.orientation, place),
        quaternion_rotate(to.orientation, near.xyz)
    );
}

// Contact of `end` that knows the path: where the path enters, that with the tangent plane of the entry. A point that
// went through is behind that plane and is moved back; what it moved along the surface stays, so that nothing sticks.
Contact swept_contact(
    samplerBuffer colliders, int index, vec3 start, vec3 end, float fraction_start, float fraction_end, float substep
) {
    Contact contact = collider_contact(colliders, index, end, fraction_end, substep);
    Hit hit = collider_sweep(colliders, index, start, end, fraction_start, fraction_end);
    vec3 arm = hit.point - collider_pose(colliders, index, fraction_end).centre;
    vec3 velocity = collider_velocity(colliders, index, arm, substep);
    contact.distance = hit.found ? dot(end - hit.point, hit.normal) : contact.distance;
    contact.normal = hit.found ? hit.normal : contact.normal;
    contact.velocity = hit.found ? velocity : contact.velocity;
    return contact;
}

// As resolve_contacts, for a point that went from `previous` to `position` within the substep.
void resolve_swept_contacts(
    samplerBuffer colliders, int count, inout vec3 position, inout vec3 previous, float fraction_start,
    float fraction_end, float thickness, float substep
) {
    vec3 start = previous;
    float reach = thickness + distance(position, previous);
    int index = collider_next(colliders, 0, count, position, fraction_end, reach);
    while (index < count) {
        Contact contact = swept_contact(colliders, index, start, position, fraction_start, fraction_end, substep);
        resolve_contact(position, previous, contact, thickness, substep);
        index = collider_next(colliders, index + 1, count, position, fraction_end, reach);
    }
}
