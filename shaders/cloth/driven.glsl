// Place and normal of one vertex of a fine mesh that a coarse cloth moves.
// Inputs: drawn state and faces of the cloth; the particles of the coarse triangle, weights of its corners; offset from
// the curved triangle [m] and normal, in the frame of the triangle; world space, metres. Outputs: position, 1 | unit normal, 0.
// Reference: T. Boubekeur, M. Alexa 2008, "Phong tessellation"; the place is halfway to the projections.

#include "cloth/spring.glsl"
#include "cloth/air.glsl"
#ifdef GRID
#include "cloth/grid.glsl"
#else
#include "cloth/mesh.glsl"
#endif

vec3 direction(vec3 v, vec3 otherwise) {
    float square = dot(v, v);
    return square > 0.0 ? v * inversesqrt(square) : otherwise;
}

void run(int id) {
    const vec3 UP = vec3(0.0, 1.0, 0.0);
    vec3 places[3];
    vec3 normals[3];
    for (int i = 0; i < 3; ++i) {
        Particle corner = particle_at(int(a_corners[i]));
        places[i] = corner.position;
        normals[i] = direction(area_around(int(a_corners[i]), corner), UP);
    }
    vec3 flat_place = a_weights.x * places[0] + a_weights.y * places[1] + a_weights.z * places[2];
    vec3 up = direction(a_weights.x * normals[0] + a_weights.y * normals[1] + a_weights.z * normals[2], UP);
    vec3 lift = vec3(0.0);
    for (int i = 0; i < 3; ++i) {
        lift -= a_weights[i] * dot(flat_place - places[i], normals[i]) * normals[i];
    }
    vec3 edge = places[1] - places[0];
    vec3 along = direction(edge - dot(edge, up) * up, UP);
    vec3 across = cross(up, along);
    mat3 frame = mat3(along, across, up);
    o_position = vec4(flat_place + 0.5 * lift + frame * a_offset.xyz, 1.0);
    o_normal = vec4(direction(frame * a_normal.xyz, up), 0.0);
}
