// Target of one held particle that goes on at its speed for a step, where nothing says where its pin goes.
// Inputs: state, pins. Outputs: target [m], 1 if held.

uniform samplerBuffer u_state;
uniform samplerBuffer u_pins;
uniform float u_step;              // [s]

void run(int id) {
    vec3 position = texelFetch(u_state, 2 * id).xyz + u_step * texelFetch(u_state, 2 * id + 1).xyz;
    o_pin = vec4(position, texelFetch(u_pins, id).w);
}
