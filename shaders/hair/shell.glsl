// Whether a strand of fur is at a place of a copy of the skin: the hash of the cell that the place at rest lies in is
// below the part that strands cover. That is what ribbons between this copy and the next would: their length by their
// width, seen from this side, in what the copy shows of the skin.
// Inputs: place at rest and now [m]; the way of a strand to the next copy [m] and the width of all strands on a square
// metre at rest [1/m]; where it is seen from. Outputs: brightness of the strand.
// Cells are as far apart as strands, or as wide as pixels where those are wider; between the two sizes of cells around
// that of a pixel the hash fades over, so that neither a step nor a turn of the camera makes them flicker.
// Reference: C. Wyman, M. McGuire 2017, "Hashed alpha testing".

#include "common/hash.glsl"

uniform vec4 u_seer;                 // place of the eye or the light [m], 1; or its direction, 0
uniform vec4 u_cells;                // edge of a cell [m], part that has its full length, spread of the brightness
uniform vec2 u_share;                // of the way from root to tip; what the copies from here on cover, by this one

in vec3 v_rest;
in vec3 v_place;
in vec4 v_step;

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

bool shell_covers(out float bright) {
    vec3 cell = v_rest / u_cells.x;
    float size = max(length(dFdx(cell)), length(dFdy(cell)));
    float level = clamp(log2(max(size, 1.0)), 0.0, 20.0);
    float lower = floor(level);
    float fade = level - lower;
    vec2 number = cell_numbers(cell * exp2(-lower));
    if (fade > 0.0) number = evened(mix(number, cell_numbers(cell * exp2(-lower - 1.0)), fade), fade);

    vec3 across = cross(dFdx(cell), dFdy(cell));
    vec3 shown = cross(dFdx(v_place), dFdy(v_place));
    vec3 normal = shown / max(length(shown), 1e-30);
    vec3 back = normalize(u_seer.xyz - u_seer.w * v_place);
    float facing = dot(normal, back);
    facing = facing < 0.0 ? min(facing, -0.05) : max(facing, 0.05);
    float shrunk = length(across) * u_cells.x * u_cells.x / max(length(shown), 1e-30);
    float lasting = clamp((1.0 - u_share.x) / max(1.0 - u_cells.y, 1e-3), 0.0, 1.0);
    float cover = v_step.w * length(cross(v_step.xyz, back)) * shrunk / abs(facing) * lasting;
    // Seen along the strands the same cells cover in every copy, and each has to stand for all farther out.
    float shift = length(v_step.xyz - back * (dot(normal, v_step.xyz) / facing)) * sqrt(shrunk);
    cover *= u_share.y / (1.0 + (u_share.y - 1.0) * min(shift / (0.7 * u_cells.x * exp2(lower)), 1.0));
    bright = 1.0 + u_cells.z * (2.0 * number.y - 1.0);
    return number.x < 1.0 - exp(-cover);
}
