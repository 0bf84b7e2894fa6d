#version 330 core
// Blends the image of another moment over the scene: a tint inside, and an outline.
// Nearer surfaces hide it, unless it has no depth, as particles.
// Inputs: the ghost image with its coverage as alpha and its depth, the depth of the scene, and with MASK another image,
// behind whose coverage it stays.
// Output: colour and alpha, to be blended.

uniform sampler2D u_ghost;
uniform sampler2D u_ghost_depth;
uniform sampler2D u_scene_depth;
uniform vec3 u_ghost_terms;   // third row of its projection, third and fourth element, and 1 where that is parallel
uniform vec3 u_scene_terms;
#ifdef MASK
uniform sampler2D u_mask;
#endif
uniform vec4 u_tint;    // sRGB-encoded; w is the amount of tint against the colours of the ghost
uniform vec2 u_opacity; // inside, outline

out vec4 o_colour;

// Depth [m] along the view; smaller relative differences count as equal.
float metres(float depth, vec3 terms) {
    float ndc = 2.0 * depth - 1.0;
    return terms.z < 0.5 ? terms.y / (ndc + terms.x) : (terms.y - ndc) / terms.x;
}

const float ALIKE = 1.001;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), last = textureSize(u_ghost, 0) - 1;
    vec4 ghost = texelFetch(u_ghost, pixel, 0);
    float least = ghost.a, most = ghost.a, depth = 1.0, scene = 1.0;
    for (int i = 0; i < 4; i++) { // mostly there is nothing
        float neighbour = texelFetch(u_ghost, clamp(pixel + ivec2(i & 1, i >> 1) * 2 - 1, ivec2(0), last), 0).a;
        least = min(least, neighbour);
        most = max(most, neighbour);
    }
    if (most == 0.0) discard;
    for (int i = 0; i < 9; i++) {
        ivec2 place = clamp(pixel + ivec2(i % 3, i / 3) - 1, ivec2(0), last);
        float neighbour = texelFetch(u_ghost, place, 0).a;
        least = min(least, neighbour);
        most = max(most, neighbour);
        depth = min(depth, texelFetch(u_ghost_depth, place, 0).r);
        scene = min(scene, texelFetch(u_scene_depth, place, 0).r);
    }
    // Where samples at an edge are covered, and not the one whose depth is known, that is of one farther in.
    for (int i = 0; i < 25 && depth == 1.0 && most > 0.0; i++) {
        depth = texelFetch(u_ghost_depth, clamp(pixel + ivec2(i % 5, i / 5) - 2, ivec2(0), last), 0).r;
    }
    if (depth < 1.0 && metres(scene, u_scene_terms) <= metres(depth, u_ghost_terms) * ALIKE) discard;
    // Of particles, each of which is a line, less is enough.
    float line = (most - least) * (depth < 1.0 ? 1.0 : 0.25);
    float alpha = max(ghost.a * u_opacity.x, line * u_opacity.y);
#ifdef MASK
    alpha *= 1.0 - texelFetch(u_mask, pixel, 0).a;
#endif
    if (alpha < 1.0 / 512.0) discard;
    vec3 own = ghost.a > 0.0 ? ghost.rgb / ghost.a : u_tint.rgb;
    o_colour = vec4(mix(own, u_tint.rgb, max(u_tint.a, line)), alpha);
}
