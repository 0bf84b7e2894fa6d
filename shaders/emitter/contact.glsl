// Contact of a particle with all colliders, continuous, so that nothing fast passes through.
// Inputs: colliders as packed by sim/colliders/pack.py, planes that do not turn first (PLANES of them), where the
// particle was, span as fractions of the step and in seconds; world space. Outputs: its position and velocity after it.
// RESPONSE selects: 1 bounce, 2 die, 3 stick. OTHERS: how many there are beside the planes; a loop over a known number
// takes half the time. SEARCH: so many that it pays to look first which of them are near. BALLS: all others are spheres,
// whose turning does not matter for where they are.

#include "common/sweep.glsl"
#include "common/plane.glsl"

// The last free flight of a particle within a substep, which ends with the substep.
struct Flight {
    Particle start;
    float time;      // [s]
    vec3 pull;       // acceleration without that of the drag in still air [m/s2]
    float drag;      // [1/s]
    vec3 shift;      // see rounding_shift
};

float farthest(vec3 position) {
    vec3 far = abs(position);
    return max(far.x, max(far.y, far.z));
}

// A particle this near to its distance from a surface stays on it [m]; more than rounding takes it away in a step.
float stick_slop(vec3 position) {
    return 1e-5 + 1e-6 * farthest(position);
}

// At least a unit in the last place: a particle that rounding put this far above a surface still lies on it [m].
float touch_slop(vec3 position) {
    return 1.2e-7 * farthest(position);
}

// As swept_contact, with one look at the surface instead of two: where the path enters it, or else where the path ends.
// From there the distance continues along the tangent plane, so that a path which leaves stays outside.
#ifdef BALLS
Contact path_contact(samplerBuffer colliders, int index, vec3 start, vec3 end, float from, float to, float substep) {
    int base = index * COLLIDER_TEXELS;
    vec3 centre = texelFetch(colliders, base).xyz;
    vec3 travel = texelFetch(colliders, base + 1).xyz;
    float radius = texelFetch(colliders, base + 2).w;
    vec4 surface = texelFetch(colliders, base + 5);
    vec3 begin = start - centre - from * travel;
    vec3 path = end - centre - to * travel - begin;
    float time = entry_sphere(begin, path, radius);
    bool enters = time <= 1.0 && time * time * dot(path, path) <= (time < 0.0 ? SWEEP_SLOP * SWEEP_SLOP : 1e30);
    float moment = enters ? clamp(time, 0.0, 1.0) : 1.0;
    vec3 place = begin + moment * path;
    float reach = sqrt(dot(place, place));
    vec3 normal = reach > 1e-15 ? place / reach : vec3(0.0, 1.0, 0.0);
    vec3 velocity = collider_velocity(colliders, index, radius * normal, substep);
    float gap = reach - radius + (1.0 - moment) * dot(path, normal);
    return Contact(gap, normal, velocity, surface.x, surface.y);
}
#else
Contact path_contact(samplerBuffer colliders, int index, vec3 start, vec3 end, float from, float to, float substep) {
    ColliderPose first = collider_pose(colliders, index, from);
    ColliderPose last = collider_pose(colliders, index, to);
    vec3 begin = quaternion_rotate(quaternion_conjugate(first.orientation), start - first.centre);
    vec3 path = quaternion_rotate(quaternion_conjugate(last.orientation), end - last.centre) - begin;
    float time = entry_time(colliders, index, begin, path);
    bool enters = time <= 1.0 && time * time * dot(path, path) <= (time < 0.0 ? SWEEP_SLOP * SWEEP_SLOP : 1e30);
    float moment = enters ? clamp(time, 0.0, 1.0) : 1.0;
    vec3 place = begin + moment * path;
    vec4 near = collider_distance(colliders, index, place);
    vec3 normal = quaternion_rotate(last.orientation, near.xyz);
    vec3 arm = quaternion_rotate(last.orientation, place - near.w * near.xyz);
    vec4 surface = texelFetch(colliders, index * COLLIDER_TEXELS + 5);
    vec3 velocity = collider_velocity(colliders, index, arm, substep);
    return Contact(near.w + (1.0 - moment) * dot(path, near.xyz), normal, velocity, surface.x, surface.y);
}
#endif

// Bounces at the moment of the contact and flies on to the end of the substep. The moment is where the parabola along
// the normal through the end of the flight meets the surface. What falls back at once, or lies there already, rests.
void bounce(Contact contact, inout Particle moved, inout Flight flight, float clearance) {
    float reach = clearance + touch_slop(moved.position);
    float gap = contact.distance - reach;
    float speed = dot(moved.velocity - contact.velocity, contact.normal);
    float push = dot(flight.pull - flight.drag * moved.velocity, contact.normal);
    float impact = sqrt(max(speed * speed - 2.0 * push * gap, 0.0));
    float after = speed < 0.0 ? clamp(2.0 * gap / (speed - impact), 0.0, flight.time) : 0.0;
    Particle met = flown(flight.start, flight.pull, pace_of(flight.drag, flight.time - after), flight.shift);
    float approach = dot(contact.velocity - met.velocity, contact.normal);
    contact.restitution *= approach > abs(push) * flight.time ? 1.0 : 0.0;
    met.velocity = contact_velocity(met.velocity, contact, 0.0);
    vec3 end = moved.position;
    vec3 pace = pace_of(flight.drag, after);
    vec3 way = way_of(met, flight.pull, pace) + flight.shift;
    moved = Particle(met.position + way, pace.x * met.velocity + pace.y * flight.pull);
    flight = Flight(met, after, flight.pull, flight.drag, flight.shift);
    contact.distance += dot(moved.position - end, contact.normal);
    contact.restitution = 0.0;
    if (contact.distance < reach) {
        vec3 rest = contact_velocity(moved.velocity, contact, 0.0);
        float height = max(clearance, contact.distance);
        moved.position = met.position + contact_position(way, moved.velocity, rest, contact, height, 0.5 * after);
        moved.velocity = rest;
    }
}

// Answers one contact; returns whether there was one.
bool meet(Contact contact, inout Particle moved, inout Flight flight, float clearance) {
    bool touches = contact.distance < clearance;
#if RESPONSE == 1
    touches = contact.distance < clearance + touch_slop(moved.position);
    if (touches) {
        bounce(contact, moved, flight, clearance);
    }
#else
    moved.position += touches ? (clearance - contact.distance) * contact.normal : vec3(0.0);
    moved.velocity = touches ? contact.velocity : moved.velocity;
#endif
    return touches;
}

// Returns whether the particle touched anything. Planes come last, so that nothing ends below the ground.
bool meet_colliders(
    samplerBuffer colliders, int count, vec3 start, inout Particle moved, inout Flight flight, float from, float to,
    float clearance, float substep
) {
    bool touched = false;
#if defined(OTHERS) && defined(SEARCH)
    float reach = clearance + distance(start, moved.position);
    int index = collider_next(colliders, PLANES, count, moved.position, to, reach);
    while (index < count) {
        Contact contact = path_contact(colliders, index, start, moved.position, from, to, substep);
        touched = meet(contact, moved, flight, clearance) || touched;
        index = collider_next(colliders, index + 1, count, moved.position, to, reach);
    }
#elif defined(OTHERS)
    for (int i = PLANES; i < PLANES + OTHERS; ++i) {
        Contact contact = path_contact(colliders, i, start, moved.position, from, to, substep);
        touched = meet(contact, moved, flight, clearance) || touched;
    }
#endif
    for (int i = 0; i < PLANES; ++i) {
        touched = meet(plane_contact(colliders, i, moved.position, to), moved, flight, clearance) || touched;
    }
    return touched;
}

// Carries a particle that sits on a collider along with it; returns whether it sits on one.
bool carried(
    samplerBuffer colliders, int count, inout Particle moved, float from, float to, float clearance, float substep
) {
    bool held = false;
    vec3 start = moved.position;
    float slop = stick_slop(start);
    int index = collider_next(colliders, 0, count, start, from, clearance + slop);
    while (index < count) {
        Contact contact = collider_contact(colliders, index, start, from, substep);
        ColliderPose first = collider_pose(colliders, index, from);
        ColliderPose last = collider_pose(colliders, index, to);
        vec3 place = start - first.centre + (clearance - contact.distance) * contact.normal;
        vec3 arm = quaternion_rotate(quaternion_conjugate(first.orientation), place);
        bool sits = !held && abs(contact.distance - clearance) < slop;
        moved.position = sits ? last.centre + quaternion_rotate(last.orientation, arm) : moved.position;
        held = held || sits;
        index = collider_next(colliders, index + 1, count, start, from, clearance + slop);
    }
    moved.velocity = held ? (moved.position - start) / substep : moved.velocity;
    return held;
}
