// Contact of a particle with all colliders, grouped by shape: planes that do not turn, then ellipsoids, then the others.
// Inputs: colliders as packed by sim/colliders/pack.py in that order, moment as a fraction of the step, substep [s];
// world space, metres. Outputs: corrected position and velocity.
// PLANES and OVALS are the numbers of the first two groups; the others are searched for near ones. Software drivers
// run every branch, so that a few colliders of known shapes are faster without a search and without the other shapes.

#include "common/plane.glsl"

#ifdef FRICTION_MAP
float friction_factor;             // of this particle
#define ROUGHEN(contact) contact.friction *= friction_factor;
#else
#define ROUGHEN(contact)
#endif

Contact oval_contact(samplerBuffer colliders, int index, vec3 point, float fraction, float substep) {
    int base = index * COLLIDER_TEXELS;
    ColliderPose pose = collider_pose(colliders, index, fraction);
    vec3 arm = point - pose.centre;
    vec3 local = quaternion_rotate(quaternion_conjugate(pose.orientation), arm);
    vec4 near = ellipsoid_distance(local, texelFetch(colliders, base + 2).xyz, ELLIPSOID_ITERATIONS);
    vec3 normal = quaternion_rotate(pose.orientation, near.xyz);
    vec3 velocity = collider_velocity(colliders, index, arm - near.w * normal, substep);
    vec4 surface = texelFetch(colliders, base + 5);
    return Contact(near.w, normal, velocity, surface.x, surface.y);
}

// Contacts with the near ones of colliders `first` to `count`.
void search_contacts(
    samplerBuffer colliders, int first, int count, inout Particle moved, float fraction, float clearance, float substep
) {
    int index = collider_next(colliders, first, count, moved.position, fraction, clearance);
    while (index < count) {
        Contact contact = collider_contact(colliders, index, moved.position, fraction, substep);
        ROUGHEN(contact)
        bounce_contact(moved.position, moved.velocity, contact, clearance, substep);
        index = collider_next(colliders, index + 1, count, moved.position, fraction, clearance);
    }
}

void collide(samplerBuffer colliders, int count, inout Particle moved, float fraction, float clearance, float substep) {
    for (int i = 0; i < PLANES; ++i) {
        Contact contact = plane_contact(colliders, i, moved.position, fraction);
        ROUGHEN(contact)
        bounce_contact(moved.position, moved.velocity, contact, clearance, substep);
    }
    for (int i = PLANES; i < PLANES + OVALS; ++i) {
        Contact contact = oval_contact(colliders, i, moved.position, fraction, substep);
        ROUGHEN(contact)
        bounce_contact(moved.position, moved.velocity, contact, clearance, substep);
    }
#ifdef OTHERS
    search_contacts(colliders, PLANES + OVALS, count, moved, fraction, clearance, substep);
#endif
}
