// Probes colliders at world points [m]: the contact of each point with one collider, at its own moment.
// Inputs: probe records (point, moment, collider, thickness, velocity). Outputs: the contact, and point and velocity
// after both kinds of answer to it.
// Reference: see common/collide.glsl.

#include "common/collide.glsl"

uniform samplerBuffer u_colliders;
uniform float u_substep;

void run(int id) {
#ifdef PRESSING
    resting_acceleration = PRESSING;
#endif
    int index = int(a_collider);
    Contact contact = collider_contact(u_colliders, index, a_point, a_fraction, u_substep);
    o_distance = contact.distance;
    o_normal = contact.normal;
    o_friction = contact.friction;
    o_surface_velocity = contact.velocity;
    o_restitution = contact.restitution;

    vec3 position = a_point;
    vec3 previous = a_point - u_substep * a_velocity;
    resolve_contact(position, previous, contact, a_thickness, u_substep);
    o_position = position;
    o_previous = previous;

    vec3 bounced = a_point;
    vec3 velocity = a_velocity;
    bounce_contact(bounced, velocity, contact, a_thickness, u_substep);
    o_velocity = velocity;
    o_next = float(collider_next(u_colliders, index, index + 1, a_point, a_fraction, a_thickness));
    o_spare = a_spare.x;
}
