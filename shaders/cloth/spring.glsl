// Force and energy of one damped spring.
// Inputs: offset of the first end from the second [m], their relative velocity [m/s], constants of the spring.
// Outputs: force on the first end [N]; energy [J]. World space. A spring of zero length has no force.
// References: L. Verlet 1967; K.-J. Choi, H.-S. Ko 2002 for springs that push up to a limit (bend springs of a material).

const float CLOTH_TINY = 1e-20;   // lengths [m] and areas [m2] below it have no direction

struct Particle {
    vec3 position;
    vec3 velocity;
};

struct Spring {
    float rest;        // rest length [m]
    float stiffness;   // [N/m]
    float damping;     // [N s/m]
};

// Force on the first end: -(k (|d| - L) + c (v . u)) u with u = d / |d|.
vec3 spring_force(vec3 apart, vec3 relative, Spring spring) {
    float reach = sqrt(dot(apart, apart));
    float inverse = 1.0 / max(reach, CLOTH_TINY);
    float rate = dot(relative, apart) * inverse;
    return apart * (-(spring.stiffness * (reach - spring.rest) + spring.damping * rate) * inverse);
}

// The same with the lengthening clamped [m].
vec3 limited_force(vec3 apart, vec3 relative, Spring spring, float low, float high) {
    float reach = sqrt(dot(apart, apart));
    float inverse = 1.0 / max(reach, CLOTH_TINY);
    float rate = dot(relative, apart) * inverse;
    float longer = clamp(reach - spring.rest, low, high);
    return apart * (-(spring.stiffness * longer + spring.damping * rate) * inverse);
}

// Work that the limited spring has taken up; without limits half of k e^2.
float spring_energy(vec3 apart, Spring spring, float low, float high) {
    float longer = length(apart) - spring.rest;
    float held = clamp(longer, low, high);
    return spring.stiffness * held * (longer - 0.5 * held);
}
