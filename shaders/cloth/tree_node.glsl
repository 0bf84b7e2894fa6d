// The ball around the children of one inner node, which holds them for a span of time if they keep their velocities.
// Inputs: the level below. Outputs: a node, see cloth/tree.glsl.

#include "cloth/tree.glsl"

uniform int u_first_child;         // first child of the first node of this level
uniform int u_children;            // children of a node of this level

void run(int id) {
    int first = u_first_child + u_children * id;
    vec3 centre = vec3(0.0);
    vec3 velocity = vec3(0.0);
    float count = 0.0;
    for (int child = first; child < first + u_children; ++child) {
        Ball ball = ball_at(child);
        float counts = float(ball.radius >= 0.0);
        centre += counts * ball.centre;
        velocity += counts * ball.velocity;
        count += counts;
    }
    centre /= max(count, 1.0);
    velocity /= max(count, 1.0);
    float radius = -1.0;
    for (int child = first; child < first + u_children; ++child) {
        Ball ball = ball_at(child);
        float far = distance(ball.centre, centre) + u_span * distance(ball.velocity, velocity) + ball.radius;
        radius = ball.radius >= 0.0 ? max(radius, far) : radius;
    }
    o_ball = vec4(centre, radius);
    o_motion = vec4(velocity, 0.0);
}
