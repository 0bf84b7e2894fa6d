// Energies [J] and the largest strain of one particle; a particle that is nowhere gets a strain beyond every limit.
// Inputs: state of all particles, springs, masses, gravity; world space, SI. Outputs: one record of four numbers.
// Potential energy counts from the world's origin. Reference: see cloth/spring.glsl.

// Included once and for both: the include below is text, whatever the preprocessor leaves out.
#include "cloth/spring.glsl"
#include "cloth/air.glsl"
#ifdef GRID
#include "cloth/grid.glsl"
#else
#include "cloth/mesh.glsl"
#endif

uniform float u_inverse_mass;      // inverse mass of a particle with a share of 1
uniform vec3 u_gravity;            // [m/s2]
uniform int u_count;               // particles; records after them are padding

const float BEYOND = 1e30;
const float WORLD_END = 1e7;       // [m] and [m/s]; comparisons with it also fail for NaN

bool is_sound(vec3 v) {
    return abs(v.x) < WORLD_END && abs(v.y) < WORLD_END && abs(v.z) < WORLD_END;
}

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    Particle own = Particle(first.xyz, texelFetch(u_state, 2 * id + 1).xyz);
    bool counts = id < u_count && first.w > 0.0;
    bool sound = is_sound(own.position) && is_sound(own.velocity);
    float mass = counts ? 1.0 / (first.w * u_inverse_mass) : 0.0;
    vec2 springs = neighbour_energy(id, own);
    bool usable = counts && sound && springs.y < BEYOND;
    float kinetic = 0.5 * mass * dot(own.velocity, own.velocity);
    float potential = -mass * dot(u_gravity, own.position);
    vec4 nothing = vec4(0.0, 0.0, 0.0, counts ? BEYOND : -1.0);
    o_measure = usable ? vec4(kinetic, springs.x, potential, springs.y) : nothing;
}
