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

void solve_strand(int strand, Root root, vec3 now[KNOTS], inout vec3 knots[KNOTS]) {
    float h = u_step.x;
    vec3 move_before = u_step.y * texelFetch(u_now, strand * KNOTS).xyz;
    knots[0] = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 place = root.place - root.move + now[k];
        vec3 velocity = (now[k] - texelFetch(u_before, strand * KNOTS + k).xyz + move_before) / h;
        vec3 pull = spring_pull(now[k] - now[k - 1], root.segment);
        if (k < SEGMENTS) pull += spring_pull(now[k] - now[k + 1], root.segment);
        vec3 change = u_springs.x * pull - u_springs.y * (velocity - air_at(place)) + u_gravity;
#ifdef HEAD
        vec3 inside = (u_head * vec4(place, 1.0)).xyz;
        float share = sqrt(dot(inside, inside));
        float depth = u_head_radius * max(1.0 - share, 0.0);
        vec3 outward = (transpose(mat3(u_head)) * inside);
        change += u_springs.z * depth * depth * outward / max(sqrt(dot(outward, outward)), STRAND_TINY);
#endif
        knots[k] = now[k] + h * (velocity + h * change) - u_step.y * root.move;
    }
}
