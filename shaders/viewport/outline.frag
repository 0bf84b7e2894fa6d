#version 330 core
// A line around every object in an image of object numbers, with softened corners.
// It leaves out the border of the image, so that all neighbours of a pixel exist.
// Output: colour and alpha, to be blended.

uniform usampler2D u_objects;   // number of the object in a pixel, 0 for none
uniform vec4 u_colour;          // sRGB-encoded

out vec4 o_colour;

float differs(ivec2 pixel, uint own) {
    return texelFetch(u_objects, pixel, 0).r == own ? 0.0 : 0.5;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint own = texelFetch(u_objects, pixel, 0).r;
    float others = differs(pixel + ivec2(-1, -1), own) + differs(pixel + ivec2(1, -1), own)
        + differs(pixel + ivec2(-1, 1), own) + differs(pixel + ivec2(1, 1), own);
    if (others == 0.0) discard;
    o_colour = vec4(u_colour.rgb, u_colour.a * min(others, 1.0));
}
