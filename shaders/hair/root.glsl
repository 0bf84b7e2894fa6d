// The root of a strand over a step: where it was and where it is now.
// Inputs: corners of its triangle and their shares, vertices of the surface (model space), placement of the surface;
// what was written before. Outputs: position [m], length of a segment [m] | turn | position now [m] | turn now: unit
// quaternions, world from the frame whose x is an edge of the triangle, made perpendicular, and whose z is the normal.

#include "hair/surface.glsl"

uniform samplerBuffer u_last;        // 4 texels a strand, as written before
uniform float u_jump;                // 1 begins where the surface is now

void run(int id) {
    Spot spot = surface_spot(a_corners, a_shares.xyz);
    vec4 turn = turn_of(spot);
    vec4 place_before = texelFetch(u_last, 4 * id + 2);
    vec4 turn_before = texelFetch(u_last, 4 * id + 3);
    bool starts = u_jump > 0.5;
    turn = !starts && dot(turn, turn_before) < 0.0 ? -turn : turn;
    o_start = vec4(starts ? spot.place : place_before.xyz, a_shares.w);
    o_turn_start = starts ? turn : turn_before;
    o_end = vec4(spot.place, 0.0);
    o_turn_end = turn;
}
