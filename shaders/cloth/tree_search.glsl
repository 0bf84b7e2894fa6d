// Finds what a box comes near in a tree over the triangles of several cloths, one after another.
// Three texels a node: its box at the start of a span of time and at its end, each lowest corner, then highest [m]; corners go
// straight on, so that between both moments the box is between both boxes.
// Inputs: the tree; links between its nodes; lists of nodes of which one is above all that is near, END after the last.
// Outputs: nodes at the bottom of the search.

uniform samplerBuffer u_boxes;
uniform usamplerBuffer u_links;    // first child, or END for a position; the node after all below this one, or END; its cloth,
                                   // or END for a node of several
uniform usamplerBuffer u_above;    // the lists
uniform int u_bottom;              // first node of the level where the search ends

const uint END = 0xffffffffu;

struct Box {
    vec3 low;
    vec3 high;
    vec3 low_after;
    vec3 high_after;
};

struct Search {
    int entry;   // in the lists
    int node;    // next, -1 after the last
    int end;     // after all below the present entry; -2 if that is not known
    uint cloth;  // that is left out
};

Box box_at(int node) {
    vec4 first = texelFetch(u_boxes, 3 * node);
    vec4 second = texelFetch(u_boxes, 3 * node + 1);
    vec4 third = texelFetch(u_boxes, 3 * node + 2);
    return Box(first.xyz, vec3(first.w, second.xy), vec3(second.zw, third.x), third.yzw);
}

// Whether two boxes may come nearer to each other than a gap [m] within the span.
bool is_near(Box one, Box other, float gap) {
    vec3 beyond = min(one.low - other.high, one.low_after - other.high_after);
    vec3 before = min(other.low - one.high, other.low_after - one.high_after);
    vec3 apart = max(max(beyond, before), vec3(0.0));
    return dot(apart, apart) < gap * gap;
}

Search begun(int list, uint cloth) {
    return Search(list, int(texelFetch(u_above, list).x), -2, cloth);
}

// Visits the next node; returns it if it is at the bottom and comes nearer than a gap [m], else -1.
int visited(inout Search search, Box own, float gap) {
    uvec4 link = texelFetch(u_links, search.node);
    bool near = link.z != search.cloth && is_near(box_at(search.node), own, gap);
    bool is_bottom = search.node >= u_bottom;
    int found = near && is_bottom ? search.node : -1;
    search.end = search.end == -2 ? int(link.y) : search.end;
    search.node = near && !is_bottom ? int(link.x) : int(link.y);
    if (search.node == search.end) {
        ++search.entry;
        search.node = int(texelFetch(u_above, search.entry).x);
        search.end = -2;
    }
    return found;
}
