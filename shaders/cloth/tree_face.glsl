// Writes the ball of one triangle to its position at the bottom of the tree.
// Inputs: state of all particles, triangle of each position (rest position, number or -1). Outputs: a node, see cloth/tree.glsl.

#include "cloth/face_ball.glsl"

uniform samplerBuffer u_places;

void run(int id) {
    int face = int(texelFetch(u_places, id).w);
    uvec4 corners = texelFetch(u_corners, max(face, 0));
    Ball ball = face_ball(corners);
    o_ball = vec4(ball.centre, face < 0 ? -1.0 : ball.radius);
    o_motion = vec4(ball.velocity, float(corners.w) + 1.0);
}
