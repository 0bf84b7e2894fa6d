#version 330 core
// Mean of ambient occlusion over a square of four pixels, without what is far in front or behind.
// Input: the output of occlusion.frag. Output: part of the light from around that arrives. A pixel without surface has
// that of the surfaces around it, because the image is magnified.

uniform sampler2D u_open;
uniform float u_radius;    // difference of distances that separates surfaces [m]
uniform float u_strength;  // exponent

out float o_open;

const float NOTHING = 5e4;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), last = textureSize(u_open, 0) - 1;
    float away = texelFetch(u_open, pixel, 0).g;
    vec2 sum = vec2(0.0);
    for (int i = 0; i < 16; ++i) {
        vec2 other = texelFetch(u_open, clamp(pixel + ivec2(i & 3, i >> 2) - 2, ivec2(0), last), 0).rg;
        if (other.y > NOTHING) continue;
        float weight = away > NOTHING ? 1.0 : max(1.0 - abs(other.y - away) / u_radius, 0.0);
        sum += vec2(other.x, 1.0) * weight;
    }
    o_open = sum.y > 0.0 ? pow(sum.x / sum.y, u_strength) : 1.0;
}
