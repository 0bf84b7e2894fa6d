// Springs and faces around a particle of a rectangular sheet, whose neighbours are found by arithmetic.
// Inputs: state of all particles, shape of the sheet, constants of the
// springs. Outputs: forces [N], energy [J], strain. World space, SI.
// A neighbour that is missing is the particle itself: its spring has no length and its face no area, so nothing branches.
// Sums pair mirror images, so that a mirrored sheet moves as the mirror image bit for bit; every pair has a
// factor, because compilers rearrange longer sums. Faces are the cells.

#include "cloth/spring.glsl"
#include "cloth/air.glsl"

uniform samplerBuffer u_state;
uniform ivec2 u_size;              // columns, rows
uniform vec3 u_across;             // structural spring along a row: rest, stiffness, damping
uniform vec3 u_along;              // the same along a column
uniform vec3 u_diagonal;           // shear
uniform vec3 u_bend_across;
uniform vec3 u_bend_along;
uniform vec3 u_bend_limits;        // shortest across, shortest along, longest [m]
uniform float u_border;            // part of the constants that springs along the border have
uniform vec2 u_ones;               // 1, 1; compilers rearrange sums, but not across products with different factors

#ifdef SPRING_MAPS
uniform samplerBuffer u_spring_maps; // factors: left, right, upper, lower thread | shear from upper left on | bending
#define MAPPED(factors, slot, value) (factors[slot] * (value))
#else
#define MAPPED(factors, slot, value) value
#endif

struct GridPlace {
    int id;
    bvec4 near;    // is there a left, right, upper, lower neighbour
    bvec4 far;     // and one two cells away
    float row_share;
    float column_share;
};

#ifdef CENTRED
vec3 centre;                       // positions are offsets from here: a float32 far from the origin is too coarse for forces
#endif

// AIR needs DAMPED: only with it are the velocities of neighbours read.
Particle particle_at(int id) {
    vec3 position = texelFetch(u_state, 2 * id).xyz;
    vec4 second = vec4(0.0);
#if defined(DAMPED) || defined(CENTRED)
    second = texelFetch(u_state, 2 * id + 1);
#endif
#ifdef CENTRED
    position = (position - centre) + remainder_of(second.w, position);
#endif
    return Particle(position, second.xyz);
}

GridPlace grid_place(int id) {
    // Whole-number division is slow on many machines; this is exact for every sheet that is allowed.
    int row = int((float(id) + 0.5) / float(u_size.x));
    int column = id - row * u_size.x;
    ivec2 last = u_size - 1;
    bvec4 near = bvec4(column > 0, column < last.x, row > 0, row < last.y);
    bvec4 far = bvec4(column > 1, column < last.x - 1, row > 1, row < last.y - 1);
    float row_share = near.z && near.w ? 1.0 : u_border;
    float column_share = near.x && near.y ? 1.0 : u_border;
    return GridPlace(id, near, far, row_share, column_share);
}

Particle neighbour(GridPlace place, bool exists, int offset) {
    return particle_at(exists ? place.id + offset : place.id);
}

Spring spring_of(vec3 constants) {
    return Spring(constants.x, constants.y, constants.z);
}

vec3 pull(Particle own, Particle other, Spring spring) {
    return spring_force(own.position - other.position, own.velocity - other.velocity, spring);
}

vec3 push(Particle own, Particle other, Spring spring, float low, float high) {
    vec3 apart = own.position - other.position;
    return limited_force(apart, own.velocity - other.velocity, spring, low, high);
}

// Air on the quarter of a cell that belongs to the particle; corners in the order of the cell's outline.
vec3 cell_air(Particle own, Particle beside, Particle opposite, Particle below, vec3 air, vec2 drag) {
    vec3 area = 0.5 * cross(opposite.position - own.position, below.position - beside.position);
    vec3 moving = 0.25 * ((own.velocity + beside.velocity) + (opposite.velocity + below.velocity));
    return air_force(area, air - moving, drag.x, drag.y, 0.25);
}

// All springs, and the air with AIR.
vec3 neighbour_forces(int id, Particle own, vec3 air, vec2 drag) {
    GridPlace place = grid_place(id);
    bvec4 near = place.near;
    int columns = u_size.x;
    Particle left = neighbour(place, near.x, -1);
    Particle right = neighbour(place, near.y, 1);
    Particle upper = neighbour(place, near.z, -columns);
    Particle lower = neighbour(place, near.w, columns);
    Spring across = spring_of(u_across);
    Spring along = spring_of(u_along);
#ifdef SPRING_MAPS
    vec4 thread_map = texelFetch(u_spring_maps, 3 * id);
    vec4 shear_map = texelFetch(u_spring_maps, 3 * id + 1);
    vec4 bend_map = texelFetch(u_spring_maps, 3 * id + 2);
#endif
    vec3 total = place.row_share
        * (MAPPED(thread_map, 0, pull(own, left, across)) + MAPPED(thread_map, 1, pull(own, right, across)))
        + place.column_share
        * (MAPPED(thread_map, 2, pull(own, upper, along)) + MAPPED(thread_map, 3, pull(own, lower, along)));
#if defined(SHEAR) || defined(AIR)
    Particle upper_left = neighbour(place, near.z && near.x, -columns - 1);
    Particle upper_right = neighbour(place, near.z && near.y, -columns + 1);
    Particle lower_left = neighbour(place, near.w && near.x, columns - 1);
    Particle lower_right = neighbour(place, near.w && near.y, columns + 1);
#endif
#ifdef SHEAR
    Spring diagonal = spring_of(u_diagonal);
    total += u_ones.x
        * (MAPPED(shear_map, 0, pull(own, upper_left, diagonal)) + MAPPED(shear_map, 1, pull(own, upper_right, diagonal)))
        + u_ones.y
        * (MAPPED(shear_map, 2, pull(own, lower_left, diagonal)) + MAPPED(shear_map, 3, pull(own, lower_right, diagonal)));
#endif
#ifdef BEND
    bvec4 far = place.far;
    Spring bend_across = spring_of(u_bend_across);
    Spring bend_along = spring_of(u_bend_along);
    vec3 limits = u_bend_limits;
    total += place.row_share
        * (MAPPED(bend_map, 0, push(own, neighbour(place, far.x, -2), bend_across, limits.x, limits.z))
            + MAPPED(bend_map, 1, push(own, neighbour(place, far.y, 2), bend_across, limits.x, limits.z)));
    total += place.column_share
        * (MAPPED(bend_map, 2, push(own, neighbour(place, far.z, -2 * columns), bend_along, limits.y, limits.z))
            + MAPPED(bend_map, 3, push(own, neighbour(place, far.w, 2 * columns), bend_along, limits.y, limits.z)));
#endif
#ifdef AIR
    total += u_ones.x
        * (cell_air(own, left, upper_left, upper, air, drag) + cell_air(own, right, upper_right, upper, air, drag));
    total += u_ones.y
        * (cell_air(own, left, lower_left, lower, air, drag) + cell_air(own, right, lower_right, lower, air, drag));
#endif
    return total;
}

// Energy [J] that belongs to the particle (half of each spring's), and the largest strain of its threads.
vec2 neighbour_energy(int id, Particle own) {
    GridPlace place = grid_place(id);
    bvec4 near = place.near;
    bvec4 far = place.far;
    int columns = u_size.x;
    const float FREE = 1e30;
    vec2 found = vec2(0.0, -1.0);
#ifdef SPRING_MAPS
    vec4 thread_map = texelFetch(u_spring_maps, 3 * id);
    vec4 shear_map = texelFetch(u_spring_maps, 3 * id + 1);
    vec4 bend_map = texelFetch(u_spring_maps, 3 * id + 2);
#endif
    for (int i = 0; i < 4; ++i) {
        bool is_row = i < 2;
        int step_size = (is_row ? 1 : columns) * (i % 2 == 0 ? -1 : 1);
        float share = is_row ? place.row_share : place.column_share;
        vec3 apart = own.position - neighbour(place, near[i], step_size).position;
        Spring thread = spring_of(is_row ? u_across : u_along);
        found.x += MAPPED(thread_map, i, share * spring_energy(apart, thread, -FREE, FREE) * float(near[i]));
        found.y = near[i] ? max(found.y, length(apart) / thread.rest - 1.0) : found.y;
        vec3 folded = own.position - neighbour(place, far[i], 2 * step_size).position;
        float low = is_row ? u_bend_limits.x : u_bend_limits.y;
        Spring bend = spring_of(is_row ? u_bend_across : u_bend_along);
        found.x += MAPPED(bend_map, i, share * spring_energy(folded, bend, low, u_bend_limits.z) * float(far[i]));
        ivec2 corner = ivec2(i % 2, 2 + i / 2);
        bool exists = near[corner.x] && near[corner.y];
        int offset = (corner.x == 0 ? -1 : 1) + (corner.y == 2 ? -columns : columns);
        vec3 slanted = own.position - neighbour(place, exists, offset).position;
        found.x += MAPPED(shear_map, i, spring_energy(slanted, spring_of(u_diagonal), -FREE, FREE) * float(exists));
    }
    return vec2(0.5 * found.x, found.y);
}

// Sum of the area vectors of the cells around the particle, towards the side from which rows run down and columns right.
vec3 area_around(int id, Particle own) {
    GridPlace place = grid_place(id);
    bvec4 near = place.near;
    int columns = u_size.x;
    vec3 left = neighbour(place, near.x, -1).position - own.position;
    vec3 right = neighbour(place, near.y, 1).position - own.position;
    vec3 upper = neighbour(place, near.z, -columns).position - own.position;
    vec3 lower = neighbour(place, near.w, columns).position - own.position;
    return cross(right - left, upper - lower);
}
