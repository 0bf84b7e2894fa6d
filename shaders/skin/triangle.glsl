// Triangles of moving skins: where they are within a step, and the point of a triangle that is nearest to a point.
// Inputs: three texels a triangle, at the end of the step and at its start: corners with friction, restitution, flags;
// world space, metres. Outputs: corners, weights of corners.
// Flags: 1, 2, 4 for a first, second, third corner at an opening; 8 for a sheet, which has no inside; 16 for
// corners that are clockwise from outside; 32 for parts that yield to the others.
// Nothing divides by the area, so that triangles without one count as their edges.

uniform samplerBuffer u_skin;
uniform samplerBuffer u_skin_before;

const float SKIN_TINY = 1e-30;       // square of a length or an area that counts as none
const int SKIN_LISTED = 4;             // triangles that are listed for a particle
const uint SKIN_END = 0xffffffffu;   // after the last number of a list
const float SKIN_FAR = 1e9;          // distance from nothing [m]
const uint SKIN_YIELDS = 32u;

struct Triangle {
    vec3 a;
    vec3 b;
    vec3 c;
};

Triangle triangle_at(int number, float fraction) {
    int base = 3 * number;
    return Triangle(
        mix(texelFetch(u_skin_before, base).xyz, texelFetch(u_skin, base).xyz, fraction),
        mix(texelFetch(u_skin_before, base + 1).xyz, texelFetch(u_skin, base + 1).xyz, fraction),
        mix(texelFetch(u_skin_before, base + 2).xyz, texelFetch(u_skin, base + 2).xyz, fraction)
    );
}

uint skin_flags(int number) {
    return uint(texelFetch(u_skin, 3 * number + 2).w);
}

vec3 point_at(Triangle own, vec3 weights) {
    return weights.x * own.a + weights.y * own.b + weights.z * own.c;
}

// Normal by the order of the corners, as long as twice the area.
vec3 area_normal(Triangle own) {
    return cross(own.b - own.a, own.c - own.a);
}

vec3 unit_or_zero(vec3 v) {
    return v * inversesqrt(max(dot(v, v), SKIN_TINY));
}

// Weights of the foot of a point in the plane, all zero without an area.
vec3 plane_weights(Triangle own, vec3 normal, vec3 point) {
    vec3 arm = point - own.a;
    float share = 1.0 / max(dot(normal, normal), SKIN_TINY);
    float second = dot(cross(arm, own.c - own.a), normal) * share;
    float third = dot(cross(own.b - own.a, arm), normal) * share;
    return dot(normal, normal) > SKIN_TINY ? vec3(1.0 - second - third, second, third) : vec3(0.0);
}

float edge_share(vec3 from, vec3 to, vec3 point) {
    vec3 edge = to - from;
    return clamp(dot(point - from, edge) / max(dot(edge, edge), SKIN_TINY), 0.0, 1.0);
}

// Weights of the point of a triangle that is nearest to a point.
// Reference: Ericson 2005, "Real-time collision detection", chapter 5.1.5.
vec3 nearest_weights(Triangle own, vec3 point) {
    vec3 inside = plane_weights(own, area_normal(own), point);
    vec3 shares = vec3(
        edge_share(own.a, own.b, point), edge_share(own.b, own.c, point), edge_share(own.c, own.a, point)
    );
    vec3 first = point - mix(own.a, own.b, shares.x);
    vec3 second = point - mix(own.b, own.c, shares.y);
    vec3 third = point - mix(own.c, own.a, shares.z);
    vec3 far = vec3(dot(first, first), dot(second, second), dot(third, third));
    vec3 weights = vec3(1.0 - shares.x, shares.x, 0.0);
    weights = far.y < far.x ? vec3(0.0, 1.0 - shares.y, shares.y) : weights;
    weights = far.z < min(far.x, far.y) ? vec3(shares.z, 0.0, 1.0 - shares.z) : weights;
    bool within = min(inside.x, min(inside.y, inside.z)) >= 0.0 && dot(inside, vec3(1.0)) > 0.0;
    return within ? inside : weights;
}

// When a point that goes from `start` to `end` meets a moving triangle, 0 to 1, or 2; `sides` are the heights [m] over
// the plane at both ends. The motion counts as straight.
float meeting_time(Triangle before, Triangle after, vec2 sides, vec3 start, vec3 end) {
    bool passes = sides.x * sides.y < 0.0 || (sides.x == 0.0 && sides.y != 0.0);
    float moment = passes ? sides.x / (sides.x - sides.y) : 0.0;
    Triangle then = Triangle(
        mix(before.a, after.a, moment), mix(before.b, after.b, moment), mix(before.c, after.c, moment)
    );
    vec3 weights = plane_weights(then, area_normal(then), mix(start, end, moment));
    const float SLACK = 1e-4;   // so that nothing passes between two triangles
    bool meets = passes && min(weights.x, min(weights.y, weights.z)) >= -SLACK && dot(weights, vec3(1.0)) > 0.5;
    return meets ? moment : 2.0;
}
