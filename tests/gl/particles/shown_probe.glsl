// What is drawn of every slot, for a test that compares it with the formulas in double precision.

#include "emitter/shown.glsl"

uniform samplerBuffer u_state;
uniform uvec2 u_emitter;
uniform vec4 u_spans;

void run(int id) {
    vec4 first = texelFetch(u_state, 2 * id);
    vec4 second = texelFetch(u_state, 2 * id + 1);
    Shown shown = shown_particle(first, second, uint(id), u_emitter, u_spans);
    o_first = vec4(shown.lives ? 1.0 : 0.0, shown.share, shown.size, 0.0);
    o_second = vec4(shown.random, 0.0);
}
