// One substep of a rope: every knot moves, is pulled to the knot before it, and leaves the colliders.
#include "common/particles.glsl"
#include "acme.rope/link.glsl"

uniform vec3 u_rope;                 // length of a link [m], radius [m], drag [1/s]

const vec3 GRAVITY = vec3(0.0, -9.81, 0.0);
const float PULL = 400.0;            // of the hand [1/s2]

void run(int id) {
    vec3 before = position_of(id);
    vec3 velocity = velocity_of(id);
    vec3 anchor = placed(vec3(0.0));
    velocity += u_step.x * GRAVITY;
    if (id <= u_grabbed) {
        velocity += u_step.x * PULL * (mix(anchor, u_hand, float(id) / float(max(u_grabbed, 1))) - before);
        velocity *= exp(-0.1 * PULL * u_step.x);
    }
    velocity = in_fields(id, velocity, u_rope.z);
    vec3 position = before + u_step.x * velocity;
    if (id == 0) {
        position = anchor;
        velocity = vec3(0.0);
    } else {
        position = on_link(position_of(id - 1), position, u_rope.x);
        velocity = (position - before) / u_step.x;
        collide(position, velocity, u_rope.y);
    }
    o_position = vec4(position, 0.0);
    o_velocity = vec4(velocity, 0.0);
}
