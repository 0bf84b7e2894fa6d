// Springs and faces around a particle of any triangle mesh, from tables of fixed width.
// Inputs: state of all particles, tables of springs (particle, rest
// length, factor) and faces (two other corners), constants of the kinds of springs. Outputs: forces [N], energy [J],
// strain. World space, SI. THREADS, BENDS and FACES are the widths; an empty slot names the particle itself.

#include "cloth/spring.glsl"
#include "cloth/air.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_springs;
uniform usamplerBuffer u_faces;
uniform vec2 u_thread;             // stiffness, damping of structural springs for a factor of 1
uniform vec2 u_bend;               // the same of bend springs
uniform vec2 u_bend_limits;        // shortening times rest length [m2], longest [m]

const int SLOTS = THREADS + BENDS;

#ifdef CENTRED
vec3 centre;                       // positions are offsets from here: a float32 far from the origin is too coarse for forces
#endif

// AIR needs DAMPED: only with it are the velocities of neighbours read.
Particle particle_at(int id) {
    vec3 position = texelFetch(u_state, 2 * id).xyz;
    vec4 second = vec4(0.0);
#if defined(DAMPED) || defined(CENTRED)
    second = texelFetch(u_state, 2 * id + 1);
#endif
#ifdef CENTRED
    position = (position - centre) + remainder_of(second.w, position);
#endif
    return Particle(position, second.xyz);
}

Spring spring_in(vec4 slot, vec2 constants) {
    return Spring(slot.y, slot.z * constants.x, slot.z * constants.y);
}

float bend_low(float rest) {
    return -u_bend_limits.x / max(rest, CLOTH_TINY);
}

// All springs, and the air with AIR.
vec3 neighbour_forces(int id, Particle own, vec3 air, vec2 drag) {
    vec3 total = vec3(0.0);
    for (int i = 0; i < THREADS; ++i) {
        vec4 slot = texelFetch(u_springs, id * SLOTS + i);
        Particle other = particle_at(int(slot.x));
        vec3 apart = own.position - other.position;
        total += spring_force(apart, own.velocity - other.velocity, spring_in(slot, u_thread));
    }
#ifdef BEND
    for (int i = THREADS; i < SLOTS; ++i) {
        vec4 slot = texelFetch(u_springs, id * SLOTS + i);
        Particle other = particle_at(int(slot.x));
        vec3 apart = own.position - other.position;
        Spring spring = spring_in(slot, u_bend);
        total += limited_force(apart, own.velocity - other.velocity, spring, bend_low(slot.y), u_bend_limits.y);
    }
#endif
#ifdef AIR
    for (int i = 0; i < FACES; ++i) {
        uvec4 face = texelFetch(u_faces, id * FACES + i);
        Particle second = particle_at(int(face.x));
        Particle third = particle_at(int(face.y));
        vec3 area = 0.5 * cross(second.position - own.position, third.position - own.position);
        vec3 moving = (own.velocity + second.velocity + third.velocity) * (1.0 / 3.0);
        total += air_force(area, air - moving, drag.x, drag.y, 1.0 / 3.0);
    }
#endif
    return total;
}

// Energy [J] that belongs to the particle (half of each spring's), and the largest strain of its threads.
vec2 neighbour_energy(int id, Particle own) {
    const float FREE = 1e30;
    vec2 found = vec2(0.0, -1.0);
    for (int i = 0; i < SLOTS; ++i) {
        vec4 slot = texelFetch(u_springs, id * SLOTS + i);
        bool is_thread = i < THREADS;
        bool exists = slot.y > 0.0;
        vec3 apart = own.position - particle_at(int(slot.x)).position;
        Spring spring = spring_in(slot, is_thread ? u_thread : u_bend);
        float low = is_thread ? -FREE : bend_low(slot.y);
        found.x += spring_energy(apart, spring, low, is_thread ? FREE : u_bend_limits.y) * float(exists);
        found.y = is_thread && exists ? max(found.y, length(apart) / slot.y - 1.0) : found.y;
    }
    return vec2(0.5 * found.x, found.y);
}

// Sum of the area vectors of the faces around the particle, times two.
vec3 area_around(int id, Particle own) {
    vec3 total = vec3(0.0);
    for (int i = 0; i < FACES; ++i) {
        uvec4 face = texelFetch(u_faces, id * FACES + i);
        total += cross(
            particle_at(int(face.x)).position - own.position, particle_at(int(face.y)).position - own.position
        );
    }
    return total;
}
