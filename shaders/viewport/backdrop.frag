#version 330 core
// The environment behind everything.
// Input: its panorama, see viewport/environment.frag. Output: sRGB-encoded colour.

#include "viewport/light.glsl"
#include "viewport/colour.glsl"

uniform sampler2D u_panorama;

in vec2 v_ndc;
out vec4 o_colour;

const float PI = 3.14159265;

void main() {
    vec4 far = frame.world_from_clip * vec4(v_ndc, 1.0, 1.0);
    vec3 direction = frame.eye.w > 0.5 ? far.xyz / far.w - frame.eye.xyz : frame.view_direction.xyz;
    direction = in_environment(normalize(direction));
    vec2 place = vec2(atan(-direction.x, direction.z) / (2.0 * PI) + 0.5, acos(clamp(direction.y, -1.0, 1.0)) / PI);
    vec3 light = textureLod(u_panorama, place, 0.0).rgb * frame.environment.z;
    o_colour = vec4(image_from_linear(tone_mapped(light)), 1.0);
}
