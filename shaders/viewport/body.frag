#version 330 core
// Glassy shading: clearer in the middle, denser towards the silhouette, softly lit from above.
// u_colour is sRGB-encoded; its alpha is the opacity of a face seen head on.

#include "viewport/frame.glsl"

uniform vec4 u_colour;

in vec3 v_position;
in vec3 v_normal;
out vec4 o_colour;

void main() {
    vec3 normal = normalize(v_normal);
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - v_position) : -frame.view_direction.xyz;
    float grazing = 1.0 - abs(dot(normal, to_eye));
    float light = 0.72 + 0.28 * normal.y;
    o_colour = vec4(u_colour.rgb * light, u_colour.a * (0.6 + 1.4 * grazing * grazing));
}
