// Place of one particle as a formula of its birth and of time alone.
// Inputs: the block of the emitter, whose births are those of the longest life up to now and whose moments count from
// now. Outputs: the same state as emitter/step.glsl.
// x = x0 + v0 (1 - exp(-c t)) / c + a (t - (1 - exp(-c t)) / c) / c, which is x0 + v0 t + a t2 / 2 without drag.

#include "emitter/birth.glsl"
#include "emitter/motion.glsl"

void run(int id) {
    uint slot = uint(id);
    uint offset = birth_offset(slot);
    uint generation = birth_generation(slot);
    float age = -birth_moment(offset);
    Start start = birth_start(hash_number(slot, generation), 1.0);
    vec3 pace = pace_of(emitter.gravity.w, age * emitter.pace.w);
    vec3 pull = emitter.gravity.xyz + emitter.gravity.w * emitter.air.xyz;
    bool lives = offset < uint(emitter.births.y) && age >= 0.0 && age <= start.life;
    Particle shown = flown(Particle(start.position, start.velocity), pull, pace, vec3(0.0));
    bool sound = is_sound(shown.position, shown.velocity);
    o_position = vec4(sound ? shown.position : vec3(0.0), lives ? (sound ? start.life - age : BROKEN) : DEAD);
    o_velocity = vec4(sound ? shown.velocity : vec3(0.0), float(generation));
}
