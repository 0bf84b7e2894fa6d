// Whirls: the curl of a random vector potential, a velocity without sources or sinks that changes with time.
// Inputs: place in cells, how far the pattern has gone in cells of the skewed lattice, seed, phases of its change.
// Outputs: velocity of root mean square 1. Functions are named as in tests/oracles/curl_noise.py.
// References: R. Bridson et al. 2007, "Curl-noise for procedural fluid flow"; K. Perlin 2001, "Noise hardware", for the
// simplices, of whose four corners each adds (1/2 - d2)^4 times (slopes times d) to the potential.

#include "common/hash.glsl"

const float CURL_NOISE_SCALE = 25.3;   // makes the root mean square 1; measured

// Slopes of the three components of the potential at a corner of the lattice, as columns by direction, -1 to 1. Each
// goes up and down with the phase of its column, from a random start, so that all stay as evenly spread as they were.
mat3 potential_slopes(uvec3 corner, uint seed, uvec3 phases) {
    uvec3 bits = pcg4d(uvec4(corner, seed)).xyz;
    vec3 x = vec3(((bits >> 2u) + phases.x) & 1023u);
    vec3 y = vec3(((bits >> 12u) + phases.y) & 1023u);
    vec3 z = vec3(((bits >> 22u) + phases.z) & 1023u);
    return mat3(abs(x - 512.0), abs(y - 512.0), abs(z - 512.0)) * (1.0 / 256.0) - mat3(vec3(1.0), vec3(1.0), vec3(1.0));
}

// Curl of the part of the potential that belongs to one corner, from which the place is `offset` away.
vec3 corner_curl(mat3 slopes, vec3 offset) {
    float near = max(0.5 - dot(offset, offset), 0.0);
    float cube = near * near * near;
    vec3 turn = vec3(slopes[1].z - slopes[2].y, slopes[2].x - slopes[0].z, slopes[0].y - slopes[1].x);
    return cube * (near * turn - 8.0 * cross(offset, slopes * offset));
}

vec3 curl_noise(vec3 place, vec3 shift, ivec3 origin, uint seed, uvec3 phases) {
    vec3 skewed = place + dot(place, vec3(1.0 / 3.0)) - shift;
    vec3 cell = floor(skewed);
    vec3 inside = skewed - cell;
    vec3 first = inside - dot(inside, vec3(1.0 / 6.0));
    vec3 larger = step(first.yzx, first);
    vec3 smaller = 1.0 - larger.zxy;
    vec3 second = min(larger, smaller);
    vec3 third = max(larger, smaller);
    ivec3 corner = ivec3(cell) - origin;
    vec3 total = corner_curl(potential_slopes(uvec3(corner), seed, phases), first);
    total += corner_curl(potential_slopes(uvec3(corner + ivec3(second)), seed, phases), first - second + 1.0 / 6.0);
    total += corner_curl(potential_slopes(uvec3(corner + ivec3(third)), seed, phases), first - third + 1.0 / 3.0);
    total += corner_curl(potential_slopes(uvec3(corner + 1), seed, phases), first - 0.5);
    return CURL_NOISE_SCALE * total;
}
