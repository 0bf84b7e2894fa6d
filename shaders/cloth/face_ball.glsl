// The ball around one triangle, which holds it for a span of time if its corners keep their velocities.

#include "cloth/tree.glsl"
#include "cloth/face.glsl"

Ball face_ball(uvec4 corners) {
    Face places = face_at(corners, 0);
    Face motions = face_at(corners, 1);
    vec3 centre = (places.first + places.second + places.third) / 3.0;
    vec3 velocity = (motions.first + motions.second + motions.third) / 3.0;
    float first = distance(places.first, centre) + u_span * distance(motions.first, velocity);
    float second = distance(places.second, centre) + u_span * distance(motions.second, velocity);
    float third = distance(places.third, centre) + u_span * distance(motions.third, velocity);
    return Ball(centre, max(first, max(second, third)), velocity);
}
