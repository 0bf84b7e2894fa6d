// A curve and what it scatters, for a test that knows the answers.

#include "hair/curve.glsl"
#include "hair/scatter.glsl"

uniform vec3 u_knots[4];
uniform vec3 u_colour;

const vec3 ALONG = vec3(1.0, 0.0, 0.0);

void run(int id) {
    o_place = curve_place(u_knots[0], u_knots[1], u_knots[2], u_knots[3], 0.5);
    o_along = curve_tangent(u_knots[0], u_knots[1], u_knots[2], u_knots[3], 0.5);
    o_even = kajiya(ALONG, a_light.xyz, a_eye.xyz).x;
    o_mirrored = kajiya(ALONG, a_light.xyz, a_eye.xyz).y;
    o_lobes = lobes(ALONG, a_light.xyz, a_eye.xyz, u_colour, 0.3, 0.035);
    o_spare = 0.0;
}
