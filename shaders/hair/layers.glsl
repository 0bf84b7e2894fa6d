// A strand as layers of fur: each joint strives straight on from the two below it, and keeps its distance.
// Inputs: the state, the root and the groom of a strand. Output: its joints at the end of the substep [m].
// Reference: Malyshau 2010, dynamic fur in layers by transform feedback.

uniform vec4 u_layers;               // stiffness over length S / a [1/s2], damping D [1/s]

void solve_strand(int strand, Root root, vec3 now[KNOTS], inout vec3 knots[KNOTS]) {
    float h = u_step.x;
    float kept = exp(-7.0 * u_layers.y * h);
    vec3 move_before = u_step.y * texelFetch(u_now, strand * KNOTS).xyz;
    knots[0] = vec3(0.0);
    vec3 below = -root.segment * quaternion_rotate(root.turn, rest_edge(strand, 0).xyz);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 velocity = (now[k] - texelFetch(u_before, strand * KNOTS + k).xyz + move_before) / h;
        velocity += h * (u_gravity + u_step.z * (air_at(root.place - root.move + now[k]) - velocity));
        vec3 place = now[k] - u_step.y * root.move;
        float stiffness = u_layers.x * float(SEGMENTS) * (10.0 - 5.0 * float(k - 1) / float(SEGMENTS));
        vec3 ahead = knots[k - 1] - below;
        velocity = (velocity + h * stiffness * (knots[k - 1] + ahead - place)) * kept;
        vec3 direction = at_length(now[k] - now[k - 1], 1.0, vec3(0.0, 1.0, 0.0));
        knots[k] = knots[k - 1] + at_length(place + h * velocity - knots[k - 1], root.segment, direction);
        below = knots[k - 1];
    }
}
