// The ball around the children of one inner node, which holds them for a span of time if they keep their velocities.
// Inputs: the level below. Outputs: a node, see cloth/tree.glsl.

#include "cloth/tree.glsl"

uniform samplerBuffer u_tree;
uniform int u_first;               // first node of this level
uniform int u_children;            // children of a node of this level
uniform float u_span;              // [s]

void run(int id) {
    int first = first_child(u_first + id);
    vec3 centre = vec3(0.0);
    vec3 velocity = vec3(0.0);
    float count = 0.0;
    for (int child = first; child < first + u_children; ++child) {
        vec4 ball = texelFetch(u_tree, 2 * child);
        float counts = float(ball.w >= 0.0);
        centre += counts * ball.xyz;
        velocity += counts * texelFetch(u_tree, 2 * child + 1).xyz;
        count += counts;
    }
    centre /= max(count, 1.0);
    velocity /= max(count, 1.0);
    float radius = NOTHING;
    for (int child = first; child < first + u_children; ++child) {
        vec4 ball = texelFetch(u_tree, 2 * child);
        float drift = u_span * distance(texelFetch(u_tree, 2 * child + 1).xyz, velocity);
        radius = ball.w >= 0.0 ? max(radius, distance(ball.xyz, centre) + drift + ball.w) : radius;
    }
    o_ball = vec4(centre, radius);
    o_motion = vec4(velocity, float(after(u_first + id)));
}
