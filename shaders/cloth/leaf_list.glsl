// Finds the leaves of the tree whose particles may touch those of one leaf, itself among them.
// Inputs: the tree. Outputs: numbers of leaves in their order, LISTED at most; END after the last.

#include "cloth/tree.glsl"

uniform float u_reach;             // distance that counts as near [m]

const uint END = 0xffffffffu;

// Goes on from a node to the next leaf that is near.
uint next_leaf(Ball own, inout int node) {
    uint leaf = END;
    while (node >= 0 && leaf == END) {
        Ball ball = ball_at(node);
        bool near = meet(ball, own, u_reach);
        bool is_leaf = node >= u_tree_shape.x;
        leaf = near && is_leaf ? uint(node - u_tree_shape.x) : END;
        node = near && !is_leaf ? FAN * node + 1 : ball.next;
    }
    return leaf;
}

void run(int id) {
    uint found[LISTED];
    Ball own = ball_at(u_tree_shape.x + id);
    for (int i = 0; i < LISTED; ++i) {
        found[i] = END;
    }
    int node = 0;
    for (int i = 0; i < LISTED && node >= 0; ++i) {
        found[i] = next_leaf(own, node);
    }
    o_leaves_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_leaves_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_leaves_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_leaves_3 = uvec4(found[12], found[13], found[14], found[15]);
    o_leaves_4 = uvec4(found[16], found[17], found[18], found[19]);
    o_leaves_5 = uvec4(found[20], found[21], found[22], found[23]);
    o_leaves_6 = uvec4(found[24], found[25], found[26], found[27]);
    o_leaves_7 = uvec4(found[28], found[29], found[30], found[31]);
    o_leaves_8 = uvec4(found[32], found[33], found[34], found[35]);
    o_leaves_9 = uvec4(found[36], found[37], found[38], found[39]);
    o_leaves_10 = uvec4(found[40], found[41], found[42], found[43]);
    o_leaves_11 = uvec4(found[44], found[45], found[46], found[47]);
    o_leaves_12 = uvec4(found[48], found[49], found[50], found[51]);
    o_leaves_13 = uvec4(found[52], found[53], found[54], found[55]);
    o_leaves_14 = uvec4(found[56], found[57], found[58], found[59]);
    o_leaves_15 = uvec4(found[60], found[61], found[62], found[63]);
}
