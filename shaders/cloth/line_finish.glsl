// State of one particle of a cloth at the end of a substep of lines.
// Inputs: state at its beginning, solved points (position [m], inverse mass, 0 if held), colliders. Outputs: the record of
// the state, with the velocity from the positions, after contacts.
// SELF, COLLIDERS as in cloth/step.glsl.

#include "cloth/spring.glsl"
#ifdef COLLIDERS
#include "cloth/contact.glsl"
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
#endif

uniform samplerBuffer u_state;
#ifdef SELF
#include "cloth/self_contact.glsl"
#endif

uniform samplerBuffer u_points;
uniform float u_substep;           // [s]
uniform float u_clearance;         // distance from colliders [m]
uniform vec2 u_progress;           // as in cloth/step.glsl

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    vec4 point = texelFetch(u_points, id);
    Particle moved = Particle(point.xyz, (point.xyz - first.xyz) / u_substep);
    Particle free = moved;
#ifdef SELF
    vec3 change;
    vec3 push;
    self_contact(id, first, texelFetch(u_state, 2 * id + 1).xyz, u_substep, change, push);
    free.velocity += change;
    free.position += u_substep * change + push;
#endif
#ifdef COLLIDERS
    collide(u_colliders, u_collider_count, free, u_progress.y, u_clearance, u_substep);
#endif
    bool held = point.w == 0.0;
    o_position = vec4(held ? moved.position : free.position, first.w);
    o_velocity = vec4(held ? moved.velocity : free.velocity, 0.0);
}
