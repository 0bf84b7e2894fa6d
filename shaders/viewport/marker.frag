#version 330 core
// Antialiased disc, or a star of four points on a dark disc, with a darker rim.

in vec2 v_offset;
flat in vec4 v_colour;
flat in float v_radius;
flat in float v_star;
out vec4 o_colour;

void main() {
    float radius = v_radius - 1.0;
    float distance_px = length(v_offset);
    float cover = clamp(radius + 0.5 - distance_px, 0.0, 1.0);
    if (cover <= 0.0) discard;
    if (v_star > 0.5) {
        // The astroid: the square roots of both coordinates add up to the square root of the radius.
        vec2 roots = sqrt(abs(v_offset) + 0.05);
        float inside = clamp((sqrt(radius - 0.5) - roots.x - roots.y) * 1.6 + 0.5, 0.0, 1.0);
        o_colour = vec4(mix(vec3(0.06, 0.07, 0.09), v_colour.rgb, inside), v_colour.a * cover * mix(0.7, 1.0, inside));
        return;
    }
    float rim = smoothstep(radius - 1.8, radius - 0.8, distance_px);
    o_colour = vec4(mix(v_colour.rgb, v_colour.rgb * 0.25, rim), v_colour.a * cover);
}
