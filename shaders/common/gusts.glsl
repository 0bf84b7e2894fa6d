// Velocity of gusty air.
// Inputs: mean wind [m/s], wave vectors [rad/m] and phases, their velocities [m/s], a place in the world [m].
// Outputs: velocity [m/s]. Functions are named as in sim/maths/gusts.py.
// Reference: Kraichnan 1970, "Diffusion by a random velocity field".

const int WAVE_COUNT = 8;

// Wind plus waves without divergence; `waves` are wave vectors and phases.
vec3 air_velocity(vec3 wind, vec4 waves[WAVE_COUNT], vec3 amplitudes[WAVE_COUNT], vec3 point) {
    vec3 velocity = wind;
    for (int i = 0; i < WAVE_COUNT; ++i) {
        velocity += amplitudes[i] * cos(dot(waves[i].xyz, point) + waves[i].w);
    }
    return velocity;
}
