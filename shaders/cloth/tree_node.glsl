// The ball around what is below one inner node, which holds it for a span of time if it keeps its velocities.
// Inputs: the level below those that are written. Outputs: a node, see cloth/tree.glsl.

#include "cloth/tree.glsl"

uniform int u_first;               // first node that is written
uniform int u_lowest;              // first node of the lowest of the levels that are written
uniform int u_first_child;         // first child of this one
uniform int u_children;            // children of a node of this lowest level

void run(int id) {
    int node = u_first + id;
    int count = u_children;
    while (node < u_lowest) {
        node = FAN * node + 1;
        count *= FAN;
    }
    int first = u_first_child + u_children * (node - u_lowest);
    vec3 centre = vec3(0.0);
    vec3 velocity = vec3(0.0);
    float held = 0.0;
    // The cloth of all children, or 0; an empty child has any.
    float least = 1e30;
    float most = 0.0;
    for (int child = first; child < first + count; ++child) {
        vec4 ball = texelFetch(u_tree, 2 * child);
        vec4 motion = texelFetch(u_tree, 2 * child + 1);
        float counts = float(ball.w >= 0.0);
        centre += counts * ball.xyz;
        velocity += counts * motion.xyz;
        held += counts;
        least = counts > 0.0 ? min(least, motion.w) : least;
        most = max(most, counts * motion.w);
    }
    centre /= max(held, 1.0);
    velocity /= max(held, 1.0);
    float radius = -1.0;
    for (int child = first; child < first + count; ++child) {
        Ball ball = ball_at(child);
        float far = distance(ball.centre, centre) + u_span * distance(ball.velocity, velocity) + ball.radius;
        radius = ball.radius >= 0.0 ? max(radius, far) : radius;
    }
    o_ball = vec4(centre, radius);
    o_motion = vec4(velocity, least == most ? most : 0.0);
}
