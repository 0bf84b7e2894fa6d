// Lists the triangles of moving skins that a particle comes nearest to within a span of a step, nearest first.
// Inputs: boxes of the tree from the root on, four below each; particles as two texels each: position [m] | velocity
// [m/s]. With KNOTS: the states of strands, whose places count from the root, and four texels a root, see hair/root.glsl.
// With JOINTS: the state of joints, whose heads count from roots, a texel each, and whose tips from the heads.
// Outputs: SKIN_LISTED numbers of triangles, SKIN_END after the last. The particle counts as going straight on.
// With APART: two lists a particle, of triangles that do not yield and of those that do, as many of each.
// The tree is descended without a stack: nodes of a level are numbered, four children follow each other.

#include "skin/triangle.glsl"

uniform samplerBuffer u_boxes;
uniform int u_depth;                 // levels of boxes
uniform int u_count;                 // triangles
uniform vec4 u_span;                 // start and end as fractions of the step, duration [s], largest distance [m]
uniform samplerBuffer u_places;
#ifdef KNOTS
uniform samplerBuffer u_places_before;
uniform samplerBuffer u_roots;
uniform float u_substeps;            // of the strands in the span
#elif defined(JOINTS)
uniform samplerBuffer u_roots;
uniform float u_substeps;            // of the joints in the span
#endif

void path_of(int id, out vec3 start, out vec3 end) {
#ifdef KNOTS
    vec4 root = texelFetch(u_roots, 4 * (id / KNOTS));
    vec3 travel = texelFetch(u_roots, 4 * (id / KNOTS) + 2).xyz - root.xyz;
    vec3 place = texelFetch(u_places, id).xyz;
    start = root.xyz + u_span.x * travel + place;
    end = start + (u_span.y - u_span.x) * travel + u_substeps * (place - texelFetch(u_places_before, id).xyz);
    end = id % KNOTS > 0 ? end : start;
#elif defined(JOINTS)
    vec3 head = texelFetch(u_places, 4 * id).xyz;
    start = texelFetch(u_roots, id).xyz + (head + texelFetch(u_places, 4 * id + 1).xyz);
    end = start + u_substeps * texelFetch(u_places, 4 * id + 2).xyz;
#else
    start = texelFetch(u_places, 2 * id).xyz;
    end = start + u_span.z * texelFetch(u_places, 2 * id + 1).xyz;
#endif
}

// Distance from the middle of the path. With LONG_PATHS: from its nearer end, or below 0 for a triangle that it meets,
// the first one lowest.
float rank_of(int number, vec3 start, vec3 end) {
#ifdef LONG_PATHS
    Triangle before = triangle_at(number, u_span.x);
    Triangle after = triangle_at(number, u_span.y);
    vec3 begin = start - point_at(before, nearest_weights(before, start));
    vec3 last = end - point_at(after, nearest_weights(after, end));
    vec2 sides = vec2(
        dot(start - before.a, unit_or_zero(area_normal(before))), dot(end - after.a, unit_or_zero(area_normal(after)))
    );
    float moment = meeting_time(before, after, sides, start, end);
    return moment <= 1.0 ? moment - 1.5 : sqrt(min(dot(begin, begin), dot(last, last)));
#else
    Triangle own = triangle_at(number, 0.5 * (u_span.x + u_span.y));
    vec3 middle = 0.5 * (start + end);
    return distance(middle, point_at(own, nearest_weights(own, middle)));
#endif
}

// Square of the distance of a point from a box, huge for a box without content.
float gap_square(int box, vec3 point) {
    vec3 lo = texelFetch(u_boxes, 2 * box).xyz;
    vec3 hi = texelFetch(u_boxes, 2 * box + 1).xyz;
    vec3 gap = max(max(lo - point, point - hi), vec3(0.0));
    return dot(gap, gap);
}

void run(int id) {
    vec3 start;
    vec3 end;
#ifdef APART
    path_of(id / 2, start, end);
    uint yields = (id & 1) == 0 ? 0u : SKIN_YIELDS;
#else
    path_of(id, start, end);
#endif
    vec3 middle = 0.5 * (start + end);
    float reach = 0.5 * distance(start, end);
    float ranks[SKIN_LISTED];
    uint found[SKIN_LISTED];
    for (int i = 0; i < SKIN_LISTED; ++i) {
        ranks[i] = u_span.w;
        found[i] = SKIN_END;
    }
    int level = 0;
    int node = 0;
    int first = 0;                   // box of the first node of the level
    bool goes_on = true;
    while (goes_on) {
        float within = max(ranks[SKIN_LISTED - 1], 0.0) + reach;
        bool near = gap_square(first + node, middle) <= within * within;
        if (near && level < u_depth - 1) {
            first = 4 * first + 1;
            node *= 4;
            ++level;
        } else {
            int last = near ? min(4 * node + 4, u_count) : 0;
            for (int number = 4 * node; number < last; ++number) {
                float rank = rank_of(number, start, end);
#ifdef APART
                rank = (skin_flags(number) & SKIN_YIELDS) == yields ? rank : SKIN_FAR;
#endif
                uint entry = uint(number);
                for (int i = 0; i < SKIN_LISTED; ++i) {
                    bool before = rank < ranks[i];
                    float other_rank = ranks[i];
                    uint other = found[i];
                    ranks[i] = before ? rank : other_rank;
                    found[i] = before ? entry : other;
                    rank = before ? other_rank : rank;
                    entry = before ? other : entry;
                }
            }
            while (level > 0 && (node & 3) == 3) {
                node >>= 2;
                first = (first - 1) / 4;
                --level;
            }
            goes_on = level > 0;
            ++node;
        }
    }
    o_near = uvec4(found[0], found[1], found[2], found[3]);
}
