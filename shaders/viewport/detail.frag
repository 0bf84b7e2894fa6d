#version 330 core
// Lines and points in one colour, or with SCALAR in the colours of the ramp; POINTS are small shaded balls, with RING rings.

#ifdef SCALAR
uniform sampler2D u_ramp;       // 256 x 1 colours, sRGB-encoded
uniform float u_ramp_scale;     // ramp coordinate per unit of the scalar
#ifdef WIDE
in float g_scalar;
#define v_scalar g_scalar
#else
in float v_scalar;
#endif
#else
uniform vec3 u_colour;          // sRGB-encoded
#endif

out vec4 o_colour;

void main() {
#ifdef SCALAR
    float place = clamp(v_scalar * u_ramp_scale, 0.0, 1.0);
    vec3 colour = texture(u_ramp, vec2(place * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
#else
    vec3 colour = u_colour;
#endif
#ifdef POINTS
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float square = dot(offset, offset);
    if (square > 1.0) discard;
#ifdef RING
    // A dark rim keeps the ring visible on light ground.
    if (square < 0.36) discard;
    if (square < 0.50 || square > 0.86) colour = vec3(0.08);
#else
    colour *= 0.45 + 0.55 * sqrt(1.0 - square);
#endif
#endif
    o_colour = vec4(colour, 1.0);
}
