#version 330 core
// Lines as quads of a width on the screen, which drivers do not draw by themselves; with SCALAR the number goes along.

layout(lines) in;
layout(triangle_strip, max_vertices = 4) out;

#include "viewport/frame.glsl"

uniform float u_width;   // [px]

#ifdef SCALAR
in float v_scalar[];
out float g_scalar;
#endif

void main() {
    vec4 ends[2] = vec4[2](gl_in[0].gl_Position, gl_in[1].gl_Position);
    // What lies before the near plane is cut off first: it has no place on the screen.
    float first = ends[0].z + ends[0].w, second = ends[1].z + ends[1].w;
    if (first <= 0.0 && second <= 0.0) return;
    float from = first > 0.0 ? 0.0 : first / (first - second), to = second > 0.0 ? 1.0 : first / (first - second);
    vec4 begin = mix(ends[0], ends[1], from), end = mix(ends[0], ends[1], to);
    vec2 along = (end.xy / end.w - begin.xy / begin.w) * frame.viewport.xy;
    float span = length(along);
    vec2 across = (span > 0.0 ? vec2(-along.y, along.x) / span : vec2(0.0, 1.0)) * u_width * frame.viewport.zw;
    for (int i = 0; i < 4; ++i) {
        vec4 corner = i < 2 ? begin : end;
        corner.xy += ((i & 1) == 0 ? across : -across) * corner.w;
        gl_Position = corner;
#ifdef SCALAR
        g_scalar = mix(v_scalar[0], v_scalar[1], i < 2 ? from : to);
#endif
        EmitVertex();
    }
    EndPrimitive();
}
