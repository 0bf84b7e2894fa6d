// Lives of dead and broken particles, and the check for positions outside the world.
// Inputs: world positions [m], velocities [m/s]. Outputs: whether both are numbers within the world.
// The numbers are those of sim/kinds/emitter/buffers.py.

const float DEAD = -1.0;
const float LONG_DEAD = -1e6;      // lives do not fall below this
const float BROKEN = -1e7;         // the particle left the world
const float BROKEN_BELOW = -2e6;
const float WORLD_END = 1e12;

// False also for NaN.
bool is_sound(vec3 position, vec3 velocity) {
    float end = WORLD_END * WORLD_END;
    return dot(position, position) < end && dot(velocity, velocity) < end;
}
