// Forces on a particle that lines do not solve; the includes of GRID or of a mesh come before.

#ifdef GRID
// Threads only [N].
vec3 thread_force(int id, Particle own) {
    GridPlace place = grid_place(id);
    Spring across = spring_of(u_across);
    Spring along = spring_of(u_along);
#ifdef SPRING_MAPS
    vec4 map = texelFetch(u_spring_maps, 3 * id);
#endif
    return place.row_share
        * (MAPPED(map, 0, pull(own, neighbour(place, place.near.x, -1), across))
            + MAPPED(map, 1, pull(own, neighbour(place, place.near.y, 1), across)))
        + place.column_share
        * (MAPPED(map, 2, pull(own, neighbour(place, place.near.z, -u_size.x), along))
            + MAPPED(map, 3, pull(own, neighbour(place, place.near.w, u_size.x), along)));
}

// Air only [N].
vec3 neighbour_air(int id, Particle own, vec3 air, vec2 drag) {
    GridPlace place = grid_place(id);
    bvec4 near = place.near;
    int columns = u_size.x;
    Particle left = neighbour(place, near.x, -1);
    Particle right = neighbour(place, near.y, 1);
    Particle upper = neighbour(place, near.z, -columns);
    Particle lower = neighbour(place, near.w, columns);
    Particle upper_left = neighbour(place, near.z && near.x, -columns - 1);
    Particle upper_right = neighbour(place, near.z && near.y, -columns + 1);
    Particle lower_left = neighbour(place, near.w && near.x, columns - 1);
    Particle lower_right = neighbour(place, near.w && near.y, columns + 1);
    return u_ones.x
        * (cell_air(own, left, upper_left, upper, air, drag) + cell_air(own, right, upper_right, upper, air, drag))
        + u_ones.y
        * (cell_air(own, left, lower_left, lower, air, drag) + cell_air(own, right, lower_right, lower, air, drag));
}
#else
vec3 thread_force(int id, Particle own) {
    vec3 total = vec3(0.0);
    for (int i = 0; i < THREADS; ++i) {
        vec4 slot = texelFetch(u_springs, id * SLOTS + i);
        Particle other = particle_at(int(slot.x));
        total += spring_force(own.position - other.position, own.velocity - other.velocity, spring_in(slot, u_thread));
    }
    return total;
}

vec3 neighbour_air(int id, Particle own, vec3 air, vec2 drag) {
    vec3 total = vec3(0.0);
    for (int i = 0; i < FACES; ++i) {
        uvec4 face = texelFetch(u_faces, id * FACES + i);
        Particle second = particle_at(int(face.x));
        Particle third = particle_at(int(face.y));
        vec3 area = 0.5 * cross(second.position - own.position, third.position - own.position);
        vec3 moving = (own.velocity + second.velocity + third.velocity) * (1.0 / 3.0);
        total += air_force(area, air - moving, drag.x, drag.y, 1.0 / 3.0);
    }
    return total;
}
#endif
