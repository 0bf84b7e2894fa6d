// A position on a strand that is drawn.
// Inputs: knots in the world [m] and a random number, KNOTS texels a strand; the share of the way from root to tip.
// Outputs: position, derivative by the way from knot to knot, the texel of the knot before and the share of the way to the
// next one.

#include "hair/curve.glsl"

uniform samplerBuffer u_strands;

struct Row {
    vec3 place;
    vec3 ahead;
    int texel;
    float part;
};

Row row_of(int strand, float share) {
    float along = share * float(KNOTS - 1);
    int segment = clamp(int(along), 0, KNOTS - 2);
    float part = along - float(segment);
    int texel = strand * KNOTS + segment;
    vec3 first = texelFetch(u_strands, texel).xyz;
    vec3 second = texelFetch(u_strands, texel + 1).xyz;
    vec3 before = segment > 0 ? texelFetch(u_strands, texel - 1).xyz : 2.0 * first - second;
    vec3 after = segment < KNOTS - 2 ? texelFetch(u_strands, texel + 2).xyz : 2.0 * second - first;
    return Row(curve_place(before, first, second, after, part), curve_tangent(before, first, second, after, part),
               texel, part);
}

#ifndef CAST
uniform samplerBuffer u_colours;     // linear, as the knots

vec3 colour_of(Row row) {
    return mix(texelFetch(u_colours, row.texel).rgb, texelFetch(u_colours, row.texel + 1).rgb, row.part);
}
#endif
