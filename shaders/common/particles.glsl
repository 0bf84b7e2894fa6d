// What kernels of particles get and need, see sim/kinds/particle_system.py: state, colliders, force fields, the hand, and
// the placement of the node. World space, metres and seconds; a kernel computes one particle, `id`, of the next substep.

#include "common/collide.glsl"

uniform samplerBuffer u_state;       // 2 texels a particle: position [m], free | velocity [m/s], free
uniform samplerBuffer u_fields;      // 2 texels a particle: acceleration [m/s2], drag [1/s] | velocity of the air [m/s]
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform mat4 u_placement;            // of the node at the end of the step
uniform mat4 u_placement_before;     // at its start
uniform int u_grabbed;               // dragged particle, or -1
uniform vec3 u_hand;                 // its target [m]
uniform vec2 u_step;                 // duration of the substep [s], fraction of the step at its end

vec3 position_of(int id) {
    return texelFetch(u_state, 2 * id).xyz;
}

vec3 velocity_of(int id) {
    return texelFetch(u_state, 2 * id + 1).xyz;
}

// A point in the frame of the node, in the world at the end of the substep.
vec3 placed(vec3 point) {
    vec4 local = vec4(point, 1.0);
    return mix((u_placement_before * local).xyz, (u_placement * local).xyz, u_step.y);
}

// A velocity with the acceleration and the drag of the force fields, and `drag` [1/s] against their air.
vec3 in_fields(int id, vec3 velocity, float drag) {
    vec4 push = texelFetch(u_fields, 2 * id);
    vec3 air = texelFetch(u_fields, 2 * id + 1).xyz;
    velocity += u_step.x * push.xyz;
    return air + (velocity - air) * exp(-(drag + push.w) * u_step.x);
}

// Moves a particle with a radius out of all colliders.
void collide(inout vec3 position, inout vec3 velocity, float radius) {
    int i = collider_next(u_colliders, 0, u_collider_count, position, u_step.y, radius);
    while (i < u_collider_count) {
        Contact contact = collider_contact(u_colliders, i, position, u_step.y, u_step.x);
        bounce_contact(position, velocity, contact, radius, u_step.x);
        i = collider_next(u_colliders, i + 1, u_collider_count, position, u_step.y, radius);
    }
}
