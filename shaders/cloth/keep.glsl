// Keeps the newest sound state of one particle: it is drawn, and a cloth that failed is restored to it.
// Inputs: newest state, last sound state (two texels a particle, the last number is the step that failed or 0),
// largest strain of the cloth. Outputs: the record to keep from now on.

uniform samplerBuffer u_state;
uniform samplerBuffer u_kept;
uniform samplerBuffer u_total;     // one record of energies; strain last
uniform vec2 u_check;              // largest sound strain, number of this step from 1

void run(int id) {
    vec4 first = texelFetch(u_kept, 2 * id);
    vec4 second = texelFetch(u_kept, 2 * id + 1);
    bool sound = texelFetch(u_total, 0).w < u_check.x;
    if (second.w == 0.0 && sound) {
        first = texelFetch(u_state, 2 * id);
        second = vec4(texelFetch(u_state, 2 * id + 1).xyz, 0.0);
    } else if (second.w == 0.0) {
        second.w = u_check.y;
    }
    o_position = first;
    o_velocity = second;
}
