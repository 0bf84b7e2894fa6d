// The edges of a family of lines, and the particles around them.
// GRID takes them by arithmetic, where record i is the edge from particle i on; otherwise they come from tables, where the
// edges of a path follow each other. A particle that is missing is its neighbour, so that its edge has no direction.
// Reference: J.-P. Ryckaert et al. 1977, "Numerical integration of the cartesian equations of motion of a system with
// constraints", for impulses along the edges as they were, which keep angular momentum.

#include "cloth/offset.glsl"

uniform samplerBuffer u_state;     // at the beginning of the substep
uniform samplerBuffer u_points;    // as cloth/line_predict.glsl makes them
uniform float u_inertia;           // as there
uniform float u_compliance;        // 1 / (stiffness for a factor of 1, times the square of the substep) [1/kg]
#ifdef DAMPED
uniform float u_rate;              // damping over stiffness over the substep
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

struct Beside {
    ivec2 particles;               // before, after
    ivec2 edges;                   // that lead to it and from it
};

// Rest length [m] and factor of an edge.
vec2 thread_at(int id) {
#ifdef GRID
    Place place = place_of(id);
    bvec4 inside = bvec4(place.cell.x > 0, place.cell.y > 0, place.cell.x < u_size.x - 1, place.cell.y < u_size.y - 1);
    bool at_border = (u_along.x == 0 && !(inside.x && inside.z)) || (u_along.y == 0 && !(inside.y && inside.w));
    float factor = (has(place, 0) && has(place, 1) ? u_thread.y : 0.0) * (at_border ? u_border : 1.0);
#ifdef SPRING_MAPS
    factor *= texelFetch(u_spring_maps, 3 * id + u_map.x)[u_map.y];
#endif
    return vec2(u_thread.x, factor);
#else
    return texelFetch(u_edges, 2 * id + 1).xy;
#endif
}

// The edges before and after on its line; any if there is none.
int edge_before(int id) {
#ifdef GRID
    return max(id - u_along.y * u_size.x - u_along.x, 0);
#else
    return max(id - 1, 0);
#endif
}

int edge_after(int id) {
#ifdef GRID
    return id + u_along.y * u_size.x + u_along.x;
#else
    return min(id + 1, textureSize(u_edges) / 2 - 1);
#endif
}

// Particles of an edge: before, first, second, after.
ivec4 particles_at(int id) {
#ifdef GRID
    Place place = place_of(id);
    bool exists = has(place, 0) && has(place, 1);
    int next = exists ? id + place.stride : id;
    int before = exists && has(place, -1) ? id - place.stride : id;
    int after = exists && has(place, 2) ? next + place.stride : next;
    return ivec4(before, id, next, after);
#else
    return ivec4(texelFetch(u_edges, 2 * id));
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

const float TURN = 0.98;           // cosine of the largest turn of an edge in a substep

struct Way {
    vec3 whole;                    // [m]
    vec3 moved;                    // change within the substep [m], with DAMPED
    vec3 along;                    // direction
    vec3 push;                     // direction of impulses
    float weight;                  // the larger inverse mass of both ends [1/kg]
};

// Impulses are along the edge as it was at the beginning of the substep, unless it has turned far, or its force then or the
// load of an end is such that more inertia is needed: there the direction of the edge as it is damps what would grow.
Way way_between(int from, int to, vec2 thread) {
    vec4 first = texelFetch(u_points, from);
    vec4 second = texelFetch(u_points, to);
    vec3 here = texelFetch(u_state, 2 * from).xyz;
    vec3 there = texelFetch(u_state, 2 * to).xyz;
    vec3 moved = vec3(0.0);
#ifdef DAMPED
    moved = second.xyz - remainder_of(texelFetch(u_state, 2 * to + 1).w, there);
    moved -= first.xyz - remainder_of(texelFetch(u_state, 2 * from + 1).w, here);
#endif
    vec3 start = there - here;
    vec3 whole = start + (second.xyz - first.xyz);
    vec3 along = direction(whole);
    float reach = sqrt(dot(start, start));
    vec3 former = start / max(reach, 1e-20);
    float weight = max(abs(first.w), abs(second.w));
    float force = abs(reach - thread.x) * thread.y * weight / max(u_compliance * reach, 1e-30);
    bool keeps = u_inertia * force < 1.0 && dot(former, along) > TURN && first.w >= 0.0 && second.w >= 0.0;
    vec3 push = keeps ? former : along;
    return Way(whole, moved, along, push, weight);
}

// The impulse of an edge with its direction; one that is as large acts along the edge as it is, too.
vec3 pushed(Way way, float impulse) {
    float load = abs(impulse) * way.weight / max(sqrt(dot(way.whole, way.whole)), 1e-20);
    return impulse * (u_inertia * load < 1.0 ? way.push : way.along);
}
