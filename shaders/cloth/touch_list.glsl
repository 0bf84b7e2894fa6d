// Finds the triangles of other cloths that one particle may touch within a span of time: the two nearest.
// Inputs: state of all particles of a group of cloths, tree over their triangles with lists of cloth/touch_nodes.glsl, cloths,
// pairs of cloths that meet.
// Outputs: for each 4 times the number of the triangle, plus 1 on the side of its normal, plus 2 if it must stay there; NONE
// after the last.

#include "cloth/face.glsl"
#include "cloth/tree_search.glsl"

uniform usamplerBuffer u_owners;   // cloth of each particle, or NONE for padding; its list of nodes
uniform usamplerBuffer u_members;  // particles by leaf, those of no cloth last
uniform samplerBuffer u_cloths;    // inverse mass for a share of 1 [1/kg], thickness [m], friction, 1 if it takes part
uniform samplerBuffer u_failed;    // the last number is the step that failed, or 0
uniform usamplerBuffer u_pairs;    // for each two cloths whether they meet
uniform int u_cloth_count;
uniform float u_span;              // [s]
uniform float u_reach;             // largest clearance [m]

const uint NONE = 0xffffffffu;

bool takes_part(int cloth) {
    return texelFetch(u_cloths, cloth).w > 0.0 && texelFetch(u_failed, cloth).w == 0.0;
}

float distance_after(float time, Face face, Face motion, vec3 place, vec3 velocity) {
    Face then = Face(
        face.first + time * motion.first, face.second + time * motion.second, face.third + time * motion.third
    );
    vec3 point = place + time * velocity;
    return distance(point, face_point(then, nearest_weights(then, point)));
}

void run(int id) {
    int particle = int(texelFetch(u_members, id).x);
    vec3 here = texelFetch(u_state, 2 * particle).xyz;
    vec3 velocity = texelFetch(u_state, 2 * particle + 1).xyz;
    vec3 there = here + u_span * velocity;
    float own_margin = margin(length(velocity), u_span);
    Box own = Box(here, here, there, there);
    uint owner = texelFetch(u_owners, particle).x;
    int list = int(texelFetch(u_owners, particle).y);
    vec2 distances = vec2(1e30);
    uvec2 found = uvec2(NONE);
    ivec2 clothes = ivec2(-1);
    Search search = begun(list, owner);
    search.node = owner != NONE && takes_part(int(owner)) ? search.node : -1;
    while (search.node >= 0) {
        int node = -1;
        while (search.node >= 0 && node < 0) {
            node = visited(search, own, min(u_reach + own_margin, max(distances.y - margin(0.0, u_span), 1e-6)));
        }
        int number = node < 0 ? 0 : node - u_bottom;
        uvec4 corners = texelFetch(u_corners, number);
        int other = int(corners.w);
        Face face = face_at(corners, 0);
        Face motion = face_at(corners, 1);
        vec3 weights = nearest_weights(face, here);
        float far = distance(here, face_point(face, weights));
        // When it meets the plane of the triangle, or at the end
        vec3 area = face_area(face);
        float height = dot(here - face.first, area);
        float approach = -dot(velocity - face_point(motion, vec3(1.0 / 3.0)), area);
        float meeting = approach * height > 0.0 ? min(height / approach, u_span) : u_span;
        far = min(far, distance_after(meeting, face, motion, here, velocity));
        float clearance = 0.5 * (texelFetch(u_cloths, int(owner)).y + texelFetch(u_cloths, other).y);
        float near = clearance + own_margin + face_margin(motion, u_span);
        bool meets = node >= 0 && texelFetch(u_pairs, int(owner) * u_cloth_count + other).x > 0u && takes_part(other);
        if (meets && clearance > 0.0 && far < near && far < distances.y) {
            bool inside = min(weights.x, min(weights.y, weights.z)) > 0.0;
            uint entry = 4u * uint(number) + (height >= 0.0 ? 1u : 0u) + (inside ? 2u : 0u);
            bool first = far < distances.x;
            distances = first ? vec2(far, distances.x) : vec2(distances.x, far);
            clothes = first ? ivec2(other, clothes.x) : ivec2(clothes.x, other);
            found = first ? uvec2(entry, found.x) : uvec2(found.x, entry);
        }
    }
    // Beside a triangle its plane tells the side only if that of the other triangle says the same.
    bool agree = all(notEqual(found, uvec2(NONE))) && ((found.x ^ found.y) & 1u) == 0u;
    found |= agree && clothes.x == clothes.y ? 2u : 0u;
    o_faces = uvec4(found, NONE, NONE);
}
