#version 330 core
// Threads in the colours of the ramp, particles and marks as small shaded balls, the hovered one in a ring.

uniform sampler2D u_ramp;       // 256 x 1 colours, sRGB-encoded
uniform float u_ramp_scale;     // ramp coordinate per unit of the scalar

in float v_scalar;
out vec4 o_colour;

void main() {
#if defined(POINTS) || defined(PINS) || defined(CHOSEN) || defined(HOVERED) || defined(CONTACTS)
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float square = dot(offset, offset);
    if (square > 1.0) discard;
#ifdef HOVERED
    // A dark rim keeps the ring visible on light fabric.
    if (square < 0.36) discard;
    o_colour = vec4(square < 0.50 || square > 0.86 ? vec3(0.08) : vec3(1.00, 0.90, 0.55), 1.0);
    return;
#endif
#if defined(PINS)
    const vec3 tint = vec3(1.00, 0.60, 0.15);
#elif defined(CONTACTS)
    const vec3 tint = vec3(0.35, 0.95, 0.45);
#elif defined(CHOSEN)
    const vec3 tint = vec3(0.35, 0.80, 1.00);
#else
    const vec3 tint = vec3(0.93, 0.86, 0.70);
#endif
    o_colour = vec4(tint * (0.45 + 0.55 * sqrt(1.0 - square)), 1.0);
#else
    float place = clamp(v_scalar * u_ramp_scale, 0.0, 1.0);
    o_colour = vec4(texture(u_ramp, vec2(place * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb, 1.0);
#endif
}
