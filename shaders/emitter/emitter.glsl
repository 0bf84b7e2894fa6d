// Constants of one emitter during one step of the simulation, and the state of a particle.
// World space is right-handed, y up, metres and seconds; lives and moments count in steps.
// The layout is the one of sim/kinds/emitter/block.py; a test compares the two.

#include "emitter/life.glsl"

#define SEGMENT_MAX 64

layout(std140) uniform Emitter {
    mat4 world_from_start;   // frame of the source, or of its model, at the start of the step
    mat4 world_from_end;     // the same at its end
    mat4 world_from_aim;     // axes that particles from a surface start about, where they do not follow its normals
    vec4 gravity;            // xyz [m/s2]; w drag [1/s]
    vec4 air;                // xyz wind [m/s]; w part of the source's velocity that is inherited
    vec4 pace;               // xyz of a whole substep, see pace_of in emitter/motion.glsl; w duration of a step [s]
    vec4 turbulence;         // cells per metre, speed [m/s]
    vec4 turbulence_shift;        // xyz how far they went with the wind in their lattice, as part of a cell
    vec4 attractor;          // xyz position [m]; w square of its radius [m2]
    vec4 pull;               // xyz axis of the vortex times its strength, w strength of the pull, both times radius2
    vec4 angles;             // middle and span of yaw, middle and span of pitch [rad]
    vec4 shape;              // xyz edges of a box [m]; w radius [m]
    vec4 cone;               // 1 - cosine of half the opening; y empty part of the radius; z distance from colliders [m]
    vec4 life;               // mean [steps] and variance of the lifetime, mean [m/s] and variance of the speed
    ivec4 numbers;           // seed, capacity, seed of the turbulence
    ivec4 turbulence_cells;       // xyz how far they went, in whole cells
    ivec4 turbulence_phases;      // xyz how far they have changed
    ivec4 births;            // slot of the first birth, how many, generation of the first, births left out before it
    ivec4 counts;            // segments, faces of the source, texels of a vertex
    vec4 segments[SEGMENT_MAX];   // number of the first birth from the first of all, its moment, spacing [steps]
} emitter;

const uint GENERATION_MASK = 0xffffffu;

// Position and velocity of a particle, as the contact functions take them.
struct Particle {
    vec3 position;
    vec3 velocity;
};

// What stands for a birth in the hash.
uint hash_number(uint slot, uint generation) {
    return slot + uint(emitter.numbers.y) * generation;
}
