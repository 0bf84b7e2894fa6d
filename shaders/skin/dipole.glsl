// Dipoles of four triangles, or of four dipoles of the level below: from far away they stand for the triangles.
// Inputs: triangles, see skin/triangle.glsl, or with INNER dipoles. Outputs: centre by area [m] and the radius of a
// sphere around it [m]; sum of the normals times areas [m2] and the area.
// Reference: Barill et al. 2018, "Fast winding numbers for soups and clouds".

#include "skin/triangle.glsl"

#ifdef INNER
uniform samplerBuffer u_dipoles;
uniform int u_first_child;
#else
uniform int u_count;                 // number of triangles
#endif

void run(int id) {
    vec3 sum = vec3(0.0);
    vec4 normal = vec4(0.0);
    float radius = 0.0;
#ifdef INNER
    int first = u_first_child + 4 * id;
    for (int child = first; child < first + 4; ++child) {
        vec4 area = texelFetch(u_dipoles, 2 * child + 1);
        sum += area.w * texelFetch(u_dipoles, 2 * child).xyz;
        normal += area;
    }
    vec3 centre = sum / max(normal.w, SKIN_TINY);
    for (int child = first; child < first + 4; ++child) {
        vec4 place = texelFetch(u_dipoles, 2 * child);
        bool counts = texelFetch(u_dipoles, 2 * child + 1).w > 0.0;
        radius = counts ? max(radius, distance(centre, place.xyz) + place.w) : radius;
    }
#else
    int last = min(4 * id + 4, u_count);
    for (int number = 4 * id; number < last; ++number) {
        Triangle own = triangle_at(number, 1.0);
        bool is_turned = (uint(texelFetch(u_skin, 3 * number + 2).w) & 16u) != 0u;
        vec3 across = (is_turned ? -0.5 : 0.5) * area_normal(own);
        float area = sqrt(dot(across, across));
        sum += area / 3.0 * (own.a + own.b + own.c);
        normal += vec4(across, area);
    }
    vec3 centre = sum / max(normal.w, SKIN_TINY);
    for (int number = 4 * id; number < last; ++number) {
        Triangle own = triangle_at(number, 1.0);
        radius = max(radius, max(distance(centre, own.a), max(distance(centre, own.b), distance(centre, own.c))));
    }
#endif
    o_centre = vec4(centre, radius);
    o_normal = normal;
}
