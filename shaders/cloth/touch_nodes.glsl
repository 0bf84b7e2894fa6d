// Finds the nodes of a level of a tree over several cloths that may touch one node of it and are of other cloths.
// Inputs: the tree, the same lists of a level above. Outputs: numbers of nodes, fewer than LISTED, END after the last; the
// root if there are more.

#include "cloth/near.glsl"
#include "cloth/tree_search.glsl"

uniform int u_ratio;               // nodes of this level below one of the level above
uniform float u_reach;             // largest clearance [m]

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = END;
    }
    Box own = box_at(u_bottom + id);
    uint cloth = texelFetch(u_links, u_bottom + id).z;
    Search search = begun(id / u_ratio * LISTED, cloth < END ? cloth : END - 1u);
    int count = 0;
    while (search.node >= 0) {
        int node = visited(search, own, u_reach);
        if (node >= 0 && count < LISTED) {
            found[count] = uint(node);
            ++count;
        }
    }
    found[0] = count < LISTED ? found[0] : 0u;
    found[1] = count < LISTED ? found[1] : END;
    write_near(found);
}
