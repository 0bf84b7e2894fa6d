#version 330 core
// Counts the living among CHUNK particles, or adds CHUNK counts.
// Inputs: texels whose last number is a life, or FIRST not defined: whose first is a count; how many there are.
// Outputs: the count in the first of four numbers.

uniform samplerBuffer u_records;
uniform int u_count;

void main() {
    int first = gl_VertexID * CHUNK;
    float total = 0.0;
    for (int i = 0; i < CHUNK; ++i) {
        int index = min(first + i, u_count - 1);
#ifdef FIRST
        float one = texelFetch(u_records, 2 * index).w >= 0.0 ? 1.0 : 0.0;
#else
        float one = texelFetch(u_records, index).x;
#endif
        total += first + i < u_count ? one : 0.0;
    }
    o_count = vec4(total, 0.0, 0.0, 0.0);
}
