// Finds the nodes of a level of the tree whose particles may touch those of one node, including itself.
// Inputs: the tree, the same lists of the level above: near nodes have near parents. Outputs: numbers of nodes,
// counted in their level, fewer than LISTED; END after the last.

#include "cloth/near.glsl"
#include "cloth/tree.glsl"

uniform usamplerBuffer u_above;    // lists of the level above
uniform int u_first;               // first node of this level
uniform float u_reach;             // distance that counts as near [m]

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = END;
    }
    Ball own = ball_at(u_first + id);
    int entry = id / FAN * LISTED;
    int count = 0;
    uint parent = texelFetch(u_above, entry).x;
    while (parent != END) {
        int first = FAN * int(parent);
        ++entry;
        parent = texelFetch(u_above, entry).x;
        for (int k = 0; k < FAN; ++k) {
            if (meet(ball_at(u_first + first + k), own, u_reach) && count < LISTED - 1) {
                found[count] = uint(first + k);
                ++count;
            }
        }
    }
    write_near(found);
}
