// What stands in the place of a life for those that are dead, and what is no place for a particle.
// Inputs: world places [m], velocities [m/s]. Outputs: whether both are numbers within the world.
// The numbers are those of sim/systems/particle_buffers.py.

const float DEAD = -1.0;
const float LONG_DEAD = -1e6;      // lives do not fall below this
const float BROKEN = -1e7;         // the particle left the world
const float BROKEN_BELOW = -2e6;
const float WORLD_END = 1e12;

// False also for what is not a number.
bool is_sound(vec3 position, vec3 velocity) {
    float end = WORLD_END * WORLD_END;
    return dot(position, position) < end && dot(velocity, velocity) < end;
}
