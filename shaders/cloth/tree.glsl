// Nodes of the tree over the particles of a cloth: balls that hold all that is below them for a span of time.
// Two texels a node: centre, radius [m] | velocity of the centre [m/s], node to go on with after all below it, or -1.
// Numbers are those of sim/kinds/cloth/contact_tree.py. An empty node has a negative radius.

uniform ivec3 u_tree_shape;        // first leaf, first place of a particle, places in a leaf

const int FAN = 4;
const float NOTHING = -1.0;

int first_child(int node) {
    bool is_leaf = node >= u_tree_shape.x;
    return is_leaf ? u_tree_shape.y + (node - u_tree_shape.x) * u_tree_shape.z : FAN * node + 1;
}

// Node that follows an inner node and all below it.
int after(int node) {
    while (node > 0 && node % FAN == 0) {
        node = node / FAN - 1;
    }
    return node == 0 ? -1 : node + 1;
}
