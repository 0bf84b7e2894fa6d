// Finds the triangles of other cloths that one particle may touch within a span of time: the four nearest.
// Inputs: state of all particles of a group of cloths, tree over their triangles, cloths, pairs of cloths that meet.
// Outputs: for each 4 times the number of the triangle, plus 1 on the side of its normal, plus 2 above its inside; NONE
// after the last.

#include "cloth/face_ball.glsl"
#include "cloth/tree_search.glsl"

uniform usamplerBuffer u_owners;   // cloth of each particle, or NONE for padding
uniform samplerBuffer u_cloths;    // inverse mass for a share of 1 [1/kg], thickness [m], friction, 1 if it takes part
uniform samplerBuffer u_failed;    // the last number is the step that failed, or 0
uniform usamplerBuffer u_pairs;    // for each two cloths whether they meet
uniform int u_cloth_count;
uniform float u_reach;             // largest distance that counts as near [m]
uniform float u_margin;            // thicknesses that count as near

const uint NONE = 0xffffffffu;

bool takes_part(int cloth) {
    return texelFetch(u_cloths, cloth).w > 0.0 && texelFetch(u_failed, cloth).w == 0.0;
}

float least_distance(Face face, Face motion, Ball own) {
    float least = 1e30;
    for (int i = 0; i < 3; ++i) {
        float time = 0.5 * float(i) * u_span;
        Face then = Face(
            face.first + time * motion.first, face.second + time * motion.second, face.third + time * motion.third
        );
        vec3 point = own.centre + time * own.velocity;
        least = min(least, distance(point, face_point(then, nearest_weights(then, point))));
    }
    return least;
}

void run(int id) {
    Ball own = Ball(texelFetch(u_state, 2 * id).xyz, 0.0, texelFetch(u_state, 2 * id + 1).xyz);
    uint owner = texelFetch(u_owners, id).x;
    vec4 distances = vec4(1e30);
    uvec4 found = uvec4(NONE);
    ivec2 at = ivec2(0, owner != NONE && takes_part(int(owner)) ? 0 : -1);
    int leaf = next_leaf(at, own, u_reach);
    while (leaf >= 0) {
        for (int k = 0; k < u_shape.y; ++k) {
            int number = near_number(leaf, k, own, u_reach);
            uvec4 corners = texelFetch(u_corners, max(number, 0));
            int other = int(corners.w);
            bool meets = number >= 0 && texelFetch(u_pairs, int(owner) * u_cloth_count + other).x > 0u;
            if (meets && takes_part(other)) {
                Face face = face_at(corners, 0);
                Face motion = face_at(corners, 1);
                vec3 centre = face_point(motion, vec3(1.0 / 3.0));
                float clearance = 0.5 * (texelFetch(u_cloths, int(owner)).y + texelFetch(u_cloths, other).y);
                float far = least_distance(face, motion, own);
                float near = u_margin * clearance + 0.5 * u_span * distance(own.velocity, centre);
                vec3 weights = nearest_weights(face, own.centre);
                bool inside = min(weights.x, min(weights.y, weights.z)) > 0.0;
                bool above = dot(own.centre - face.first, face_area(face)) >= 0.0;
                uint entry = 4u * uint(number) + (above ? 1u : 0u) + (inside ? 2u : 0u);
                if (clearance > 0.0 && far < near && far < distances.w) {
                    bvec4 after = lessThan(vec4(far), distances);
                    distances.w = after.z ? distances.z : far;
                    found.w = after.z ? found.z : entry;
                    distances.z = after.y ? distances.y : (after.z ? far : distances.z);
                    found.z = after.y ? found.y : (after.z ? entry : found.z);
                    distances.y = after.x ? distances.x : (after.y ? far : distances.y);
                    found.y = after.x ? found.x : (after.y ? entry : found.y);
                    distances.x = after.x ? far : distances.x;
                    found.x = after.x ? entry : found.x;
                }
            }
        }
        leaf = next_leaf(at, own, u_reach);
    }
    o_faces = found;
}
