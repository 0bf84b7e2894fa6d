// Where one particle of a cloth would be after a substep without its threads.
// Inputs: state of all particles, air, pins, substep [s], loads; world space, SI. Outputs: offset from the position of the
// state [m]; inverse mass, 0 if held, negative with more inertia, and of all particles to find the loads.
// Air resists as if it acted over the whole substep, so that no drag throws a light fabric about.
// GRID, AIR, GUSTS, PINS, PIN_MAPS, SPRING_MAPS, FIELDS as in cloth/step.glsl.
// Where taut edges would need shorter substeps, particles have more inertia, not more weight: what hangs still hangs as it
// would, and does not jitter.
// Reference: T. Belytschko et al. 2013, "Nonlinear finite elements for continua and structures", mass scaling.

#include "cloth/spring.glsl"
#include "cloth/offset.glsl"
#include "cloth/air.glsl"
#ifdef GRID
#include "cloth/grid.glsl"
#else
#include "cloth/mesh.glsl"
#endif
#include "cloth/line_forces.glsl"

uniform float u_substep;           // [s]
uniform float u_inverse_mass;      // inverse mass of a particle with a share of 1
uniform vec3 u_gravity;            // [m/s2]
uniform float u_air_drag;          // [1/s]
uniform vec3 u_wind;               // [m/s]
uniform vec2 u_drag;               // half the air's density times the coefficients, normal and tangential
uniform vec2 u_progress;           // this substep as a part of the rest of the step; fraction of the step at its end,
                                   // -1 to find the loads
uniform samplerBuffer u_loads;     // see cloth/line_move.glsl
uniform float u_inertia;           // inertia over mass for a load of 1
#ifdef PRESSURE
uniform float u_pressure;          // as in cloth/step.glsl
#endif
uniform int u_grabbed;             // particle that is dragged, or -1
#ifdef PINS
uniform samplerBuffer u_pins;      // target [m], 1 if held
#endif
#ifdef PIN_MAPS
uniform samplerBuffer u_maps;      // as in cloth/step.glsl
#endif
#ifdef FIELDS
uniform samplerBuffer u_fields;    // see common/fields_sample.glsl
uniform vec2 u_kick;               // as in cloth/step.glsl
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
    Particle own = Particle(first.xyz, second.xyz);
    vec3 remainder = remainder_of(second.w, first.xyz);
    float inverse_mass = first.w * u_inverse_mass;
    vec3 acceleration = u_gravity;
    float inertia = max(1.0, u_inertia * texelFetch(u_loads, id).w);
    vec3 kept = own.velocity / (1.0 + u_substep * u_air_drag);
    vec3 air = air_at(own.position);
#ifdef FIELDS
    vec4 pushed = texelFetch(u_fields, 2 * id);
    air += texelFetch(u_fields, 2 * id + 1).xyz;
    // The pass that finds the loads is no substep, and has the average of the step.
    acceleration += u_progress.y > 0.0 ? vec3(0.0) : pushed.xyz;
    kept += (u_progress.y > 0.0 && u_progress.y < u_kick.y ? u_kick.x / inertia : 0.0) * pushed.xyz;
    kept = air + exp(-pushed.w * u_substep) * (kept - air);
#endif
#ifdef AIR
    vec3 force = neighbour_air(id, own, air, u_drag);
    vec3 relative = air - own.velocity;
    float speed = max(sqrt(dot(relative, relative)), CLOTH_TINY);
    // Faces with slow corners do not drive a fast particle away from the air.
    force *= float(dot(force, relative) > 0.0);
    acceleration += force * (inverse_mass / (1.0 + u_substep * inverse_mass * sqrt(dot(force, force)) / speed));
#endif
#ifdef PRESSURE
    acceleration += inverse_mass * u_pressure * area_around(id, own);
#endif
    inverse_mass /= inertia > 1.0 || u_progress.y < 0.0 ? -inertia : inertia;
    vec3 way = u_substep * (kept + u_substep * acceleration / inertia);
#ifdef PINS
    vec4 pin = texelFetch(u_pins, id);
#ifdef PIN_MAPS
    float share = texelFetch(u_maps, id).x;
    MovingTarget target = moving_target(id);
    // In the pass that finds the loads nothing moves.
    if (target.exists > 0.0 && share > 0.0 && share < 1.0 && u_progress.y > 0.0) {
        way += pull_of(target, share, way, (target.position - own.position) - remainder);
        inverse_mass *= (1.0 - share) * (1.0 - share);
    }
    pin.w *= float(share >= 1.0);
#endif
    if (pin.w > 0.0) {
        way = way_along((pin.xyz - own.position) - remainder, 1e30);
        inverse_mass = 0.0;
    }
#endif
    if (id == u_grabbed && is_dragged(own.position, remainder, thread_force(id, own), way)) {
        inverse_mass = 0.0;
    }
    o_point = vec4(remainder + way, inverse_mass);
}
