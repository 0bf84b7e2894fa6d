// One substep of a rope: every knot moves, is pulled to the knot before it, and leaves the colliders.
#include "common/collide.glsl"
#include "acme.rope/link.glsl"

uniform samplerBuffer u_state;       // 2 texels a knot: position [m] | velocity [m/s]
uniform samplerBuffer u_fields;      // 2 texels a knot: acceleration [m/s2], drag [1/s] | velocity of the air [m/s]
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform vec3 u_anchor;               // of the first knot at the end of the step [m]
uniform vec3 u_anchor_before;        // at its start
uniform vec3 u_rope;                 // length of a link [m], radius [m], drag [1/s]
uniform int u_grabbed;               // dragged knot, or -1
uniform vec3 u_hand;                 // its target [m]
uniform vec2 u_step;                 // duration of the substep [s], fraction of the step at its end

const vec3 GRAVITY = vec3(0.0, -9.81, 0.0);
const float PULL = 400.0;            // of the hand [1/s2]

void run(int id) {
    vec3 before = texelFetch(u_state, 2 * id).xyz;
    vec3 velocity = texelFetch(u_state, 2 * id + 1).xyz;
    vec3 anchor = mix(u_anchor_before, u_anchor, u_step.y);
    vec4 push = texelFetch(u_fields, 2 * id);
    vec3 air = texelFetch(u_fields, 2 * id + 1).xyz;
    velocity += u_step.x * (GRAVITY + push.xyz);
    if (id <= u_grabbed) {
        velocity += u_step.x * PULL * (mix(anchor, u_hand, float(id) / float(max(u_grabbed, 1))) - before);
        velocity *= exp(-0.1 * PULL * u_step.x);
    }
    velocity = air + (velocity - air) * exp(-(u_rope.z + push.w) * u_step.x);
    vec3 position = before + u_step.x * velocity;
    if (id == 0) {
        position = anchor;
    } else {
        vec3 above = texelFetch(u_state, 2 * id - 2).xyz;
        position = on_link(above, position, u_rope.x);
        velocity = (position - before) / u_step.x;
        int i = collider_next(u_colliders, 0, u_collider_count, position, u_step.y, u_rope.y);
        while (i < u_collider_count) {
            Contact contact = collider_contact(u_colliders, i, position, u_step.y, u_step.x);
            bounce_contact(position, velocity, contact, u_rope.y, u_step.x);
            i = collider_next(u_colliders, i + 1, u_collider_count, position, u_step.y, u_rope.y);
        }
    }
    o_position = vec4(position, 0.0);
    o_velocity = vec4(id == 0 ? vec3(0.0) : velocity, 0.0);
}
