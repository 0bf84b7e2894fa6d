// Nodes of the tree over the particles of a cloth: balls that hold all that is below them for a span of time.
// Two texels a node: centre, radius [m] | velocity of the centre [m/s], node to go on with after all below it, or -1.
// Numbers are those of sim/kinds/cloth/contact_tree.py. An empty node has a negative radius.

uniform samplerBuffer u_tree;
uniform ivec3 u_tree_shape;        // first leaf, first place of a particle, places in a leaf
uniform float u_span;              // [s]

struct Ball {
    vec3 centre;
    float radius;
    vec3 velocity;
    int next;
};

Ball ball_at(int node) {
    vec4 first = texelFetch(u_tree, 2 * node);
    vec4 second = texelFetch(u_tree, 2 * node + 1);
    return Ball(first.xyz, first.w, second.xyz, int(second.w));
}

// Whether two balls come nearer than a distance [m] within the span if they keep their velocities.
bool meet(Ball one, Ball other, float distance) {
    vec3 apart = one.centre - other.centre;
    vec3 relative = one.velocity - other.velocity;
    float moment = clamp(-dot(apart, relative) / max(dot(relative, relative), 1e-30), 0.0, u_span);
    vec3 least = apart + moment * relative;
    float reach = one.radius + other.radius + distance;
    return one.radius >= 0.0 && other.radius >= 0.0 && dot(least, least) < reach * reach;
}
