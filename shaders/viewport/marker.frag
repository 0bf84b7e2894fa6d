#version 330 core
// Antialiased disc with a darker rim.

in vec2 v_offset;
flat in vec4 v_colour;
flat in float v_radius;
out vec4 o_colour;

void main() {
    float radius = v_radius - 1.0;
    float distance_px = length(v_offset);
    float cover = clamp(radius + 0.5 - distance_px, 0.0, 1.0);
    if (cover <= 0.0) discard;
    float rim = smoothstep(radius - 1.8, radius - 0.8, distance_px);
    o_colour = vec4(mix(v_colour.rgb, v_colour.rgb * 0.25, rim), v_colour.a * cover);
}
