// A strand as layers of fur: each joint strives straight on from the two below it, and keeps its distance.
// Inputs: the state, the root and the groom of a strand. Output: its joints at the end of the substep [m].
// Reference: Malyshau 2010, dynamic fur in layers by transform feedback.

uniform vec4 u_layers;               // stiffness over length S / a [1/s2], damping D [1/s]

// The joint after two others; the second one's position is its own.
vec3 layer_joint(Root root, vec3 travelled, float kept, float share, vec3 below, vec3 base, vec3 former, vec3 here) {
    float h = u_step.x;
    vec3 velocity = travelled / h;
    velocity += h * (u_gravity + u_step.z * (air_at(root.place - root.move + here) - velocity));
#ifdef FIELDS
    vec4 pushed = field_push();
    vec3 carried = air_at(root.place - root.move + here) + field_air();
    velocity += h * (pushed.xyz + u_step.z * field_air());
    velocity = carried + (velocity - carried) / (1.0 + h * pushed.w);
#endif
    vec3 place = here - u_step.y * root.move;
    float stiffness = u_layers.x * float(SEGMENTS) * (10.0 - 5.0 * share);
    velocity = (velocity + h * stiffness * (2.0 * base - below - place)) * kept;
    return base + at_length(place + h * velocity - base, root.segment, at_length(here - former, 1.0, vec3(0.0, 1.0, 0.0)));
}

void solve_strand(int strand, Root root, inout vec3 knots[KNOTS]) {
    float kept = exp(-7.0 * u_layers.y * u_step.x);
    vec3 move_before = u_step.y * moved;
    knots[0] = vec3(0.0);
    vec3 below = -root.segment * quaternion_rotate(root.turn, rest_edge(strand, 0).xyz);
#define MOVED(k) (now[k] - was[k] + move_before)
#define SHARE(k) (float(k - 1) / float(SEGMENTS))
#define MOVE(k) FIELD_OF_KNOT(k) knots[k] = layer_joint(root, MOVED(k), kept, SHARE(k), below, knots[k - 1], now[k - 1], now[k]); below = knots[k - 1];
    EACH_KNOT(MOVE)
}
