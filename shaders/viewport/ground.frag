#version 330 core
// Ground plane: antialiased grid in four decimal scales, the world's x and z axes, and the soft shadow of the
// scene, with SHADOWED; transparent elsewhere.  Each scale fades with the distance from the subject, the largest at the
// horizon.
// Source of the line filter: E. Galin-style derivative filtering as in B. Golus, "The Best Darn Grid Shader
// (Yet)", 2023; written anew.

#include "viewport/light.glsl"
#include "viewport/colour.glsl"

uniform float u_cell;        // edge of the small cells [m]
uniform float u_fade;        // distance at which the small cells have vanished [m]
uniform bool u_show_grid;
uniform bool u_show_axes;

in vec3 v_position;
out vec4 o_colour;

// Coverage of lines `width` pixels wide at the integers of `coordinate`, filtered to its mean when too dense.
// footprint: change of the coordinate over a pixel.
float line_coverage(vec2 coordinate, vec2 footprint, float width) {
    vec2 distance_px = abs(fract(coordinate - 0.5) - 0.5) / footprint;
    vec2 cover = clamp(width * 0.5 + 0.5 - distance_px, 0.0, 1.0);
    cover = mix(cover, vec2(width) * footprint, clamp(footprint * 2.0 - 0.6, 0.0, 1.0));
    cover = mix(cover, vec2(0.0), clamp((footprint - 0.35) * 4.0, 0.0, 1.0));
    return max(cover.x, cover.y);
}

// Near the horizon a pixel spans so much that it says nothing about the distance from the axis.
float axis_coverage(float coordinate, float footprint, float width) {
    return clamp(width * 0.5 + 0.5 - abs(coordinate) / footprint, 0.0, 1.0) * (1.0 - smoothstep(8.0, 40.0, footprint));
}

// How much is left of a scale at a distance, as a multiple of that at which it has vanished.
float left_at(float away) {
    return 1.0 - smoothstep(0.15, 1.0, away);
}

void main() {
    float away = length(v_position.xz - frame.subject.xz) / u_fade;
    vec2 cells = v_position.xz / u_cell;
    vec2 footprint = max(fwidth(cells), vec2(1e-6));
    vec3 colour = vec3(0.62);
    float alpha = 0.0;
    if (u_show_grid) {
        float fine = line_coverage(cells, footprint, 1.0) * 0.16;
        float coarse = line_coverage(cells * 0.1, footprint * 0.1, 1.2) * 0.34;
        float wide = line_coverage(cells * 0.01, footprint * 0.01, 1.2) * 0.26;
        float widest = line_coverage(cells * 0.001, footprint * 0.001, 1.2) * 0.2;
        alpha = max(max(fine, coarse) * left_at(away), max(wide * left_at(away * 0.1), widest * left_at(away * 0.01)));
    }
    if (u_show_axes) {
        float x_axis = axis_coverage(cells.y, footprint.y, 1.6) * left_at(away * 0.03);
        float z_axis = axis_coverage(cells.x, footprint.x, 1.6) * left_at(away * 0.03);
        colour = mix(colour, vec3(0.82, 0.27, 0.27), x_axis);
        colour = mix(colour, vec3(0.26, 0.48, 0.85), z_axis);
        alpha = max(alpha, 0.75 * max(x_axis, z_axis));
    }
    float shade = 0.0;
#ifdef SHADOWED
    shade = (1.0 - shadow_visibility(v_position, vec3(0.0, 1.0, 0.0))) * 0.52;
    shade *= 1.0 - smoothstep(0.3, 1.0, away);
#ifdef LINEAR
    shade = 1.0 - pow(1.0 - shade, 2.2);
#endif
#endif
    // Two layers over the background: the shadow darkens, the lines lie on top of it.
    float total = alpha + shade * (1.0 - alpha);
    o_colour = vec4(total > 0.0 ? colour * alpha / total : vec3(0.0), total);
}
