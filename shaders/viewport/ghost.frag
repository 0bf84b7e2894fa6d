#version 330 core
// Lays the picture of something at another moment faintly over the scene: a tint inside, and a line around it.
// Inputs: that picture with its coverage as alpha, and with MASK another one, behind whose coverage it stays.
// Output: colour and alpha, to be blended.

uniform sampler2D u_ghost;
#ifdef MASK
uniform sampler2D u_mask;
#endif
uniform vec4 u_tint;    // sRGB-encoded; how much there is of it, against the colours of the picture
uniform vec2 u_opacity; // of what is inside, of the line

out vec4 o_colour;

float coverage(ivec2 pixel) {
    return texelFetch(u_ghost, clamp(pixel, ivec2(0), textureSize(u_ghost, 0) - 1), 0).a;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec4 ghost = texelFetch(u_ghost, pixel, 0);
    float least = ghost.a, most = ghost.a;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            float beside = coverage(pixel + ivec2(x, y));
            least = min(least, beside);
            most = max(most, beside);
        }
    }
    float line = most - least;
    float alpha = max(ghost.a * u_opacity.x, line * u_opacity.y);
#ifdef MASK
    alpha *= 1.0 - texelFetch(u_mask, pixel, 0).a;
#endif
    if (alpha < 1.0 / 512.0) discard;
    vec3 own = ghost.a > 0.0 ? ghost.rgb / ghost.a : u_tint.rgb;
    o_colour = vec4(mix(own, u_tint.rgb, max(u_tint.a, line)), alpha);
}
