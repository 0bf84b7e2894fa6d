// A strand as masses and springs between neighbours, one fused pass; moved by the new velocity.
// Inputs: the state and the root of a strand. Output: its knots at the end of the substep [m].
// Reference: Tokoi 2014, hair by transform feedback: springs, drag and a head that pushes out.

uniform vec4 u_springs;              // stiffness over mass [1/s2], drag over mass [1/s], stiffness of the head over mass
#ifdef HEAD
uniform mat4 u_head;                 // the unit sphere from the world
uniform float u_head_radius;         // [m], mean of an ellipsoid
#endif

vec3 spring_pull(vec3 from, float segment) {
    return (segment / max(sqrt(dot(from, from)), STRAND_TINY) - 1.0) * from;
}

// The knot between two others; the last one stands for the one after itself.
vec3 spring_knot(Root root, vec3 move_before, vec3 before, vec3 former, vec3 here, vec3 following) {
    float h = u_step.x;
    vec3 place = root.place - root.move + here;
    vec3 velocity = (here - before + move_before) / h;
    vec3 pull = spring_pull(here - former, root.segment) + spring_pull(here - following, root.segment);
    vec3 change = u_springs.x * pull - u_springs.y * (velocity - air_at(place)) + u_gravity;
#ifdef HEAD
    vec3 inside = (u_head * vec4(place, 1.0)).xyz;
    float depth = u_head_radius * max(1.0 - sqrt(dot(inside, inside)), 0.0);
    vec3 outward = transpose(mat3(u_head)) * inside;
    change += u_springs.z * depth * depth * outward * inversesqrt(max(dot(outward, outward), STRAND_TINY));
#endif
#ifdef FIELDS
    vec4 pushed = field_push();
    vec3 blown = field_air();
    // The air takes the new velocity along; implicit, so that no drag is too strong.
    change += pushed.xyz + u_springs.y * blown;
    change = (change + pushed.w * (air_at(place) + blown - velocity)) / (1.0 + h * pushed.w);
#endif
    return here + h * (velocity + h * change) - u_step.y * root.move;
}

void solve_strand(int strand, Root root, inout vec3 knots[KNOTS]) {
    vec3 move_before = u_step.y * moved;
    knots[0] = vec3(0.0);
#define MOVE(k) FIELD_OF_KNOT(k) knots[k] = spring_knot(root, move_before, was[k], now[k - 1], now[k], now[min(k + 1, SEGMENTS)]);
    EACH_KNOT(MOVE)
}
