// Finds the places of a tree that a ball comes near, one after another, in the order of the tree.
// Include cloth/tree.glsl before.

uniform samplerBuffer u_places;    // rest position, number of the particle or triangle in each position, or -1
uniform ivec3 u_shape;             // levels below the root, positions of a leaf, first node that is a position

// The next leaf, counted from the first, that comes nearer than a gap [m]; -1 after the last. `at` is level and number of
// the next node, (0, 0) at the beginning.
int next_leaf(inout ivec2 at, Ball own, float gap) {
    int found = -1;
    while (at.y >= 0 && found < 0) {
        int node = ((1 << (2 * at.x)) - 1) / 3 + at.y;
        bool near = meet(ball_at(node), own, gap);
        if (near && at.x < u_shape.x) {
            at = ivec2(at.x + 1, 4 * at.y);
        } else {
            found = near ? at.y : -1;
            ++at.y;
            while (at.x > 0 && at.y % 4 == 0) {
                at = ivec2(at.x - 1, at.y / 4);
            }
            at.y = at.x == 0 ? -1 : at.y;
        }
    }
    return found;
}

// What is in a position of a leaf, if it comes nearer than the gap; else -1.
int near_number(int leaf, int index, Ball own, float gap) {
    int place = leaf * u_shape.y + index;
    int number = int(texelFetch(u_places, place).w);
    return meet(ball_at(u_shape.z + place), own, gap) ? number : -1;
}
