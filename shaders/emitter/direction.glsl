// Directions that particles start in.
// Inputs: random numbers, 0 up to and without 1; angles [rad]. Outputs: unit vectors.
// `cap_direction` and `about_normal` are named as in tests/oracles/emission.py.
// References: T. Duff et al. 2017, "Building an orthonormal basis, revisited", JCGT 6(1).

const float TWO_PI = 6.283185307179586;

// Uniform on the cap about y whose height is `rise`, 1 - cosine of half its opening.
vec3 cap_direction(float rise, vec2 random) {
    float t = random.x * rise;
    float across = sqrt(t * (2.0 - t));
    float turn = TWO_PI * random.y;
    return vec3(across * cos(turn), 1.0 - t, across * sin(turn));
}

// Uniform in both angles; pitch counts from the horizontal, yaw from z.
vec3 angle_direction(vec4 angles, vec2 random) {
    float yaw = angles.x + angles.y * (random.x - 0.5);
    float pitch = angles.z + angles.w * (random.y - 0.5);
    float level = cos(pitch);
    return vec3(-sin(yaw) * level, sin(pitch), cos(yaw) * level);
}

// A direction about y turned so that y becomes `normal`.
vec3 about_normal(vec3 normal, vec3 direction) {
    float side = normal.y >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (side + normal.y);
    float b = normal.z * normal.x * a;
    vec3 first = vec3(side * b, -side * normal.z, 1.0 + side * normal.z * normal.z * a);
    vec3 second = vec3(side + normal.x * normal.x * a, -normal.x, b);
    return direction.z * first + direction.y * normal + direction.x * second;
}
