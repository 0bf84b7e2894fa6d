// State of one particle of a cloth at the end of a substep of lines.
// Inputs: state at its beginning, solved points (offset [m], inverse mass, 0 if held), colliders. Outputs: the record of
// the state, with the velocity from the offset, after contacts.
// SELF, MET, COLLIDERS, SKIN, FRICTION_MAP, PIN_MAPS, FIELDS as in cloth/step.glsl.

#include "cloth/spring.glsl"
#include "cloth/offset.glsl"
#ifdef COLLIDERS
#include "cloth/contact.glsl"
#endif

uniform samplerBuffer u_state;
uniform samplerBuffer u_points;    // in ORDER
#include "cloth/line_layout.glsl"
#ifdef SELF
#define SOLVED
#include "cloth/self_contact.glsl"
#endif
#ifdef MET
#include "cloth/met.glsl"
uniform float u_inverse_mass;      // inverse mass of a particle with a share of 1
#endif

uniform float u_substep;           // [s]
uniform vec3 u_gravity;            // [m/s2]
#ifdef FIELDS
uniform samplerBuffer u_fields;    // as in cloth/step.glsl
uniform vec2 u_kick;
#endif
uniform float u_clearance;         // distance from colliders [m]
uniform vec2 u_progress;           // as in cloth/step.glsl
#if defined(PIN_MAPS) || defined(FRICTION_MAP)
uniform samplerBuffer u_maps;      // as in cloth/step.glsl
#endif
#ifdef PIN_MAPS
uniform samplerBuffer u_pins;      // target [m], 1 if held
#include "cloth/pin_maps.glsl"
#endif

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    vec4 point = texelFetch(u_points, point_of(id));
    vec3 remainder = remainder_of(texelFetch(u_state, 2 * id + 1).w, first.xyz);
    Particle solved = Particle(first.xyz + point.xyz, (point.xyz - remainder) / u_substep);
    Particle moved = solved;
#ifdef SELF
    vec3 change;
    vec3 push;
    self_contact(id, vec4(solved.position, first.w), solved.velocity, u_substep, change, push);
    moved.velocity += change;
    moved.position += u_substep * change + push;
#endif
#ifdef MET
    vec3 impulse;
    vec3 shift;
    met_contact(id, impulse, shift);
    float inverse_mass = first.w * u_inverse_mass;
    moved.velocity += inverse_mass * impulse;
    moved.position += inverse_mass * (u_substep * impulse + shift);
#endif
#ifdef PIN_MAPS
    vec4 map = texelFetch(u_maps, id);
    MovingTarget target = moving_target(id);
#endif
#ifdef COLLIDERS
#ifdef FRICTION_MAP
    friction_factor = texelFetch(u_maps, id).z;
#endif
    vec3 pressing = u_gravity;
#ifdef FIELDS
    pressing += (u_progress.y < u_kick.y ? u_kick.x / u_substep : 0.0) * texelFetch(u_fields, 2 * id).xyz;
#endif
    resting_acceleration = length(pressing);
    Particle before = Particle(first.xyz, texelFetch(u_state, 2 * id + 1).xyz + u_substep * pressing);
#ifdef PIN_MAPS
    vec3 way = u_substep * before.velocity;
    pulled = pull_of(target, map.x, way, (target.position - first.xyz) - remainder);
    pulled *= float(target.exists > 0.0 && map.x < 1.0);
#endif
    collide(id, before, moved, u_progress.y, u_clearance, u_substep);
#endif
    if (point.w == 0.0) {
        moved = solved;
    }
#ifdef PIN_MAPS
    keep_near(target, map.y, first.xyz, moved.position, moved.velocity);
#endif
    vec4 place = moved_by(first.xyz, point.xyz + (moved.position - solved.position));
    o_position = vec4(place.xyz, first.w);
    o_velocity = vec4(moved.velocity, place.w);
}
