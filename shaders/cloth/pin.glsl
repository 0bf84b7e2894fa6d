// Pins one particle at its current position, which only the GPU knows, or unpins it.
// Inputs: state of all particles, pins so far, what to do (0 free, 1 moved, 2 hold here, 3 as before), the motion.
// Outputs: target [m] and 1, or zeros. World space.

uniform samplerBuffer u_state;
uniform samplerBuffer u_pins;
uniform mat4 u_move;

void run(int id) {
    vec4 pin = texelFetch(u_pins, id);
    vec3 moved = (u_move * vec4(pin.xyz, 1.0)).xyz;
    vec3 here = texelFetch(u_state, 2 * id).xyz;
    // A product with the unit matrix would turn -0 into 0.
    vec3 place = a_order == 1.0 ? moved : a_order == 2.0 ? here : pin.xyz;
    o_pin = a_order == 0.0 ? vec4(0.0) : vec4(place, 1.0);
}
