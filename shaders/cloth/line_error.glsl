// Adds to the load of one particle the largest error that a substep leaves in its edges of one family, because the families
// were solved one after the other: length minus the one that the impulse stands for, as a part of the rest length.
// Inputs: points after all families, solved rows of this one, edges, loads. Outputs: the largest error so far, 0, 0, load.
// DAMPED as in cloth/line_set_up.glsl.

#include "cloth/line_edge.glsl"

uniform samplerBuffer u_rows;
uniform samplerBuffer u_loads;
float error_of(int id) {
    ivec4 particles = particles_at(id);
    vec2 thread = thread_at(id);
    Way way = way_between(particles.y, particles.z, thread);
    float longer = sqrt(dot(way.whole, way.whole)) - thread.x;
    longer += texelFetch(u_rows, id).z * u_compliance / max(thread.y, 1e-20);
#ifdef DAMPED
    longer = (longer + u_rate * dot(way.along, way.moved)) / (1.0 + u_rate);
#endif
    return thread.y > 0.0 ? abs(longer) / max(thread.x, 1e-20) : 0.0;
}

void run(int id) {
    Beside around = beside(id);
    vec4 load = texelFetch(u_loads, id);
    float before = error_of(around.edges.x) * float(around.particles.x != id);
    float after = error_of(around.edges.y) * float(around.particles.y != id);
    o_load = vec4(max(load.x, max(before, after)), 0.0, 0.0, load.w);
}
