// Moves one particle of a cloth over a substep.
// Inputs: state of all particles, springs, air, pins, colliders, substep [s]; world space, SI. Outputs: the same record.
// Position Verlet x' = x + h v', v' = v + h a, which carries v = (x - x_before) / h in position of x_before: the same numbers
// without the rounding that swallows gravity in short substeps.
// GRID takes neighbours by arithmetic, otherwise from tables; SHEAR, BEND, AIR, GUSTS, SELF, MET, PINS, COLLIDERS, SKIN,
// FIELDS are optional parts; SKIN needs COLLIDERS. PIN_MAPS pulls particles to their places and limits their distance from
// them, FRICTION_MAP scales the friction of contacts, SPRING_MAPS the springs of a sheet: painted maps. FIELDS takes the
// acceleration as one kick in the first substep, and holds air and drag over the step.
// References: L. Verlet 1967; see cloth/spring.glsl, cloth/air.glsl, cloth/contact.glsl, cloth/self_contact.glsl,
// cloth/met.glsl.

// Included here once: an include is text even inside a branch that the preprocessor removes.
#include "cloth/spring.glsl"
#include "cloth/air.glsl"
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
uniform int u_grabbed;             // particle that is dragged, or -1
uniform vec4 u_hand;               // its target [m], and how far it may move in a substep [m]
uniform float u_hand_pull;         // largest force of dragging [N]
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

// Moves a held particle to its target, so that it arrives with the last substep of the step.
void hold(vec3 before, vec3 target, float reach, out vec3 position, out vec3 velocity) {
    vec3 way = (target - before) * u_progress.x;
    way *= min(1.0, reach / max(sqrt(dot(way, way)), CLOTH_TINY));
    position = before + way;
    velocity = way / u_substep;
}

// Moves a dragged particle: slower the harder the fabric pulls back; beyond the largest force it slips, so that dragging
// cannot tear the cloth.
void follow_hand(vec3 before, vec3 force, inout vec3 position, inout vec3 velocity) {
    float pull = dot(force, u_hand.xyz - before) > 0.0 ? 0.0 : sqrt(dot(force, force));
    if (pull < u_hand_pull) {
        hold(before, u_hand.xyz, u_hand.w, position, velocity);
        float share = min(1.0, 2.0 - 2.0 * pull / u_hand_pull);
        position = mix(before, position, share);
        velocity *= share;
    }
}

#ifdef PIN_MAPS
#include "cloth/pin_maps.glsl"
#endif

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    Particle own = Particle(first.xyz, texelFetch(u_state, 2 * id + 1).xyz);
    vec3 air = vec3(0.0);
#ifdef AIR
    air = air_at(own.position);
#endif
#ifdef FIELDS
    vec4 pushed = texelFetch(u_fields, 2 * id);
    vec3 field_air = texelFetch(u_fields, 2 * id + 1).xyz;
    air += field_air;
#endif
    vec3 force = neighbour_forces(id, own, air, u_drag);
    vec3 acceleration = u_gravity + force * (first.w * u_inverse_mass) - u_air_drag * own.velocity;
    vec3 velocity = own.velocity + u_substep * acceleration;
#ifdef FIELDS
    velocity += (u_progress.y < u_kick.y ? u_kick.x : 0.0) * pushed.xyz;
    vec3 carried = air_at(own.position) + field_air;
    velocity = carried + exp(-pushed.w * u_substep) * (velocity - carried);
#endif
    vec3 position = own.position + u_substep * velocity;
#ifdef SELF
    vec3 change;
    vec3 push;
    self_contact(id, first, own.velocity, u_substep, change, push);
    velocity += change;
    position += u_substep * change + push;
#endif
#ifdef MET
    vec3 impulse;
    vec3 shift;
    met_contact(id, impulse, shift);
    float inverse_mass = first.w * u_inverse_mass;
    velocity += inverse_mass * impulse;
    position += inverse_mass * (u_substep * impulse + shift);
#endif
#ifdef COLLIDERS
    Particle moved = Particle(position, velocity);
#ifdef FRICTION_MAP
    friction_factor = texelFetch(u_maps, id).z;
#endif
    collide(id, own, moved, u_progress.y, u_clearance, u_substep);
    position = moved.position;
    velocity = moved.velocity;
#endif
#ifdef PIN_MAPS
    vec4 map = texelFetch(u_maps, id);
    MovingTarget target = moving_target(id);
    if (target.exists > 0.0 && map.x < 1.0) {
        attract(target, map.x, position, velocity);
    } else if (target.exists > 0.0) {
        hold(own.position, texelFetch(u_pins, id).xyz, 1e30, position, velocity);
    }
#elif defined(PINS)
    vec4 pin = texelFetch(u_pins, id);
    if (pin.w > 0.0) {
        hold(own.position, pin.xyz, 1e30, position, velocity);
    }
#endif
    if (id == u_grabbed) {
        follow_hand(own.position, force, position, velocity);
    }
#ifdef PIN_MAPS
    keep_near(target, map.y, own.position, position, velocity);
#endif
    o_position = vec4(position, first.w);
    o_velocity = vec4(velocity, 0.0);
}
