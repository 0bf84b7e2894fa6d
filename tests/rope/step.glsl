// A substep of a rope: a chain of knots at equal distances, each moved and pulled back to the one before.
// u_state: place [m], 0 | velocity [m/s], 0; u_anchor: place of the first knot and the length of a link [m].
uniform samplerBuffer u_state;
uniform vec4 u_anchor;
uniform vec2 u_step;  // duration of the substep [s], drag [1/s]

void run(int id) {
    vec3 place = texelFetch(u_state, 2 * id).xyz;
    vec3 velocity = (texelFetch(u_state, 2 * id + 1).xyz + vec3(0.0, -9.81, 0.0) * u_step.x) * exp(-u_step.y * u_step.x);
    vec3 above = id > 0 ? texelFetch(u_state, 2 * id - 2).xyz : u_anchor.xyz;
    vec3 moved = place + velocity * u_step.x;
    vec3 away = moved - above;
    vec3 kept = id > 0 ? above + away * (u_anchor.w / max(length(away), 1e-9)) : u_anchor.xyz;
    o_position = vec4(kept, 0.0);
    o_velocity = vec4((kept - place) / u_step.x, 0.0);
}
