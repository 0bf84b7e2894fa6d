// What is known of a strand without reading its knots.
// Inputs: its state and the one before, its root. Outputs: largest bend of a joint [rad], largest stretch of a segment,
// mean square of the velocities of its knots [m2/s2], 1 for a strand that broke.

uniform samplerBuffer u_now;
uniform samplerBuffer u_before;
uniform samplerBuffer u_roots;
uniform float u_rate;                // substeps a second

void run(int id) {
    vec4 first = texelFetch(u_now, id * KNOTS);
    float segment = texelFetch(u_roots, 4 * id).w;
    vec3 former = vec3(0.0);
    vec3 along = vec3(0.0);
    vec3 found = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 knot = texelFetch(u_now, id * KNOTS + k).xyz;
        vec3 edge = knot - former;
        float size = sqrt(dot(edge, edge));
        vec3 direction = edge / max(size, 1e-12);
        found.x = k > 1 ? max(found.x, acos(clamp(dot(along, direction), -1.0, 1.0))) : 0.0;
        found.y = max(found.y, size / segment - 1.0);
        vec3 velocity = u_rate * (knot - texelFetch(u_before, id * KNOTS + k).xyz + first.xyz);
        found.z += dot(velocity, velocity) / float(KNOTS - 1);
        former = knot;
        along = direction;
    }
    o_measure = vec4(found, first.w);
}
