// The equations of the edges of a line, which are solved from its beginning on.
// Edges far from their rest length are softer, in proportion to the square of the error: a nearly straight line, which can
// become shorter only by moving far to the side, then moves by about the length of an edge at most.
// Impulses are along the edge as it was at the beginning of the substep, which keeps angular momentum, unless it has turned
// far, or its force then or the load of an end is such that more inertia is needed: there the direction of the edge as it
// is damps what would grow.
// References: M. Macklin et al. 2019, "Small steps in physics simulation", with all edges of a line at the same time;
// H. H. Wang 1981, "A parallel method for tridiagonal equations"; J. Fan, Y. Yuan 2005, "On the quadratic convergence of the
// Levenberg-Marquardt method", for the square of the error; J.-P. Ryckaert et al. 1977, "Numerical integration of the
// cartesian equations of motion of a system with constraints", for the directions.

const float TRUST = 0.25;          // compliance over inverse mass for an error as long as the edge
const float SOFTEST = 1e-6;        // compliance over inverse mass that rounding needs where a line is held at both ends
const float TURN = 0.98;           // cosine of the largest turn of an edge in a substep

struct Edge {
    vec3 along;
    vec3 push;                     // direction of impulses
    float reach;                   // [m]
    vec2 thread;
    float weight;                  // the larger of both ends [1/kg]
};

Edge edge_between(CELL cell, Point first, Point second) {
    vec2 thread = thread_in(cell);
    vec3 start = start_between(first, second);
    vec3 whole = end_between(first, second);
    float reach = sqrt(dot(whole, whole));
    float former_reach = sqrt(dot(start, start));
    vec3 along = whole / max(reach, 1e-20);
    vec3 former = start / max(former_reach, 1e-20);
    float weight = max(first.weight, second.weight);
    float force = abs(former_reach - thread.x) * thread.y * weight / max(u_compliance * former_reach, 1e-30);
    bool keeps = u_inertia * force < 1.0 && dot(former, along) > TURN && min(first.sign, second.sign) > 0.0;
    float exists = thread.y > 0.0 ? 1.0 : 0.0;
    return Edge(exists * along, exists * (keeps ? former : along), reach, thread, weight);
}

// The equation of an edge between two points with what is known of the edge before it: impulse times the substep, and what it
// changes with that of the last edge of the segment before and of the next edge.
vec3 solved(vec3 known, Edge before, Edge edge, Edge after, Point first, Point second) {
    float longer = edge.reach - edge.thread.x;
    float error = longer / max(max(edge.reach, edge.thread.x), 1e-20);
    float softest = max(SOFTEST, TRUST * error * error);
    float compliance = u_compliance / max(edge.thread.y, 1e-20);
#ifdef DAMPED
    longer = (longer + u_rate * dot(edge.along, change_between(first, second))) / (1.0 + u_rate);
    compliance /= 1.0 + u_rate;
#endif
    float weight = first.weight + second.weight;
    float lower = -first.weight * dot(before.push, edge.along);
    float upper = -second.weight * dot(edge.along, after.push);
    float diagonal = max(compliance, softest * weight) + weight * dot(edge.along, edge.push);
    float inverse = edge.thread.y > 0.0 ? 1.0 / max(diagonal + lower * known.z, 1e-30) : 0.0;
    return vec3(-longer - lower * known.x, -lower * known.y, -upper) * inverse;
}
