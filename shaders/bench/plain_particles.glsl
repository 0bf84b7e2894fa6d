// Baseline for benchmarks: one step of a fountain in plain textbook form.
// Inputs: position and remaining life [frames], motion per frame and total life (attributes), frame number.
// Outputs: the same two. The floor is y = 0.
// Reference: M. Movania, OpenGL Development Cookbook (2013), chapter 8 (the method, not the text).

uniform float u_frame;

const float PI = 3.14159265;
const vec3 FORCE = vec3(0.0, -0.001, 0.0);

uint hashed(uint x) {
    x += x << 10u;
    x ^= x >> 6u;
    x += x << 3u;
    x ^= x >> 11u;
    x += x << 15u;
    return x;
}

float random(float f) {
    uint mantissa = hashed(floatBitsToUint(f)) & 0x007fffffu;
    return uintBitsToFloat(mantissa | 0x3f800000u) - 1.0;
}

void run(int id) {
    vec3 place = a_position.xyz;
    vec3 motion = a_velocity.xyz;
    float life = a_position.w;
    float whole = a_velocity.w;
    if (life > 0.0) {
        place += motion;
        motion += FORCE;
        if (place.y <= 0.0) {
            motion = reflect(motion, vec3(0.0, 1.0, 0.0)) * 0.9995;
        }
        life -= 1.0;
    } else {
        float seed = u_frame + float(id);
        float yaw = random(seed) * 2.0 * PI;
        float pitch = PI / 2.0 + random(seed + 1.0) * PI / 4.0;
        float speed = 0.05 + 0.01 * random(seed + 2.0);
        whole = 60.0 + 15.0 * random(seed + 3.0);
        place = vec3(0.0);
        motion = speed * vec3(-sin(yaw) * cos(pitch), sin(pitch), cos(pitch) * cos(yaw));
        life = whole;
    }
    o_position = vec4(place, life);
    o_velocity = vec4(motion, whole);
}
