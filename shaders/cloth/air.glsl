// Force of the air on one corner of a face, and the velocity of gusty air.
// Inputs: area vectors [m2], velocities [m/s], half the density times the drag coefficients [kg/m3]. Outputs: force [N].
// The force on a face is |w| (C_n (w.n) n + C_t (w - (w.n) n)) A rho / 2 with w the air relative to the face.
// Reference: Kraichnan 1970, "Diffusion by a random velocity field", for the gusts (named as in sim/cloth/wind.py).

const int WAVE_COUNT = 8;

// `area` is the face's normal times its area; `share` the part of the face that belongs to this corner.
vec3 air_force(vec3 area, vec3 relative, float normal_drag, float tangent_drag, float share) {
    float size = sqrt(dot(area, area));
    float speed = sqrt(dot(relative, relative));
    vec3 across = area * (dot(relative, area) / max(size, CLOTH_TINY));
    return (share * speed) * (normal_drag * across + tangent_drag * (size * relative - across));
}

// Wind plus waves without divergence; `waves` are wave vectors and phases.
vec3 air_velocity(vec3 wind, vec4 waves[WAVE_COUNT], vec3 amplitudes[WAVE_COUNT], vec3 point) {
    vec3 velocity = wind;
    for (int i = 0; i < WAVE_COUNT; ++i) {
        velocity += amplitudes[i] * cos(dot(waves[i].xyz, point) + waves[i].w);
    }
    return velocity;
}
