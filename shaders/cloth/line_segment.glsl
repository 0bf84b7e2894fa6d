// A segment of a family of lines: SEGMENT points and the edges from each of them to the next.
// On a sheet FAMILY is the family, numbered as the orders of cloth/line_layout.glsl; on a mesh its lines follow each other as
// if they were one, with edges of factor 0 between them. JOINTS are the segments whose last edges are solved together.

#include "cloth/line_layout.glsl"
#include "cloth/offset.glsl"

uniform samplerBuffer u_points;    // as of cloth/line_predict.glsl, in ORDER
uniform samplerBuffer u_state;     // at the beginning of the substep
uniform float u_inertia;           // as in cloth/line_predict.glsl
uniform float u_compliance;        // 1 / (stiffness for a factor of 1, times the square of the substep) [1/kg]
#ifdef DAMPED
uniform float u_rate;              // damping over stiffness over the substep
#endif
uniform vec2 u_reach;              // segments before and after others that matter; segments of a mesh that hold edges

// Calls of a function, as compilers do not unroll long loops, and arrays with varying indices are slow on many machines.
#if SEGMENT > 8
#define EACH(make) make(0); make(1); make(2); make(3); make(4); make(5); make(6); make(7); MORE(make)
#define MORE(make) make(8); make(9); make(10); make(11); make(12); make(13); make(14); make(15)
#define EACH_BACK(make) LESS(make); make(7); make(6); make(5); make(4); make(3); make(2); make(1); make(0)
#define LESS(make) make(15); make(14); make(13); make(12); make(11); make(10); make(9); make(8)
#else
#define EACH(make) make(0); make(1); make(2); make(3); make(4); make(5); make(6); make(7)
#define EACH_BACK(make) make(7); make(6); make(5); make(4); make(3); make(2); make(1); make(0)
#endif

struct Segment {
    int line;
    int number;                    // in its line
};

int segments_of_a_line();

int blocks_of_a_line() {
    return int(uint(segments_of_a_line() + JOINTS - 1) / uint(JOINTS));
}

#ifdef GRID
uniform float u_border;            // part of the stiffness that lines along the border have
uniform vec2 u_thread;             // rest length [m], factor
#ifdef SPRING_MAPS
uniform samplerBuffer u_spring_maps; // as in cloth/grid.glsl
uniform ivec2 u_map;               // texel and number of the factor of the edge
#endif

#define CELL ivec2

int segments_of_a_line() {
    return int(uint(padded(FAMILY == 2 ? u_size.x : u_size.y)) / uint(SEGMENT));
}

Segment segment_of(int id) {
    int count = segments_of_a_line();
    int line = int((float(id) + 0.5) / float(count));
    return Segment(line, id - line * count);
}

ivec2 first_cell(int id) {
    Segment segment = segment_of(id);
    int line = segment.line;
    int place = SEGMENT * segment.number;
#if FAMILY == 0
    return ivec2(wrapped(line + place), place);
#elif FAMILY == 1
    return ivec2(wrapped(line - place), place);
#elif FAMILY == 2
    return ivec2(place, line);
#else
    return ivec2(line, place);
#endif
}

ivec2 moved_along(ivec2 cell, int steps) {
#if FAMILY == 0
    return ivec2(wrapped(cell.x + steps), cell.y + steps);
#elif FAMILY == 1
    return ivec2(wrapped(cell.x - steps), cell.y + steps);
#elif FAMILY == 2
    return ivec2(cell.x + steps, cell.y);
#else
    return ivec2(cell.x, cell.y + steps);
#endif
}

ivec2 inside(ivec2 cell) {
    return clamp(cell, ivec2(0), u_size - 1);
}

int particle_in(ivec2 cell) {
    return index_in(NATURAL, inside(cell));
}

int point_in_order(ivec2 cell) {
    return index_in(ORDER, inside(cell));
}

// Record of the edge from the point of a cell on.
int row_of(ivec2 cell) {
    return index_in(FAMILY, inside(cell));
}

// Rest length [m] and factor of the edge to the next point of the line, 0 if there is none.
vec2 thread_in(ivec2 cell) {
    ivec2 last = u_size - 1;
#if FAMILY == 0
    bool leads = cell.y >= 0 && cell.y < last.y && cell.x < last.x;
    bool is_border = false;
#elif FAMILY == 1
    bool leads = cell.y >= 0 && cell.y < last.y && cell.x > 0 && cell.x <= last.x;
    bool is_border = false;
#elif FAMILY == 2
    bool leads = cell.x >= 0 && cell.x < last.x && cell.y <= last.y;
    bool is_border = cell.y == 0 || cell.y == last.y;
#else
    bool leads = cell.y >= 0 && cell.y < last.y && cell.x <= last.x;
    bool is_border = cell.x == 0 || cell.x == last.x;
#endif
    float factor = (leads ? u_thread.y : 0.0) * (is_border ? u_border : 1.0);
#ifdef SPRING_MAPS
    factor *= texelFetch(u_spring_maps, 3 * particle_in(cell) + u_map.x)[u_map.y];
#endif
    return vec2(u_thread.x, factor);
}
#else
uniform samplerBuffer u_places;    // particle, its place in ORDER, rest length [m] and factor of the edge to the next place


#define CELL int

int segments_of_a_line() {
    return int(u_reach.y);
}

Segment segment_of(int id) {
    return Segment(0, id);
}

int first_cell(int id) {
    return SEGMENT * id;
}

int moved_along(int place, int steps) {
    return place + steps;
}

vec4 place_in(int place) {
    return texelFetch(u_places, clamp(place, 0, textureSize(u_places) - 1));
}

int particle_in(int place) {
    return int(place_in(place).x);
}

int point_in_order(int place) {
    return int(ORDER == NATURAL ? place_in(place).x : place_in(place).y);
}

int row_of(int place) {
    return max(place, 0);
}

vec2 thread_in(int place) {
    return place < 0 ? vec2(0.0) : place_in(place).zw;
}
#endif

struct Point {
    vec3 place;
    vec3 remainder;                // what the place cannot hold
    vec3 offset;                   // from the place, at the end of the substep
    float weight;                  // inverse mass [1/kg]
    float sign;                    // -1 with more inertia
};

Point point_in(CELL cell) {
    int particle = particle_in(cell);
    vec3 place = texelFetch(u_state, 2 * particle).xyz;
    vec4 point = texelFetch(u_points, point_in_order(cell));
    vec3 remainder = remainder_of(texelFetch(u_state, 2 * particle + 1).w, place);
    return Point(place, remainder, point.xyz, abs(point.w), point.w < 0.0 ? -1.0 : 1.0);
}

// From one point to another, at the beginning of the substep.
vec3 start_between(Point first, Point second) {
    return (second.place - first.place) + (second.remainder - first.remainder);
}

// From one point to another, at its end.
vec3 end_between(Point first, Point second) {
    return (second.place - first.place) + (second.offset - first.offset);
}

// What the substep changes.
vec3 change_between(Point first, Point second) {
    return (second.offset - second.remainder) - (first.offset - first.remainder);
}

vec3 direction(vec3 way) {
    return way / max(sqrt(dot(way, way)), 1e-20);
}
