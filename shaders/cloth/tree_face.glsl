// Writes the ball of one triangle to its position at the bottom of the tree.
// Inputs: state of all particles, triangle of each position (rest position, number or -1). Outputs: a node, see cloth/tree.glsl.

#include "cloth/face_ball.glsl"

uniform samplerBuffer u_places;

void run(int id) {
    int face = int(texelFetch(u_places, id).w);
    Ball ball = face_ball(texelFetch(u_corners, max(face, 0)));
    o_ball = vec4(ball.centre, face < 0 ? -1.0 : ball.radius);
    o_motion = vec4(ball.velocity, 0.0);
}
