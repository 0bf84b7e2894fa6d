// Distance between two states of one particle of a cloth.
// Inputs: both states. Outputs: distance [m] twice, for the sum and for the largest, and 1 for each particle.

uniform samplerBuffer u_state;
uniform samplerBuffer u_other;
uniform int u_count;               // particles; records after them are padding

void run(int id) {
    float apart = distance(texelFetch(u_state, 2 * id).xyz, texelFetch(u_other, 2 * id).xyz);
    o_measure = id < u_count ? vec4(apart, 1.0, 0.0, apart) : vec4(0.0);
}
