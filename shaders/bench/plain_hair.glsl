// Baseline for benchmarks: hair as masses and springs in plain form, in two passes.
// Inputs: position, velocity (attributes and a buffer texture), constants of a point, the head. FORCE computes the
// velocity, else the position. Outputs: the new velocity, or the new position.
// Reference: Tokoi 2014, hair by transform feedback (the method, not the text).

uniform float u_step;
#ifdef FORCE
uniform samplerBuffer u_places;
uniform int u_knots;
uniform float u_length;
uniform float u_stiffness;
uniform float u_drag;
uniform float u_mass;
uniform vec3 u_gravity;
uniform vec4 u_head;               // centre, radius

vec3 pull(vec3 to_other) {
    float size = length(to_other);
    return size > 0.0 ? u_stiffness * (size - u_length) * to_other / size : vec3(0.0);
}

void run(int id) {
    int knot = id % u_knots;
    vec3 place = a_position.xyz;
    vec3 force = vec3(0.0);
    if (knot > 0) force += pull(texelFetch(u_places, id - 1).xyz - place);
    if (knot < u_knots - 1) force += pull(texelFetch(u_places, id + 1).xyz - place);
    vec3 away = place - u_head.xyz;
    float depth = u_head.w - length(away);
    if (depth > 0.0) force += 1e4 * depth * depth * normalize(away);
    vec3 speed = (force - u_drag * a_velocity.xyz) / u_mass + u_gravity;
    o_velocity = knot > 0 ? a_velocity + vec4(u_step * speed, 0.0) : vec4(0.0);
}
#else
void run(int id) {
    o_position = a_position + vec4(u_step * a_velocity.xyz, 0.0);
}
#endif
