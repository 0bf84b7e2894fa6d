// Whether a strand of fur is at a position of a copy of the skin: the hash of the cell that the position at rest lies in is
// below the part that strands cover. That is what ribbons between this copy and the next would: their length by their
// width, seen from this side, in what the copy shows of the skin.
// Inputs: position at rest, its derivatives on the screen [cells]; see hair/shell.vert. Outputs: brightness of the strand.
// Cells are as far apart as strands, or as wide as pixels where those are wider; between the two sizes of cells around
// that of a pixel the hash fades over, so that neither a step nor a turn of the camera makes them flicker.
// UNDERCOAT leaves out a part of the cells instead, the same from everywhere.
// Reference: C. Wyman, M. McGuire 2017, "Hashed alpha testing".

#include "common/hash.glsl"

#ifndef UNDERCOAT
uniform vec3 u_strand;               // part of the strands that reach here; what the copies from here on cover, by what
                                     // this one does; spread of the brightness
#endif

vec2 cell_numbers(vec3 place) {
    return vec2(pcg3d(uvec3(ivec3(floor(place)))).xy >> 8u) * HASH_UNIT;
}

// The sum of a part of one even number and the rest of another, made even again.
vec2 evened(vec2 mixed, float part) {
    float small = min(part, 1.0 - part);
    float corner = max(2.0 * small * (1.0 - small), 1e-6);
    vec2 low = mixed * mixed / corner;
    vec2 high = 1.0 - (1.0 - mixed) * (1.0 - mixed) / corner;
    vec2 middle = (mixed - 0.5 * small) / (1.0 - small);
    return mix(mix(middle, low, lessThan(mixed, vec2(small))), high, greaterThan(mixed, vec2(1.0 - small)));
}

// Two numbers of the cell at a position, and how wide it is.
vec2 shown_numbers(vec3 cell, vec3 right, vec3 up, out float edge) {
    float level = clamp(0.5 * log2(max(max(dot(right, right), dot(up, up)), 1.0)), 0.0, 20.0);
    float lower = floor(level);
    float fade = level - lower;
    edge = exp2(lower);
    vec2 number = cell_numbers(cell / edge);
    return fade > 0.0 ? evened(mix(number, cell_numbers(cell / (2.0 * edge)), fade), fade) : number;
}

#ifdef UNDERCOAT
bool undercoat_covers(vec3 cell, vec3 right, vec3 up, float cover) {
    float edge;
    return shown_numbers(cell, right, up, edge).x < cover;
}
#else
bool shell_covers(vec3 cell, vec3 right, vec3 up, vec3 shift, out float bright) {
    float edge;
    vec2 number = shown_numbers(cell, right, up, edge);
    float cover = shift.z * length(cross(right, up)) * u_strand.x;
    // Seen along the strands the same cells cover in every copy, and each has to stand for all farther out.
    float apart = length(right * shift.x + up * shift.y) / (0.7 * edge);
    cover *= u_strand.y / (1.0 + (u_strand.y - 1.0) * min(apart, 1.0));
    bright = 1.0 + u_strand.z * (2.0 * number.y - 1.0);
    return number.x < 1.0 - exp(-cover);
}
#endif
