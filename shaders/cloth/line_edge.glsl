// The edges of a family of lines, and the particles around them.
// GRID takes them by arithmetic, where record i is the edge from particle i on; otherwise they come from tables, where the
// edges of a path follow each other. A particle that is missing is its neighbour, so that its edge has no direction.
// Reference: J.-P. Ryckaert et al. 1977, "Numerical integration of the cartesian equations of motion of a system with
// constraints", for impulses along the edges as they were, which keep angular momentum.

uniform samplerBuffer u_state;     // at the beginning of the substep
uniform samplerBuffer u_points;    // offset from there [m], inverse mass [1/kg]
uniform samplerBuffer u_loads;     // see cloth/line_predict.glsl
uniform float u_inertia;
#ifdef DAMPED
uniform float u_rate;              // damping over stiffness over the substep

#include "cloth/offset.glsl"

// How far a particle has moved in this substep [m].
vec3 moved(int id) {
    vec4 second = texelFetch(u_state, 2 * id + 1);
    return texelFetch(u_points, id).xyz - remainder_of(second.w, texelFetch(u_state, 2 * id).xyz);
}
#endif

#ifdef GRID
uniform ivec2 u_size;              // columns, rows
uniform ivec2 u_along;             // columns and rows from a particle to the next of its line
uniform float u_border;            // part of the stiffness that lines along the border have
uniform vec2 u_thread;             // rest length [m], factor
#ifdef SPRING_MAPS
uniform samplerBuffer u_spring_maps; // as in cloth/grid.glsl
uniform ivec2 u_map;               // texel and number of the factor of the edge
#endif

struct Place {
    int id;
    int stride;
    ivec2 cell;
};

Place place_of(int id) {
    int row = int((float(id) + 0.5) / float(u_size.x));
    return Place(id, u_along.y * u_size.x + u_along.x, ivec2(id - row * u_size.x, row));
}

bool has(Place place, int offset) {
    ivec2 cell = place.cell + offset * u_along;
    return cell.x >= 0 && cell.y >= 0 && cell.x < u_size.x && cell.y < u_size.y;
}
#else
uniform samplerBuffer u_edges;     // two texels a place: before, first, second, after | rest length [m], factor, 0, 0
uniform samplerBuffer u_places;    // before, after, place, place before
#endif

struct Edge {
    ivec4 particles;               // before, first, second, after
    float rest;                    // [m]
    float factor;                  // 0 if there is no edge
};

struct Beside {
    ivec2 particles;               // before, after
    ivec2 edges;                   // that lead to it and from it
};

Edge edge_at(int id) {
#ifdef GRID
    Place place = place_of(id);
    bool exists = has(place, 0) && has(place, 1);
    int next = exists ? id + place.stride : id;
    int before = exists && has(place, -1) ? id - place.stride : id;
    int after = exists && has(place, 2) ? next + place.stride : next;
    bvec4 inside = bvec4(place.cell.x > 0, place.cell.y > 0, place.cell.x < u_size.x - 1, place.cell.y < u_size.y - 1);
    bool at_border = (u_along.x == 0 && !(inside.x && inside.z)) || (u_along.y == 0 && !(inside.y && inside.w));
    float factor = (exists ? u_thread.y : 0.0) * (at_border ? u_border : 1.0);
#ifdef SPRING_MAPS
    factor *= texelFetch(u_spring_maps, 3 * id + u_map.x)[u_map.y];
#endif
    return Edge(ivec4(before, id, next, after), u_thread.x, factor);
#else
    vec4 rest = texelFetch(u_edges, 2 * id + 1);
    return Edge(ivec4(texelFetch(u_edges, 2 * id)), rest.x, rest.y);
#endif
}

Beside beside(int id) {
#ifdef GRID
    Place place = place_of(id);
    int before = has(place, 0) && has(place, -1) ? id - place.stride : id;
    int after = has(place, 0) && has(place, 1) ? id + place.stride : id;
    return Beside(ivec2(before, after), ivec2(before, id));
#else
    ivec4 found = ivec4(texelFetch(u_places, id));
    return Beside(found.xy, found.wz);
#endif
}

vec3 direction(vec3 way) {
    return way / max(sqrt(dot(way, way)), 1e-20);
}

struct Way {
    vec3 whole;                    // [m]
    vec3 along;                    // direction
    vec3 push;                     // direction of impulses
};

// Impulses are along the edge as it was at the beginning of the substep, unless it has turned far or carries so much that its
// particles have more inertia.
Way way_between(int from, int to) {
    vec3 start = texelFetch(u_state, 2 * to).xyz - texelFetch(u_state, 2 * from).xyz;
    vec3 whole = start + (texelFetch(u_points, to).xyz - texelFetch(u_points, from).xyz);
    vec3 along = direction(whole);
    vec3 former = direction(start);
    float load = u_inertia * max(texelFetch(u_loads, from).w, texelFetch(u_loads, to).w);
    return Way(whole, along, load < 1.0 && dot(former, along) > 0.5 ? former : along);
}
