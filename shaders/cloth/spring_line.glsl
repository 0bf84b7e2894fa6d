// Ends and strain of one spring, for drawing: two vertices of a line.
// Inputs: drawn state of all particles, the spring's ends and rest length. Outputs: end, strain | end, strain; metres.

uniform samplerBuffer u_state;

void run(int id) {
    vec3 first = texelFetch(u_state, 2 * int(a_ends.x)).xyz;
    vec3 second = texelFetch(u_state, 2 * int(a_ends.y)).xyz;
    float strain = length(first - second) / a_rest - 1.0;
    o_first = vec4(first, strain);
    o_second = vec4(second, strain);
}
