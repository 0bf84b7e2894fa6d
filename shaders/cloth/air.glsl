// Force of the air on one corner of a face.
// Inputs: area vectors [m2], velocities [m/s], half the density times the drag coefficients [kg/m3]. Outputs: force [N].
// The force on a face is |w| (C_n (w.n) n + C_t (w - (w.n) n)) A rho / 2 with w the air relative to the face.

#include "common/gusts.glsl"

// `area` is the face's normal times its area; `share` the part of the face that belongs to this corner.
vec3 air_force(vec3 area, vec3 relative, float normal_drag, float tangent_drag, float share) {
    float size = sqrt(dot(area, area));
    float speed = sqrt(dot(relative, relative));
    vec3 across = area * (dot(relative, area) / max(size, CLOTH_TINY));
    return (share * speed) * (normal_drag * across + tangent_drag * (size * relative - across));
}
