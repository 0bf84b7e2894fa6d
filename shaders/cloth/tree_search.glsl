// Finds what a ball comes near in a tree over several cloths, one after another.
// Inputs: the tree, with the number of the cloth from 1 in the last number of a node, or 0 for a node of several; links
// between its nodes; lists of nodes of which one is above all that is near, END after the last. Outputs: nodes at the bottom
// of the search. Include cloth/tree.glsl before.

uniform usamplerBuffer u_links;    // first child, or END for a position; the node after all below this one, or END
uniform usamplerBuffer u_above;    // the lists
uniform int u_bottom;              // first node of the level where the search ends

struct Search {
    int entry;  // in the lists
    int node;   // next, -1 after the last
    int end;    // after all below the present entry
    float cloth;  // its number from 1, which is left out
};

Search begun(int list, float cloth) {
    int first = int(texelFetch(u_above, list).x);
    return Search(list, first, first < 0 ? -1 : int(texelFetch(u_links, first).y), cloth);
}

// The next node at the bottom that comes nearer than a gap [m]; -1 after the last.
int next_near(inout Search search, Ball own, float gap) {
    int found = -1;
    while (search.node >= 0 && found < 0) {
        vec4 first = texelFetch(u_tree, 2 * search.node);
        vec4 second = texelFetch(u_tree, 2 * search.node + 1);
        ivec2 link = ivec2(texelFetch(u_links, search.node).xy);
        bool near = second.w != search.cloth && meet(Ball(first.xyz, first.w, second.xyz), own, gap);
        bool is_bottom = search.node >= u_bottom;
        found = near && is_bottom ? search.node : -1;
        search.node = near && !is_bottom ? link.x : link.y;
        if (search.node == search.end) {
            ++search.entry;
            search.node = int(texelFetch(u_above, search.entry).x);
            search.end = search.node < 0 ? -1 : int(texelFetch(u_links, search.node).y);
        }
    }
    return found;
}
