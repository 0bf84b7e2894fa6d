// How often skins enclose points.
// Inputs: triangles, see skin/triangle.glsl, dipoles of the tree from the root on, four below each; points, a texel each;
// world space, metres. Outputs: the winding number.
// With FRONT, the points are numbers of triangles, and FRONT of the root of twice its area is the distance from a
// triangle to the point in front of it. With NEAREST, distance and number of the nearest triangle below u_reach [m], -1
// without one, by the boxes of skin/box.glsl.
// References: Jacobson et al. 2013, "Robust inside-outside segmentation using generalized winding numbers"; Barill et al.
// 2018, "Fast winding numbers for soups and clouds"; for the visit of the tree see skin/near.glsl.

#include "skin/triangle.glsl"

uniform samplerBuffer u_points;
uniform samplerBuffer u_dipoles;
uniform int u_depth;                 // levels of the tree
uniform int u_count;                 // triangles

// Distance in radii from which on a dipole stands for its triangles.
#ifdef FRONT
const float FAR_RADII = 2.0;
#else
const float FAR_RADII = 3.5;
#endif
const float PI_4 = 12.566370614359172;

struct Place {
    int level;
    int first;                       // number of the first node of the level
    int node;                        // within the level
};

const Place ROOT = Place(0, 0, 0);

Place below(Place own) {
    return Place(own.level + 1, 4 * own.first + 1, 4 * own.node);
}

// The node that follows when nothing below this one counts; none after the root.
bool goes_on(inout Place own) {
    while (own.level > 0 && (own.node & 3) == 3) {
        own = Place(own.level - 1, (own.first - 1) / 4, own.node >> 2);
    }
    ++own.node;
    return own.level > 0;
}

float side_of(int number) {
    return (uint(texelFetch(u_skin, 3 * number + 2).w) & 16u) != 0u ? -1.0 : 1.0;
}

// Part of the unit sphere around a point that a triangle covers, positive from behind.
// Reference: Van Oosterom and Strackee 1983, "The solid angle of a plane triangle".
float solid_angle(Triangle own, vec3 point) {
    vec3 a = own.a - point;
    vec3 b = own.b - point;
    vec3 c = own.c - point;
    vec3 far = sqrt(vec3(dot(a, a), dot(b, b), dot(c, c)));
    float along = far.x * far.y * far.z + dot(a, b) * far.z + dot(b, c) * far.x + dot(c, a) * far.y;
    float volume = dot(a, cross(b, c));
    return volume == 0.0 && along == 0.0 ? 0.0 : 2.0 * atan(volume, along);
}

float winding_number(vec3 point) {
    float sum = 0.0;
    Place own = ROOT;
    bool visits = true;
    while (visits) {
        vec4 place = texelFetch(u_dipoles, 2 * (own.first + own.node));
        vec3 arm = place.xyz - point;
        float square = dot(arm, arm);
        if (square > FAR_RADII * FAR_RADII * place.w * place.w) {
            vec3 normal = texelFetch(u_dipoles, 2 * (own.first + own.node) + 1).xyz;
            sum += dot(normal, arm) / max(square * sqrt(square), SKIN_TINY);
        } else if (own.level < u_depth - 1) {
            own = below(own);
            continue;
        } else {
            for (int number = 4 * own.node; number < min(4 * own.node + 4, u_count); ++number) {
                sum += side_of(number) * solid_angle(triangle_at(number, 1.0), point);
            }
        }
        visits = goes_on(own);
    }
    return sum / PI_4;
}

#ifdef NEAREST
uniform samplerBuffer u_boxes;
uniform samplerBuffer u_left_out;    // 1 for a triangle that does not count, else 0
uniform float u_reach;

vec2 nearest(vec3 point) {
    vec2 least = vec2(u_reach, -1.0);
    Place own = ROOT;
    bool visits = true;
    while (visits) {
        vec3 lo = texelFetch(u_boxes, 2 * (own.first + own.node)).xyz;
        vec3 hi = texelFetch(u_boxes, 2 * (own.first + own.node) + 1).xyz;
        vec3 gap = max(max(lo - point, point - hi), vec3(0.0));
        bool near = dot(gap, gap) < least.x * least.x;
        if (near && own.level < u_depth - 1) {
            own = below(own);
            continue;
        }
        for (int number = 4 * own.node; near && number < min(4 * own.node + 4, u_count); ++number) {
            Triangle triangle = triangle_at(number, 1.0);
            float away = distance(point, point_at(triangle, nearest_weights(triangle, point)));
            bool counts = away < least.x && texelFetch(u_left_out, number).x < 0.5;
            least = counts ? vec2(away, float(number)) : least;
        }
        visits = goes_on(own);
    }
    return least;
}
#endif

void run(int id) {
    vec3 point = texelFetch(u_points, id).xyz;
#ifdef NEAREST
    o_value = vec4(nearest(point), 0.0, 0.0);
#elif defined(FRONT)
    int number = int(point.x);
    Triangle own = triangle_at(number, 1.0);
    vec3 across = side_of(number) * area_normal(own);
    vec3 ahead = FRONT * sqrt(sqrt(dot(across, across))) * unit_or_zero(across);
    o_value = vec4(winding_number((own.a + own.b + own.c) / 3.0 + ahead));
#else
    o_value = vec4(winding_number(point));
#endif
}
