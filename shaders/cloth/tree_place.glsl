// Puts one particle in its place at the bottom of the tree.
// Inputs: state of all particles, particle of each place (rest place, number or -1). Outputs: a node, see cloth/tree.glsl.

#include "cloth/tree.glsl"

uniform samplerBuffer u_state;
uniform samplerBuffer u_order;

void run(int id) {
    int particle = int(texelFetch(u_order, id).w);
    int leaf = id / u_tree_shape.z;
    bool is_last = id - leaf * u_tree_shape.z == u_tree_shape.z - 1;
    int next = is_last ? after(u_tree_shape.x + leaf) : u_tree_shape.y + id + 1;
    vec3 position = texelFetch(u_state, 2 * max(particle, 0)).xyz;
    vec3 velocity = texelFetch(u_state, 2 * max(particle, 0) + 1).xyz;
    o_ball = vec4(position, particle < 0 ? NOTHING : 0.0);
    o_motion = vec4(velocity, float(next));
}
