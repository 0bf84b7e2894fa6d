#version 330 core
// A strand as a ribbon that faces the eye: an instance of two vertices for each row, through its knots.
// Inputs: knots in the world [m], KNOTS texels a strand, of which the first has a factor of the width; their linear colours, unless CAST draws
// what a light sees. Outputs: linear colour, number of the strand, distance along the view [m].
// A ribbon is at least as wide as a pixel; for what is thinner fewer strands are drawn, so that the cover stays.
// Reference: Catmull, Rom 1974, "A class of local interpolating splines".

#include "hair/curve.glsl"

uniform samplerBuffer u_strands;
uniform mat4 u_clip_from_world;
uniform vec2 u_viewport;             // size of the target [px]
uniform float u_scale;               // change of clip y over a metre across the view
uniform vec4 u_width;                // radius at the root and at the tip [m], factor, least radius [px]
uniform int u_first;                 // strand that is drawn first, see u_stride
uniform int u_stride;                // strands to one that is drawn
uniform int u_count;                 // of all strands
uniform int u_rows;                  // of a ribbon, one at each of its ends
#ifndef CAST
uniform samplerBuffer u_colours;
out vec3 v_colour;
#endif
flat out uint v_strand;
out float v_distance;

void main() {
    int strand = (u_first + gl_InstanceID) * u_stride;
    float side = float(gl_VertexID & 1) * 2.0 - 1.0;
    float share = float(gl_VertexID >> 1) / float(u_rows - 1);
    float along = share * float(KNOTS - 1);
    int segment = min(int(along), KNOTS - 2);
    float part = along - float(segment);
    int base = strand * KNOTS;
    vec3 first = texelFetch(u_strands, base + segment).xyz;
    vec3 second = texelFetch(u_strands, base + segment + 1).xyz;
    vec3 before = segment > 0 ? texelFetch(u_strands, base + segment - 1).xyz : 2.0 * first - second;
    vec3 after = segment < KNOTS - 2 ? texelFetch(u_strands, base + segment + 2).xyz : 2.0 * second - first;
    vec3 place = curve_place(before, first, second, after, part);
    vec4 clip = u_clip_from_world * vec4(place, 1.0);
    vec4 ahead = u_clip_from_world * vec4(curve_tangent(before, first, second, after, part), 0.0);
    // Direction on the screen [px]: that of the derivative of clip / w.
    vec2 direction = (ahead.xy * clip.w - clip.xy * ahead.w) * u_viewport;
    float size = dot(direction, direction);
    direction = size > 1e-20 ? direction * inversesqrt(size) : vec2(0.0, 1.0);
    float radius = texelFetch(u_strands, base).w * mix(u_width.x, u_width.y, share) * u_width.z * u_scale * u_viewport.y / (2.0 * max(clip.w, 1e-6));
    float rank = (float(strand) + 0.5) / float(u_count);
    float wide = radius >= u_width.w ? radius : (radius > rank * u_width.w ? u_width.w : 0.0);
    clip.xy += vec2(-direction.y, direction.x) * (side * wide * 2.0 * clip.w) / u_viewport;
    bool is_seen = clip.w > 1e-4 && dot(place, place) < 1e24;
    gl_Position = is_seen ? clip : vec4(2.0, 2.0, 2.0, 1.0);
    v_strand = uint(strand);
    v_distance = clip.w;
#ifndef CAST
    v_colour = mix(texelFetch(u_colours, base + segment).rgb, texelFetch(u_colours, base + segment + 1).rgb, part);
#endif
}
