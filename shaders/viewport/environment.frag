#version 330 core
// One tile of the atlas of an environment: its light, spread by the highlight of a roughness.
// Inputs: a panorama with levels, its middle along +z and -x to the right of it; row 0 is at the top. Output: linear light.
// Reference: B. Karis, "Real Shading in Unreal Engine 4", SIGGRAPH 2013; M. Colbert, J. Krivanek 2007, GPU Gems 3 chapter 20.

#include "viewport/octahedron.glsl"

uniform sampler2D u_panorama;
uniform vec4 u_tile;          // first row [texel], edge less 1 [texel], roughness, level of the panorama for it

out vec4 o_colour;

const float PI = 3.14159265;
const int SAMPLES = 64;
const float BRIGHTEST = 6e4;  // of a half float, nearly

vec3 light_at(vec3 direction, float level) {
    vec2 place = vec2(atan(-direction.x, direction.z) / (2.0 * PI) + 0.5, acos(clamp(direction.y, -1.0, 1.0)) / PI);
    return min(textureLod(u_panorama, place, level).rgb, vec3(BRIGHTEST));
}

void main() {
    vec3 normal = octahedron_direction((gl_FragCoord.xy - vec2(0.0, u_tile.x) - 0.5) / u_tile.y);
    if (u_tile.z == 0.0) {
        o_colour = vec4(light_at(normal, u_tile.w), 1.0);
        return;
    }
    vec3 side = normalize(cross(abs(normal.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), normal));
    vec3 ahead = cross(normal, side);
    float a2 = u_tile.z * u_tile.z * u_tile.z * u_tile.z;
    vec2 size = vec2(textureSize(u_panorama, 0));
    vec4 sum = vec4(0.0);
    for (int i = 0; i < SAMPLES; ++i) {
        // Uniform in the quantile of the highlight, and turned by the golden angle.
        float share = (float(i) + 0.5) / float(SAMPLES), turn = 2.39996323 * float(i);
        float c2 = (1.0 - share) / (1.0 + (a2 - 1.0) * share), s = sqrt(1.0 - c2);
        vec3 halfway = (cos(turn) * side + sin(turn) * ahead) * s + normal * sqrt(c2);
        vec3 direction = 2.0 * dot(normal, halfway) * halfway - normal;
        float cosine = dot(normal, direction);
        if (cosine <= 0.0) continue;
        float d = c2 * (a2 - 1.0) + 1.0, density = a2 / (4.0 * PI * d * d);
        float texels = size.x * size.y / (float(SAMPLES) * density * 4.0 * PI);
        sum += vec4(light_at(direction, max(0.5 * log2(texels) + 1.0, 0.0)), 1.0) * cosine;
    }
    o_colour = vec4(sum.rgb / max(sum.w, 1e-6), 1.0);
}
