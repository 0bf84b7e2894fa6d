// Place and smooth normal of one drawn vertex of a cloth.
// Inputs: particle of the vertex, drawn state, faces; world space, metres. Outputs: position, 1 | unit normal, 0.
// The normal is the mean of the faces around the particle, weighted by area.

// Included once and for both: the include below is text, whatever the preprocessor leaves out.
#include "cloth/spring.glsl"
#include "cloth/air.glsl"
#ifdef GRID
#include "cloth/grid.glsl"
#else
#include "cloth/mesh.glsl"
#endif

void run(int id) {
    Particle own = particle_at(a_particle);
    vec3 area = area_around(a_particle, own);
    float square = dot(area, area);
    o_position = vec4(own.position, 1.0);
    o_normal = vec4(square > 0.0 ? area * inversesqrt(square) : vec3(0.0, 1.0, 0.0), 0.0);
}
