// The equation of one edge of a family of lines, as a row of a tridiagonal system with a diagonal of 1.
// Inputs: points of a substep (position [m], inverse mass [1/kg]), edges. Outputs: lower, upper, right side, 0.
// The unknown is the impulse of the edge times the substep. Without an edge the row is 0.
// Edges far from their rest length are softer, in proportion to the square of the error: a nearly straight line, which can
// become shorter only by moving far to the side, then moves by about the length of an edge at most.
// References: M. Macklin et al. 2019, "Small steps in physics simulation", with all edges of a line at the same time;
// J. Fan, Y. Yuan 2005, "On the quadratic convergence of the Levenberg-Marquardt method", for the square of the error.

#include "cloth/line_edge.glsl"

uniform samplerBuffer u_points;
uniform float u_compliance;        // 1 / (stiffness for a factor of 1, times the square of the substep) [1/kg]
#ifdef DAMPED
uniform samplerBuffer u_state;     // at the beginning of the substep
uniform float u_rate;              // damping over stiffness over the substep
#endif

const float TRUST = 0.25;          // compliance over inverse mass for an error as long as the edge
const float SOFTEST = 1e-6;        // compliance over inverse mass that rounding needs where a line is held at both ends

void run(int id) {
    Edge edge = edge_at(id);
    vec4 first = texelFetch(u_points, edge.particles.y);
    vec4 second = texelFetch(u_points, edge.particles.z);
    vec3 before = direction(first.xyz - texelFetch(u_points, edge.particles.x).xyz);
    vec3 after = direction(texelFetch(u_points, edge.particles.w).xyz - second.xyz);
    vec3 way = second.xyz - first.xyz;
    vec3 along = direction(way);
    float reach = sqrt(dot(way, way));
    float longer = reach - edge.rest;
    float error = longer / max(max(reach, edge.rest), 1e-20);
    float softest = max(SOFTEST, TRUST * error * error);
    float compliance = u_compliance / max(edge.factor, 1e-20);
#ifdef DAMPED
    vec3 start = texelFetch(u_state, 2 * edge.particles.z).xyz - texelFetch(u_state, 2 * edge.particles.y).xyz;
    longer = (longer + u_rate * dot(along, way - start)) / (1.0 + u_rate);
    compliance /= 1.0 + u_rate;
#endif
    float weight = first.w + second.w;
    float inverse = edge.factor > 0.0 ? 1.0 / max(max(compliance, softest * weight) + weight, 1e-30) : 0.0;
    float lower = -first.w * dot(before, along) * inverse;
    float upper = -second.w * dot(along, after) * inverse;
    o_row = vec4(lower, upper, -longer * inverse, 0.0);
}
