// Contact of a particle with all colliders: those that yield, then planes that do not turn, ellipsoids, others, and skins.
// Inputs: colliders as packed by sim/colliders/pack.py in the order planes, ellipsoids, others, yielding ones; lists of
// skin/near.glsl; where the particle was at the start of the substep, with the velocity that gravity and fields alone would
// have given it; the moment as a fraction of the step, the substep [s]; world space, metres. Outputs: corrected position
// and velocity.
// PLANES, OVALS and YIELDING are the numbers of three groups; those of the others that are near are searched for. Software
// drivers run every branch, so that a few colliders of known shapes are faster without a search and the other shapes.
// YIELDING_SKIN: parts of skins yield, where a firm part faces them within twice the distance that the particle keeps.

#include "common/plane.glsl"
#ifdef SKIN
#include "skin/contact.glsl"
const float STEP_TIME = 1.0 / 60.0;
#endif

uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform vec3 u_push;               // largest push of a firm surface in a substep, besides the motions of both [m];
                                   // largest acceleration by surfaces that yield [m/s2];
                                   // distance to which surfaces undo what pins pull [m]

vec3 pulled = vec3(0.0);           // way that pins pulled this particle in the substep, as far as surfaces undo it [m]
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
// each other, and a little.
void meet_firm(Contact contact, Moment now, inout Particle moved) {
    ROUGHEN(contact)
    float met = max(dot(contact.velocity, contact.normal), 0.0) + max(-dot(now.velocity, contact.normal), 0.0);
    float give = u_push.x + max(-dot(pulled, contact.normal), 0.0);
    contact.distance = max(contact.distance, now.clearance - give - now.substep * met);
    bounce_contact(moved.position, moved.velocity, contact, now.clearance, now.substep);
}

void meet_yielding(Contact contact, Moment now, inout Particle moved) {
    ROUGHEN(contact)
    Particle pushed = moved;
    bounce_contact(pushed.position, pushed.velocity, contact, now.clearance, now.substep);
    float most = u_push.y * now.substep;
    moved.velocity += shortened(pushed.velocity - moved.velocity, most);
    most = most * now.substep + max(-dot(pulled, contact.normal), 0.0);
    moved.position += shortened(pushed.position - moved.position, most);
}

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
            meet_yielding(contact, now, moved);
        } else {
            meet_firm(contact, now, moved);
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
    uint firm = SKIN_ANY;
#ifdef YIELDING_SKIN
    firm = SKIN_FIRM;
    // An arm is as firm as the body, except where it presses a particle that has no room against it: there pushes in turn
    // would add up.
    Contact body = skin_contact_with(firm, id, before.position, moved.position, begins, fraction, substep);
    Contact arm = skin_contact_with(SKIN_YIELDS, id, before.position, moved.position, begins, fraction, substep);
    float room = dot(body.normal, arm.normal) < 0.0 ? body.distance - clearance : SKIN_FAR;
    float share = (skin_met & SKIN_THIN) != 0u ? 0.0 : smoothstep(0.0, max(clearance, CLOTH_TINY), room);
    Particle yielded = moved;
    meet_yielding(arm, now, yielded);
    meet_firm(arm, now, moved);
    moved.position = mix(yielded.position, moved.position, share);
    moved.velocity = mix(yielded.velocity, moved.velocity, share);
#endif
#endif
    for (int i = 0; i < PLANES; ++i) {
        meet_firm(plane_contact(u_colliders, i, moved.position, fraction), now, moved);
    }
    for (int i = PLANES; i < PLANES + OVALS; ++i) {
        meet_firm(oval_contact(i, moved.position, fraction, substep), now, moved);
    }
#ifdef OTHERS
    search_contacts(PLANES + OVALS, count, false, now, moved);
#endif
#ifdef SKIN
    meet_firm(skin_contact_with(firm, id, before.position, moved.position, begins, fraction, substep), now, moved);
#endif
}
