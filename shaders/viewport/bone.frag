#version 330 core
// Flat-shaded bones lit from the camera; colour by state.

#include "viewport/frame.glsl"

in vec3 v_position;
flat in vec3 v_normal;
flat in float v_state;
out vec4 o_colour;

vec3 state_colour() {
    if (v_state > 2.5) return vec3(0.45, 0.46, 0.48);
    if (v_state > 1.5) return vec3(1.00, 0.60, 0.15);
    if (v_state > 0.5) return vec3(1.00, 0.85, 0.45);
    return vec3(0.74, 0.80, 0.86);
}

void main() {
    vec3 normal = normalize(v_normal + vec3(1e-12));
    float facing = abs(dot(normal, normalize(frame.view_direction.xyz + vec3(0.25, -0.35, 0.1))));
    o_colour = vec4(state_colour() * (0.42 + 0.58 * facing), v_state > 2.5 ? 0.55 : 0.92);
}
