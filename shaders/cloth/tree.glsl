// Nodes of the tree over the particles of a cloth: balls that hold all that is below them for a span of time.
// Two texels a node: centre, radius [m] | velocity of the centre [m/s], 0. An empty
// node has a negative radius.
// Numbers of the nodes are those of sim/kinds/cloth/self_contact.py.

uniform samplerBuffer u_tree;
uniform float u_span;              // [s]

const uint END = 0xffffffffu;      // after the last number of a list

struct Ball {
    vec3 centre;
    float radius;
    vec3 velocity;
};

Ball ball_at(int node) {
    vec4 first = texelFetch(u_tree, 2 * node);
    return Ball(first.xyz, first.w, texelFetch(u_tree, 2 * node + 1).xyz);
}

// Whether two balls come nearer to each other than a gap [m] within the span if they keep their velocities.
bool meet(Ball one, Ball other, float gap) {
    vec3 apart = one.centre - other.centre;
    vec3 relative = one.velocity - other.velocity;
    float moment = clamp(-dot(apart, relative) / max(dot(relative, relative), 1e-30), 0.0, u_span);
    vec3 least = apart + moment * relative;
    float reach = one.radius + other.radius + gap;
    return one.radius >= 0.0 && other.radius >= 0.0 && dot(least, least) < reach * reach;
}
