// Finds what a ball comes near in a tree over several cloths, one after another, in the order of the tree.
// Inputs: the tree, with the number of the cloth from 1 in the last number of a node, or 0 for a node of several. Outputs:
// positions of the leaves. Include cloth/tree.glsl before.

uniform samplerBuffer u_places;    // rest position, number of the particle or triangle in each position, or -1
uniform ivec3 u_shape;             // levels below the root, positions of a leaf, first node that is a position

const ivec3 ROOT = ivec3(0, 0, -1);

// The next position that comes nearer than a gap [m] and is not of a cloth (from 1); -1 after the last. `at` is level and
// number of the next node, and the position in that leaf or -1; ROOT at the beginning.
int next_place(inout ivec3 at, Ball own, float gap, float cloth) {
    int found = -1;
    while (at.y >= 0 && found < 0) {
        bool in_leaf = at.z >= 0;
        int place = at.y * u_shape.y + at.z;
        int node = in_leaf ? u_shape.z + place : ((1 << (2 * at.x)) - 1) / 3 + at.y;
        vec4 first = texelFetch(u_tree, 2 * node);
        vec4 second = texelFetch(u_tree, 2 * node + 1);
        bool near = second.w != cloth && meet(Ball(first.xyz, first.w, second.xyz), own, gap);
        found = near && in_leaf ? place : -1;
        if (near && !in_leaf && at.x < u_shape.x) {
            at = ivec3(at.x + 1, 4 * at.y, -1);
        } else {
            at.z += near || in_leaf ? 1 : 0;
            if (at.z == u_shape.y || !(near || in_leaf)) {
                at = ivec3(at.x, at.y + 1, -1);
                while (at.x > 0 && (at.y & 3) == 0) {
                    at = ivec3(at.x - 1, at.y >> 2, -1);
                }
                at.y = at.x == 0 ? -1 : at.y;
            }
        }
    }
    return found;
}
