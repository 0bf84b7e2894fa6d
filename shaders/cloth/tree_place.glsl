// Writes one particle to its position at the bottom of the tree.
// Inputs: state of all particles, particle of each position (rest position, number or -1). Outputs: a node, see
// cloth/tree.glsl.

uniform samplerBuffer u_state;
uniform samplerBuffer u_places;

void run(int id) {
    int particle = int(texelFetch(u_places, id).w);
    int there = 2 * max(particle, 0);
    o_ball = vec4(texelFetch(u_state, there).xyz, particle < 0 ? -1.0 : 0.0);
    o_motion = vec4(texelFetch(u_state, there + 1).xyz, 0.0);
}
