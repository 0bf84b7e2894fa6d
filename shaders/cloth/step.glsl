// Moves one particle of a cloth over a substep.
// Inputs: state of all particles, springs, air, pins, colliders, substep [s]; world space, SI. Outputs: the same record.
// Position Verlet x' = x + h v', v' = v + h a, which carries v = (x - x_before) / h in position of x_before, and x with its
// remainder: the same numbers without the rounding that swallows gravity in short substeps.
// GRID takes neighbours by arithmetic, otherwise from tables; SHEAR, BEND, AIR, GUSTS, SELF, MET, PINS, COLLIDERS, SKIN,
// FIELDS are optional parts; SKIN needs COLLIDERS. PIN_MAPS pulls particles to their places and limits their distance from
// them, FRICTION_MAP scales the friction of contacts, SPRING_MAPS the springs of a sheet: painted maps. FIELDS takes the
// acceleration as one kick in the first substep, and holds air and drag over the step.
// References: L. Verlet 1967; see cloth/spring.glsl, cloth/air.glsl, cloth/contact.glsl, cloth/self_contact.glsl,
// cloth/met.glsl.

// Included here once: an include is text even inside a branch that the preprocessor removes.
#include "cloth/spring.glsl"
#include "cloth/offset.glsl"
#include "cloth/air.glsl"
#define CENTRED
#ifdef GRID
#include "cloth/grid.glsl"
#else
#include "cloth/mesh.glsl"
#endif
#ifdef COLLIDERS
#include "cloth/contact.glsl"
#endif
#ifdef SELF
#include "cloth/self_contact.glsl"
#endif
#ifdef MET
#include "cloth/met.glsl"
#endif

uniform float u_substep;           // [s]
uniform float u_inverse_mass;      // inverse mass of a particle with a share of 1
uniform vec3 u_gravity;            // [m/s2]
uniform float u_air_drag;          // [1/s]
uniform vec3 u_wind;               // [m/s]
uniform vec2 u_drag;               // half the air's density times the coefficients, normal and tangential
uniform float u_clearance;         // distance from colliders [m]
uniform vec2 u_progress;           // this substep as a part of the rest of the step; fraction of the step at its end
#ifdef PRESSURE
uniform float u_pressure;          // [Pa], times the part of `area_around` that a particle has
#endif
uniform int u_grabbed;             // particle that is dragged, or -1
#ifdef PINS
uniform samplerBuffer u_pins;      // target [m], 1 if held
#endif
#if defined(PIN_MAPS) || defined(FRICTION_MAP)
uniform samplerBuffer u_maps;      // part of the way to the target in a substep, largest distance [m], friction, 0
#endif
#ifdef FIELDS
uniform samplerBuffer u_fields;    // see common/fields_sample.glsl
uniform vec2 u_kick;               // duration of the step [s], fraction of the step below which the first substep ends
#endif
#ifdef GUSTS
uniform vec4 u_waves[WAVE_COUNT];
uniform vec3 u_amplitudes[WAVE_COUNT];
#endif

vec3 air_at(vec3 point) {
#ifdef GUSTS
    return air_velocity(u_wind, u_waves, u_amplitudes, point);
#else
    return u_wind;
#endif
}

#include "cloth/held.glsl"

#ifdef PIN_MAPS
#include "cloth/pin_maps.glsl"
#endif

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    vec4 second = texelFetch(u_state, 2 * id + 1);
    vec3 here = first.xyz;
    vec3 remainder = remainder_of(second.w, here);
    Particle own = Particle(remainder, second.xyz);
    centre = here;
    vec3 air = vec3(0.0);
#ifdef AIR
    air = air_at(here);
#endif
#ifdef FIELDS
    vec4 pushed = texelFetch(u_fields, 2 * id);
    vec3 field_air = texelFetch(u_fields, 2 * id + 1).xyz;
    air += field_air;
#endif
    vec3 force = neighbour_forces(id, own, air, u_drag);
#ifdef PRESSURE
    force += u_pressure * area_around(id, own);
#endif
    vec3 acceleration = u_gravity + force * (first.w * u_inverse_mass) - u_air_drag * own.velocity;
    vec3 velocity = own.velocity + u_substep * acceleration;
#ifdef FIELDS
    velocity += (u_progress.y < u_kick.y ? u_kick.x : 0.0) * pushed.xyz;
    vec3 carried = air_at(here) + field_air;
    velocity = carried + exp(-pushed.w * u_substep) * (velocity - carried);
#endif
    vec3 way = u_substep * velocity;
    bool held = false;
#ifdef PINS
    vec4 pin = texelFetch(u_pins, id);
#ifdef PIN_MAPS
    vec4 map = texelFetch(u_maps, id);
    MovingTarget target = moving_target(id);
    if (target.exists > 0.0 && map.x > 0.0 && map.x < 1.0) {
        vec3 pull = pull_of(target, map.x, way, (target.position - here) - remainder);
        way += pull;
        velocity = way / u_substep;
#ifdef COLLIDERS
        pulled = pull;
#endif
    }
    pin.w *= float(map.x >= 1.0);
#endif
    if (pin.w > 0.0) {
        held = true;
        way = way_along((pin.xyz - here) - remainder, 1e30);
    }
#endif
    if (id == u_grabbed) {
        held = is_dragged(here, remainder, force, way) || held;
    }
    vec3 offset = remainder + way;
    Particle solved = Particle(here + offset, held ? way / u_substep : velocity);
    Particle moved = solved;
#ifdef SELF
    vec3 change;
    vec3 push;
    self_contact(id, first, own.velocity, u_substep, change, push);
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
#ifdef COLLIDERS
#ifdef FRICTION_MAP
    friction_factor = texelFetch(u_maps, id).z;
#endif
    vec3 pressing = u_gravity;
#ifdef FIELDS
    pressing += (u_progress.y < u_kick.y ? u_kick.x / u_substep : 0.0) * pushed.xyz;
#endif
    resting_acceleration = length(pressing);
    collide(id, Particle(here, own.velocity + u_substep * pressing), moved, u_progress.y, u_clearance, u_substep);
#endif
    if (held) {
        moved = solved;
    }
#ifdef PIN_MAPS
    keep_near(target, map.y, here, moved.position, moved.velocity);
#endif
    vec4 place = moved_by(here, offset + (moved.position - solved.position));
    o_position = vec4(place.xyz, first.w);
    o_velocity = vec4(moved.velocity, place.w);
}
