#version 330 core
// What is drawn of every slot, for a test that compares it with the formulas in double precision.

#include "emitter/shown.glsl"

uniform samplerBuffer u_state;
uniform uvec2 u_emitter;
uniform vec4 u_spans;

void main() {
    vec4 first = texelFetch(u_state, 2 * gl_VertexID);
    vec4 second = texelFetch(u_state, 2 * gl_VertexID + 1);
    Shown shown = shown_particle(first, second, uint(gl_VertexID), u_emitter, u_spans);
    o_first = vec4(shown.lives ? 1.0 : 0.0, shown.share, shown.size, 0.0);
    o_second = vec4(shown.random, 0.0);
}
