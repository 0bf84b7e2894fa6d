// Sweeps world paths [m] of one substep against one collider each, and answers them.
// Inputs: path records (start, end, the substep as fractions, collider, thickness). Outputs: entry, contact, answer.
// Reference: see common/sweep.glsl.

#include "common/sweep.glsl"

uniform samplerBuffer u_colliders;
uniform float u_substep;

void run(int id) {
    int index = int(a_collider);
    Hit hit = collider_sweep(u_colliders, index, a_start, a_end, a_fractions.x, a_fractions.y);
    o_time = hit.time;
    o_point = hit.point;
    o_entry_normal = hit.normal;
    o_found = hit.found ? 1.0 : 0.0;
    Contact contact =
        swept_contact(u_colliders, index, a_start, a_end, a_fractions.x, a_fractions.y, u_substep);
    o_distance = contact.distance;
    o_normal = contact.normal;
    o_velocity = contact.velocity;
    vec3 position = a_end;
    vec3 previous = a_start;
    resolve_contact(position, previous, contact, a_thickness, u_substep);
    o_position = position;
    o_spare = a_spare.x;
    o_more = 0.0;
}
