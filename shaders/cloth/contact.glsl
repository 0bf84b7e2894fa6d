// Contact of a particle with all colliders: those that yield, then planes that do not turn, ellipsoids, others, and skins.
// Inputs: colliders as packed by sim/colliders/pack.py in the order planes, ellipsoids, others, yielding ones; lists of
// skin/near.glsl; where the particle was at the start of the substep, with the velocity that gravity and fields alone would
// have given it; the moment as a fraction of the step, the substep [s]; world space, metres. Outputs: corrected position
// and velocity.
// PLANES, OVALS and YIELDING are the numbers of three groups; those of the others that are near are searched for. Software
// drivers run every branch, so that a few colliders of known shapes are faster without a search and the other shapes.
// YIELDING_SKIN: parts of skins yield; see `meet_limbs`.

#include "common/plane.glsl"
#ifdef SKIN
#include "skin/contact.glsl"
const float STEP_TIME = 1.0 / 60.0;
const float BODY = 1.4;            // factor of the push of a skin that does not yield, over that of an arm
const float HELP = 12.0;           // factor of the way that pins pull a particle out of a body, added to its push
const float PRESSED = 0.009;       // depth in a body that something that yields presses cloth to, at most [m]
const float SOFT = 0.1;            // way over which the push towards the body sets in, in clearances
const float PRESS = 4.0;           // factor of the push towards the body
const float FREE = 5.0;            // factor of the acceleration by parts that yield, where the room begins
#endif

uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform vec2 u_push;               // largest push of a firm surface in a substep, besides the motions of both [m];
                                   // largest acceleration by surfaces that yield [m/s2]

vec3 pulled = vec3(0.0);           // what pins added to the way of this particle in the substep [m]
#ifdef FRICTION_MAP
float friction_factor;             // of this particle
#define ROUGHEN(contact) contact.friction *= friction_factor;
#else
#define ROUGHEN(contact)
#endif

// The substep that ends, as contacts need it.
struct Moment {
    vec3 velocity;     // of the particle without springs and contacts [m/s]
    float fraction;    // of the step at its end
    float clearance;   // [m]
    float substep;     // [s]
};

vec3 shortened(vec3 way, float most) {
    return way * min(1.0, most / max(sqrt(dot(way, way)), CLOTH_TINY));
}

// The springs do not know of contacts: a whole push to the side of a limb that a thread does not lead to would be undone by
// the thread in every substep. So a firm surface pushes out what it and the particle, without its springs, moved towards
// each other, and at most `give` [m].
void meet_firm(Contact contact, Moment now, float give, inout Particle moved) {
    ROUGHEN(contact)
    float met = max(dot(contact.velocity, contact.normal), 0.0) + max(-dot(now.velocity, contact.normal), 0.0);
    give += max(-dot(pulled, contact.normal), 0.0);
    contact.distance = max(contact.distance, now.clearance - give - now.substep * met);
    bounce_contact(moved.position, moved.velocity, contact, now.clearance, now.substep);
}

// A push by at most `largest` [m/s2], and what pins pulled.
void meet_yielding(Contact contact, Moment now, float largest, inout Particle moved) {
    ROUGHEN(contact)
    Particle pushed = moved;
    bounce_contact(pushed.position, pushed.velocity, contact, now.clearance, now.substep);
    float most = largest * now.substep + max(-dot(pulled, contact.normal), 0.0) / now.substep;
    moved.velocity += shortened(pushed.velocity - moved.velocity, most);
    moved.position += shortened(pushed.position - moved.position, most * now.substep);
}

Particle blended(Particle from, Particle to, float share) {
    return Particle(mix(from.position, to.position, share), mix(from.velocity, to.velocity, share));
}

#ifdef YIELDING_SKIN
// Contact with parts of skins that yield, such as arms; returns the distance that the particle keeps from `body`.
// Such a part is firm where there is room, but not for cloth that meets other cloth: a hand between two layers would drag
// both along. Where it presses a particle against the body, it presses along the normal of the body, to the middle between
// both and up to PRESSED into the body: pushes in turn along both normals would add up.
float meet_limbs(Contact body, Contact limb, Moment now, inout Particle moved) {
    float facing = clamp(-2.0 * dot(body.normal, limb.normal), 0.0, 1.0);
    float spacing = clamp(0.5 * (body.distance + limb.distance), -min(now.clearance, PRESSED), now.clearance);
    spacing = mix(now.clearance, spacing, facing);
    float room = facing > 0.0 ? body.distance - now.clearance : SKIN_FAR;
    float share = smoothstep(0.0, max(now.clearance, CLOTH_TINY), room);
    Particle yielding = moved;
    Particle pressed = moved;
    meet_yielding(limb, now, mix(1.0, FREE, share) * u_push.y, yielding);
    Contact pressing = limb;
    pressing.normal = -body.normal;
    pressing.distance = now.clearance - max(min(spacing - limb.distance, body.distance - spacing), 0.0);
    meet_firm(pressing, now, PRESS * u_push.x, pressed);
    float presses = clamp(1.0 + (spacing - limb.distance) / max(SOFT * now.clearance, CLOTH_TINY), 0.0, 1.0);
    presses *= (1.0 - share) * facing;
#ifdef MET
    moved = blended(yielding, pressed, presses);
#else
    Particle firm = moved;
    meet_firm(limb, now, u_push.x, firm);
    moved = blended(blended(yielding, pressed, presses), firm, share);
#endif
    return spacing;
}
#endif

Contact oval_contact(int index, vec3 point, float fraction, float substep) {
    int base = index * COLLIDER_TEXELS;
    ColliderPose pose = collider_pose(u_colliders, index, fraction);
    vec3 arm = point - pose.centre;
    vec3 local = quaternion_rotate(quaternion_conjugate(pose.orientation), arm);
    vec4 near = ellipsoid_distance(local, texelFetch(u_colliders, base + 2).xyz, ELLIPSOID_ITERATIONS);
    vec3 normal = quaternion_rotate(pose.orientation, near.xyz);
    vec3 velocity = collider_velocity(u_colliders, index, arm - near.w * normal, substep);
    vec4 surface = texelFetch(u_colliders, base + 5);
    return Contact(near.w, normal, velocity, surface.x, surface.y);
}

// Contacts with the near ones of colliders `first` to `count`.
void search_contacts(int first, int count, bool yielding, Moment now, inout Particle moved) {
    int index = collider_next(u_colliders, first, count, moved.position, now.fraction, now.clearance);
    while (index < count) {
        Contact contact = collider_contact(u_colliders, index, moved.position, now.fraction, now.substep);
        if (yielding) {
            meet_yielding(contact, now, u_push.y, moved);
        } else {
            meet_firm(contact, now, u_push.x, moved);
        }
        index = collider_next(u_colliders, index + 1, count, moved.position, now.fraction, now.clearance);
    }
}

void collide(int id, Particle before, inout Particle moved, float fraction, float clearance, float substep) {
    Moment now = Moment(before.velocity, fraction, clearance, substep);
    int count = u_collider_count;
#ifdef YIELDING
    count -= YIELDING;
    search_contacts(count, u_collider_count, true, now, moved);
#endif
#ifdef SKIN
    float begins = fraction - substep / STEP_TIME;
    int firm = id;                 // record of skin/near.glsl
    float spacing = clearance;
#ifdef YIELDING_SKIN
    firm = 2 * id;
    Contact body = skin_contact(firm, before.position, moved.position, begins, fraction, substep);
    Contact limb = skin_contact(firm + 1, before.position, moved.position, begins, fraction, substep);
    spacing = meet_limbs(body, limb, now, moved);
#endif
#endif
    for (int i = 0; i < PLANES; ++i) {
        meet_firm(plane_contact(u_colliders, i, moved.position, fraction), now, u_push.x, moved);
    }
    for (int i = PLANES; i < PLANES + OVALS; ++i) {
        meet_firm(oval_contact(i, moved.position, fraction, substep), now, u_push.x, moved);
    }
#ifdef OTHERS
    search_contacts(PLANES + OVALS, count, false, now, moved);
#endif
#ifdef SKIN
    now.clearance = spacing;
    Contact last = skin_contact(firm, before.position, moved.position, begins, fraction, substep);
    // A taut edge draws pinned particles farther into a corner of a body than its push alone moves them out.
    float helped = last.distance < 0.0 ? HELP * max(dot(pulled, last.normal), 0.0) : 0.0;
    meet_firm(last, now, BODY * u_push.x + helped, moved);
#endif
}
