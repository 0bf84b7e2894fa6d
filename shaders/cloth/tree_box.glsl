// Boxes of a tree over the triangles of several cloths: one of a triangle with its margin, or with INNER one around what is below a node.
// Inputs: state of all particles of the group, triangles in the order of the tree; or the level below those that are written. Outputs: a box, see cloth/tree_search.glsl; one without content is inside out.

uniform float u_span;              // [s]
#ifdef INNER
uniform samplerBuffer u_boxes;
uniform int u_first;               // first node that is written
uniform int u_lowest;              // first node of the lowest of the levels that are written
uniform int u_first_child;         // first child of this one
uniform int u_children;            // children of a node of this lowest level
#else
#include "cloth/face.glsl"
#endif

const uint NO_CLOTH = 0xffffffffu;
const float NOWHERE = 1e15;

void run(int id) {
    vec3 low = vec3(NOWHERE);
    vec3 high = vec3(-NOWHERE);
    vec3 low_after = low;
    vec3 high_after = high;
#ifdef INNER
    int node = u_first + id;
    int count = u_children;
    while (node < u_lowest) {
        node = FAN * node + 1;
        count *= FAN;
    }
    int child = 3 * (u_first_child + u_children * (node - u_lowest));
    for (int end = child + 3 * count; child < end; child += 3) {
        vec4 first = texelFetch(u_boxes, child);
        vec4 second = texelFetch(u_boxes, child + 1);
        vec4 third = texelFetch(u_boxes, child + 2);
        low = min(low, first.xyz);
        high = max(high, vec3(first.w, second.xy));
        low_after = min(low_after, vec3(second.zw, third.x));
        high_after = max(high_after, third.yzw);
    }
#else
    uvec4 corners = texelFetch(u_corners, id);
    Face face = face_at(corners, 0);
    Face motion = face_at(corners, 1);
    Face after = Face(
        face.first + u_span * motion.first, face.second + u_span * motion.second, face.third + u_span * motion.third
    );
    vec3 least = min(face.first, min(face.second, face.third));
    vec3 most = max(face.first, max(face.second, face.third));
    vec3 least_after = min(after.first, min(after.second, after.third));
    vec3 most_after = max(after.first, max(after.second, after.third));
    // False for what is not a number: a cloth that fails must not hide the others.
    vec3 sum = abs(face.first) + abs(face.second) + abs(face.third);
    vec3 sum_after = abs(after.first) + abs(after.second) + abs(after.third);
    if (corners.w != NO_CLOTH && all(lessThan(sum, vec3(NOWHERE))) && all(lessThan(sum_after, vec3(NOWHERE)))) {
        float more = face_margin(motion, u_span);
        low = least - more;
        high = most + more;
        low_after = least_after - more;
        high_after = most_after + more;
    }
#endif
    o_box_0 = vec4(low, high.x);
    o_box_1 = vec4(high.yz, low_after.xy);
    o_box_2 = vec4(low_after.z, high_after);
}
