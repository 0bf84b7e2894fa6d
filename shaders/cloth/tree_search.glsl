// Finds what a ball comes near in a tree over several cloths, one after another, in the order of the tree.
// Inputs: the tree, with the number of the cloth from 1 in the last number of a node, or 0 for a node of several; links
// between its nodes. Outputs: nodes that are positions. Include cloth/tree.glsl before.

uniform usamplerBuffer u_links;    // first child, or END for a position; the node after all below this one, or END
uniform samplerBuffer u_places;    // rest position, number of the particle or triangle in each position, or -1
uniform int u_first_place;         // node that is the first position

// The number in the next position that comes nearer than a gap [m] and is not of a cloth (from 1); -1 after the last.
// `node` is the next node, 0 at the beginning and -1 at the end.
int next_near(inout int node, Ball own, float gap, float cloth) {
    int found = -1;
    while (node >= 0 && found < 0) {
        vec4 first = texelFetch(u_tree, 2 * node);
        vec4 second = texelFetch(u_tree, 2 * node + 1);
        ivec2 link = ivec2(texelFetch(u_links, node).xy);
        bool near = second.w != cloth && meet(Ball(first.xyz, first.w, second.xyz), own, gap);
        found = near && link.x < 0 ? node : -1;
        node = near && link.x >= 0 ? link.x : link.y;
    }
    return found < 0 ? -1 : int(texelFetch(u_places, found - u_first_place).w);
}
