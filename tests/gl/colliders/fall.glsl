// One substep of free points under gravity among colliders [m, s], by position Verlet.
// Inputs: position and previous position. Outputs: the same, a substep later; SWEPT looks at the path too.
// Reference: see common/collide.glsl and common/sweep.glsl.

#include "common/sweep.glsl"

uniform samplerBuffer u_colliders;
uniform int u_collider_count;
uniform vec2 u_fractions;
uniform float u_substep;
uniform float u_thickness;

void run(int id) {
    vec3 position = 2.0 * a_position - a_previous + u_substep * u_substep * vec3(0.0, -9.81, 0.0);
    vec3 previous = a_position;
#ifdef SWEPT
    resolve_swept_contacts(
        u_colliders, u_collider_count, position, previous, u_fractions.x, u_fractions.y, u_thickness, u_substep
    );
#else
    resolve_contacts(u_colliders, u_collider_count, position, previous, u_fractions.y, u_thickness, u_substep);
#endif
    o_position = position;
    o_previous = previous;
    o_spare = a_spare;
    o_more = a_more;
}
