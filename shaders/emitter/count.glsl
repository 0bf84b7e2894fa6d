// Counts the living and the broken among CHUNK particles, or adds CHUNK counts.
// Inputs: texels whose last number is a life, or FIRST not defined: whose first two are counts; how many there are.
// Outputs: the living, the broken, and two numbers without a meaning.

#include "emitter/life.glsl"

uniform samplerBuffer u_records;
uniform int u_count;

void run(int id) {
    int first = id * CHUNK;
    vec2 total = vec2(0.0);
    for (int i = 0; i < CHUNK; ++i) {
        int index = min(first + i, u_count - 1);
#ifdef FIRST
        float life = texelFetch(u_records, 2 * index).w;
        vec2 one = vec2(life >= 0.0 ? 1.0 : 0.0, life < BROKEN_BELOW ? 1.0 : 0.0);
#else
        vec2 one = texelFetch(u_records, index).xy;
#endif
        total += first + i < u_count ? one : vec2(0.0);
    }
    o_count = vec4(total, 0.0, 0.0);
}
