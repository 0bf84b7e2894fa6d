// The equation of one edge of a family of lines, as a row of a tridiagonal system with a diagonal of 1.
// Inputs: points of a substep, edges. Outputs: lower, upper, right side, 0.
// The unknown is the impulse of the edge times the substep. Without an edge the row is 0.
// Edges far from their rest length are softer, in proportion to the square of the error: a nearly straight line, which can
// become shorter only by moving far to the side, then moves by about the length of an edge at most.
// References: M. Macklin et al. 2019, "Small steps in physics simulation", with all edges of a line at the same time;
// J. Fan, Y. Yuan 2005, "On the quadratic convergence of the Levenberg-Marquardt method", for the square of the error.

#include "cloth/line_edge.glsl"

const float TRUST = 0.25;          // compliance over inverse mass for an error as long as the edge
const float SOFTEST = 1e-6;        // compliance over inverse mass that rounding needs where a line is held at both ends

void run(int id) {
    ivec4 particles = particles_at(id);
    vec2 thread = thread_at(id);
    float first = abs(texelFetch(u_points, particles.y).w);
    float second = abs(texelFetch(u_points, particles.z).w);
    Way before = way_between(particles.x, particles.y, thread_at(edge_before(id)));
    Way way = way_between(particles.y, particles.z, thread);
    Way after = way_between(particles.z, particles.w, thread_at(edge_after(id)));
    float reach = sqrt(dot(way.whole, way.whole));
    float longer = reach - thread.x;
    float error = longer / max(max(reach, thread.x), 1e-20);
    float softest = max(SOFTEST, TRUST * error * error);
    float compliance = u_compliance / max(thread.y, 1e-20);
#ifdef DAMPED
    longer = (longer + u_rate * dot(way.along, way.moved)) / (1.0 + u_rate);
    compliance /= 1.0 + u_rate;
#endif
    float weight = first + second;
    float diagonal = max(compliance, softest * weight) + weight * dot(way.along, way.push);
    float inverse = thread.y > 0.0 ? 1.0 / max(diagonal, 1e-30) : 0.0;
    float lower = -first * dot(before.push, way.along) * inverse;
    float upper = -second * dot(way.along, after.push) * inverse;
    o_row = vec4(lower, upper, -longer * inverse, 0.0);
}
