// What is drawn of a particle, from its state alone: whether it lives, which part of its life is over, its width.
// Inputs: the two texels of its slot (see emitter/step.glsl), seed and capacity of its emitter, mean [steps] and
// variance of the lifetime, mean [m] and variance of the width.
// Outputs: the same numbers as `shown_particles` of sim/kinds/emitter/system.py.

#include "common/hash.glsl"

struct Shown {
    bool lives;
    float share;     // of its life that is over, 0 to 1
    float size;      // width [m], before the change over its life
    vec3 random;     // its own for life, 0 to 1: image, turn, one to spare
};

Shown shown_particle(vec4 first, vec4 second, uint slot, uvec2 emitter, vec4 spans) {
    uint number = slot + emitter.y * uint(int(second.w));
    vec3 lives = birth_numbers(emitter.x, number, 0u);
    float life = spans.x * (1.0 + spans.y * (2.0 * lives.x - 1.0));
    float size = spans.z * (1.0 + spans.w * (2.0 * lives.z - 1.0));
    float share = clamp(1.0 - first.w / life, 0.0, 1.0);
    return Shown(first.w >= 0.0, share, size, birth_numbers(emitter.x, number, 3u));
}
