// Particles that painted maps pull to their places, or keep near them.
// Inputs: places at both ends of the step, fraction of the step at the end of the substep, substep [s]. Outputs: ways,
// corrected position and velocity. World space, SI. u_pins, u_progress and u_substep come before.

uniform samplerBuffer u_former;    // targets at the start of the step
uniform float u_step;              // [s]

// A place that moves evenly over the step.
struct MovingTarget {
    vec3 before;                   // at the start of the substep [m]
    vec3 position;                 // at its end [m]
    vec3 velocity;                 // [m/s]
    float exists;
};

MovingTarget moving_target(int id) {
    vec4 last = texelFetch(u_pins, id);
    vec3 first = texelFetch(u_former, id).xyz;
    vec3 now = mix(first, last.xyz, u_progress.y);
    vec3 velocity = (last.xyz - first) / u_step;
    return MovingTarget(now - u_substep * velocity, now, velocity, last.w);
}

// What a critically damped spring to its target, implicit in time, adds to the way of a particle in a substep. `whole` leads to
// the target [m]; see `particle_texels` for the share. The inertia of the particle grows by 1 / (1 - share)^2.
vec3 pull_of(MovingTarget target, float share, vec3 way, vec3 whole) {
    vec3 slip = u_substep * target.velocity - way;
    return share * share * (whole - way) + 2.0 * (1.0 - share) * share * slip;
}

const float PULL = 4.0;            // speed of particles that are farther away when their map is painted [m/s]

// Keeps a particle within a distance of its target, and removes the velocity that leads away.
void keep_near(MovingTarget target, float largest, vec3 former, inout vec3 position, inout vec3 velocity) {
    float allowed = max(largest, distance(former, target.before) - PULL * u_substep);
    vec3 apart = position - target.position;
    float reach = sqrt(dot(apart, apart));
    if (target.exists > 0.0 && reach > allowed) {
        vec3 outward = apart / reach;
        position = target.position + allowed * outward;
        velocity -= max(dot(velocity - target.velocity, outward), 0.0) * outward;
    }
}
