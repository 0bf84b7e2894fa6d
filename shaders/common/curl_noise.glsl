// Whirls: the curl of a random vector potential, a velocity without sources or sinks that changes with time.
// Inputs: place in cells, numbers of the cell at the origin, of the pattern and of the seed, weights of this pattern and
// the next. Outputs: velocity of root mean square 1. Functions are named as in sim/particles/curl_noise.py.
// References: R. Bridson et al. 2007, "Curl-noise for procedural fluid flow"; K. Perlin 2002, "Improving noise".

#include "common/hash.glsl"

const float CURL_NOISE_SCALE = 0.817;         // makes the root mean square 1; measured
const uint CURL_NOISE_SEED_STEP = 2654435769u;

// Slopes of the three components of the potential at a corner of the lattice, as columns by direction, -1 to 1.
mat3 potential_slopes(uvec3 corner, uint pattern) {
    uvec3 bits = pcg4d(uvec4(corner, pattern)).xyz;
    vec3 x = vec3((bits >> 2u) & 1023u);
    vec3 y = vec3((bits >> 12u) & 1023u);
    vec3 z = vec3(bits >> 22u);
    return mat3(x, y, z) * (2.0 / 1023.0) - mat3(vec3(1.0), vec3(1.0), vec3(1.0));
}

// Curl of the part of the potential that belongs to one corner: of weight times (slopes times offset).
vec3 corner_curl(mat3 slopes, vec3 offset, float weight, vec3 weight_slope) {
    vec3 turn = vec3(slopes[1].z - slopes[2].y, slopes[2].x - slopes[0].z, slopes[0].y - slopes[1].x);
    return cross(weight_slope, slopes * offset) + weight * turn;
}

vec3 curl_noise(vec3 place, ivec3 origin, uint seed, uint pattern, vec2 weights) {
    vec3 cell = floor(place);
    vec3 inside = place - cell;
    vec3 fade = inside * inside * inside * (inside * (inside * 6.0 - 15.0) + 10.0);
    vec3 fade_slope = 30.0 * inside * inside * (inside * (inside - 2.0) + 1.0);
    uint now = pattern + seed * CURL_NOISE_SEED_STEP;
    vec3 total = vec3(0.0);
    for (int i = 0; i < 8; ++i) {
        ivec3 side = ivec3(i & 1, (i >> 1) & 1, i >> 2);
        vec3 far = vec3(side);
        uvec3 corner = uvec3(ivec3(cell) + side - origin);
        mat3 slopes = weights.x * potential_slopes(corner, now) + weights.y * potential_slopes(corner, now + 1u);
        vec3 share = mix(1.0 - fade, fade, far);
        vec3 slope = fade_slope * (2.0 * far - 1.0);
        vec3 weight_slope = slope * share.yzx * share.zxy;
        total += corner_curl(slopes, inside - far, share.x * share.y * share.z, weight_slope);
    }
    return CURL_NOISE_SCALE * total;
}
