// Contact of a point with colliders: plane, sphere, capsule, box and ellipsoid, moving over a step.
// Inputs: world points [m], colliders as packed by sim/colliders/pack.py, the moment as a fraction of the step (0 to 1),
// the substep that ends then [s]. Outputs: contacts and corrected points, world space, metres and seconds.
// Functions are named as in sim/colliders. Nothing branches on the shape: lanes of different colliders run together.
// COLLIDE_STILL: no collider moves. COLLIDE_NO_ELLIPSOID: none is an ellipsoid. Both only save work; see pack.py.
// COLLIDE_NEAR: ellipsoids are looked at twice, which is exact for points near their surface and fast for all.
// Reference: Eberly 2013, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid", for the ellipsoid.

#include "common/quaternion.glsl"

const int COLLIDER_TEXELS = 6;
const float COLLIDE_TINY = 1e-30;
const float COLLIDE_CENTRE = 1e-6;         // part of the smallest semi-axis that counts as the middle of an ellipsoid
const int ELLIPSOID_ITERATIONS = 10;
const float REST = 2.0;                    // times what acts in a substep; a slower approach is rest and does not bounce
const float ELLIPSOID_PRECISION = 3e-4;    // relative change after which the next round, quadratic, would change nothing

// What acts on the points that a kernel moves [m/s2]; kernels set it.
float resting_acceleration = 9.81;

struct Contact {
    float distance;      // signed, negative inside
    vec3 normal;         // outward, unit
    vec3 velocity;       // of the surface at the closest point, mean over the substep
    float friction;
    float restitution;
};

// Rigid placement at one moment.
struct ColliderPose {
    vec3 centre;
    vec4 orientation;
};

// A collider at one moment, read once for many points; texels as sim/colliders/pack.py describes them.
struct Collider {
    vec3 centre;
    mat3 world_from_shape;
    vec4 sphere;
    vec4 travel;
    vec4 size;
    vec4 turn;
    vec4 surface;
};

ColliderPose collider_pose(samplerBuffer colliders, int index, float fraction) {
    int base = index * COLLIDER_TEXELS;
    vec3 start = texelFetch(colliders, base).xyz;
#ifdef COLLIDE_STILL
    return ColliderPose(start, texelFetch(colliders, base + 3));
#endif
    vec3 travel = texelFetch(colliders, base + 1).xyz;
    vec4 turn = texelFetch(colliders, base + 4);
    float half_angle = 0.5 * fraction * turn.w;
    vec4 turned = vec4(sin(half_angle) * turn.xyz, cos(half_angle));
    return ColliderPose(start + fraction * travel, quaternion_multiply(turned, texelFetch(colliders, base + 3)));
}

// Outward normal and signed distance (w) of a box of half sizes `core` swollen by `radius`; p in its frame.
vec4 rounded_box_distance(vec3 p, vec3 core, float radius) {
    vec3 outside = p - clamp(p, -core, core);
    float square = dot(outside, outside);
    vec3 depth = core - abs(p);
    float least = min(depth.x, min(depth.y, depth.z));
    float is_x = step(depth.x, least);
    float is_y = (1.0 - is_x) * step(depth.y, least);
    vec3 face = vec3(is_x, is_y, 1.0 - is_x - is_y) * (step(0.0, p) * 2.0 - 1.0);
    bool inside = square < COLLIDE_TINY;
    vec3 normal = inside ? face : outside * inversesqrt(max(square, COLLIDE_TINY));
    return vec4(normal, (inside ? -least : sqrt(square)) - radius);
}

// Outward normal and signed distance (w) of an ellipsoid; p in its frame. Looks at most `iterations` times.
// Newton on the reciprocal length of w = p / (s + a2 - min a2), which is concave and nearly linear: from the surface
// value of s, above the bounds that hold everywhere. Three rounds do near the surface, ten anywhere at 100 : 1.
vec4 ellipsoid_distance(vec3 p, vec3 semi_axes, int iterations) {
    float smallest = min(semi_axes.x, min(semi_axes.y, semi_axes.z));
    vec3 y = max(abs(p), vec3(COLLIDE_CENTRE * smallest));
    vec3 gaps = (semi_axes - smallest) * (semi_axes + smallest);
    vec3 scaled = semi_axes * y;
    vec3 starts = scaled - gaps;
    float widest = max(gaps.x, max(gaps.y, gaps.z));
    float low = max(max(starts.x, max(starts.y, starts.z)), length(scaled) - widest);
    float s = max(low, smallest * smallest);
    float change = s;
#ifdef COLLIDE_NEAR
    for (int i = 0; i < 2; ++i) {
#else
    for (int i = 0; i < iterations && abs(change) > ELLIPSOID_PRECISION * s; ++i) {
#endif
        vec3 share = 1.0 / (s + gaps);
        vec3 terms = scaled * share;
        vec3 squares = terms * terms;
        float square = squares.x + squares.y + squares.z;
        float following = max(s + square * (sqrt(square) - 1.0) / dot(squares, share), low);
        change = following - s;
        s = following;
    }
    vec3 w = y / (s + gaps);
    float length_w = length(w);
    vec3 normal = w * (step(0.0, p) * 2.0 - 1.0) / length_w;
    return vec4(normal, (s - smallest * smallest) * length_w);
}

// Outward normal and signed distance (w) of a point in the frame of a collider of this size (texel 2) and kind.
vec4 shape_distance(vec4 size, float kind, vec3 p) {
    vec4 swollen = rounded_box_distance(p, size.xyz, size.w);
    vec4 found = kind == 1.0 ? vec4(0.0, 1.0, 0.0, p.y) : swollen;
#ifndef COLLIDE_NO_ELLIPSOID
    // Other shapes look zero times, and their sizes are kept from being zero.
    vec4 oval = ellipsoid_distance(p, max(size.xyz, 1e-6), kind == 2.0 ? ELLIPSOID_ITERATIONS : 0);
    found = kind == 2.0 ? oval : found;
#endif
    return found;
}

vec4 collider_distance(samplerBuffer colliders, int index, vec3 p) {
    int base = index * COLLIDER_TEXELS;
    return shape_distance(texelFetch(colliders, base + 2), texelFetch(colliders, base + 1).w, p);
}

// Mean velocity of the solid over the substep at a point whose offset from the centre is `arm`.
vec3 solid_velocity(vec4 travel, vec4 turn, float rate, vec3 arm, float substep) {
#ifdef COLLIDE_STILL
    return vec3(0.0);
#endif
    vec3 spin = turn.xyz * (turn.w * rate);
    vec3 now = cross(spin, arm);
    return travel.xyz * rate + now - 0.5 * substep * cross(spin, now);
}

vec3 collider_velocity(samplerBuffer colliders, int index, vec3 arm, float substep) {
    int base = index * COLLIDER_TEXELS;
    float rate = texelFetch(colliders, base + 5).z;
    return solid_velocity(texelFetch(colliders, base + 1), texelFetch(colliders, base + 4), rate, arm, substep);
}

// Contact of a world point with one collider at a moment of the step.
Contact collider_contact(samplerBuffer colliders, int index, vec3 point, float fraction, float substep) {
    ColliderPose pose = collider_pose(colliders, index, fraction);
    vec3 arm = point - pose.centre;
    vec4 near = collider_distance(colliders, index, quaternion_rotate(quaternion_conjugate(pose.orientation), arm));
    vec3 normal = quaternion_rotate(pose.orientation, near.xyz);
    vec3 velocity = collider_velocity(colliders, index, arm - near.w * normal, substep);
    vec4 surface = texelFetch(colliders, index * COLLIDER_TEXELS + 5);
    return Contact(near.w, normal, velocity, surface.x, surface.y);
}

// A collider at one moment, to be met by many points.
Collider collider_at(samplerBuffer colliders, int index, float fraction) {
    int base = index * COLLIDER_TEXELS;
    ColliderPose pose = collider_pose(colliders, index, fraction);
    return Collider(
        pose.centre, quaternion_matrix(pose.orientation), texelFetch(colliders, base), texelFetch(colliders, base + 1),
        texelFetch(colliders, base + 2), texelFetch(colliders, base + 4), texelFetch(colliders, base + 5)
    );
}

Contact contact_with(Collider collider, vec3 point, float substep) {
    vec3 arm = point - collider.centre;
    vec4 near = shape_distance(collider.size, collider.travel.w, arm * collider.world_from_shape);
    vec3 normal = collider.world_from_shape * near.xyz;
    vec4 surface = collider.surface;
    vec3 velocity = solid_velocity(collider.travel, collider.turn, surface.z, arm - near.w * normal, substep);
    return Contact(near.w, normal, velocity, surface.x, surface.y);
}

// Whether a collider may be within `reach` of the point, by its texels 0, 1 and 2.
bool may_be_near(vec4 sphere, vec4 travel, vec3 normal, vec3 point, float fraction, float reach) {
    vec3 apart = point - sphere.xyz - fraction * travel.xyz;
    float within = sphere.w + reach;
    // A plane keeps its normal where others keep their size; zero where it turns, so that it is always near.
    return travel.w == 1.0 ? dot(apart, normal) <= reach : dot(apart, apart) <= within * within;
}

// The first collider from `first` on that may be within `reach` of the point, or `count`. Costs three texels each.
// Loop `for (int i = collider_next(..., 0, ...); i < count; i = collider_next(..., i + 1, ...))`: the costly work is
// then done only for colliders that are near, and every lane looks for its own.
int collider_next(samplerBuffer colliders, int first, int count, vec3 point, float fraction, float reach) {
    int index = first;
    while (index < count) {
        int base = index * COLLIDER_TEXELS;
        vec4 sphere = texelFetch(colliders, base);
        vec4 travel = texelFetch(colliders, base + 1);
        if (may_be_near(sphere, travel, texelFetch(colliders, base + 2).xyz, point, fraction, reach)) {
            break;
        }
        ++index;
    }
    return index;
}

// Velocity after the touch of a surface: restitution along the normal, Coulomb friction across it.
vec3 contact_velocity(vec3 velocity, Contact contact, float substep) {
    vec3 relative = velocity - contact.velocity;
    float along = dot(relative, contact.normal);
    vec3 across = relative - along * contact.normal;
    float approach = max(-along, 0.0);
    float bounced = approach > REST * resting_acceleration * substep ? contact.restitution * approach : 0.0;
    float impulse = approach + bounced;
    float sliding = sqrt(dot(across, across));
    float lost = min(contact.friction * impulse / max(sliding, 1e-12), 1.0);
    return velocity + impulse * contact.normal - lost * across;
}

// Where a touching point goes when its velocity becomes `answered`: `thickness` from the surface, less what friction
// took from the sliding of this substep, so that a point that friction holds does not creep.
vec3 contact_position(vec3 position, vec3 velocity, vec3 answered, Contact contact, float thickness, float substep) {
    vec3 change = answered - velocity;
    vec3 held = change - dot(change, contact.normal) * contact.normal;
    return position + (thickness - contact.distance) * contact.normal + substep * held;
}

// Contact for position Verlet: the point is put `thickness` from the surface, its previous position gives the velocity.
void resolve_contact(inout vec3 position, inout vec3 previous, Contact contact, float thickness, float substep) {
    bool touching = contact.distance < thickness;
    vec3 velocity = (position - previous) / substep;
    vec3 answered = contact_velocity(velocity, contact, substep);
    vec3 pushed = contact_position(position, velocity, answered, contact, thickness, substep);
    previous = touching ? pushed - substep * answered : previous;
    position = touching ? pushed : position;
}

// The same for points that carry their velocity.
void bounce_contact(inout vec3 position, inout vec3 velocity, Contact contact, float thickness, float substep) {
    bool touching = contact.distance < thickness;
    vec3 answered = contact_velocity(velocity, contact, substep);
    vec3 pushed = contact_position(position, velocity, answered, contact, thickness, substep);
    position = touching ? pushed : position;
    velocity = touching ? answered : velocity;
}

// Contact with every collider in turn, for position Verlet.
void resolve_contacts(
    samplerBuffer colliders, int count, inout vec3 position, inout vec3 previous, float fraction, float thickness,
    float substep
) {
    int index = collider_next(colliders, 0, count, position, fraction, thickness);
    while (index < count) {
        Contact contact = collider_contact(colliders, index, position, fraction, substep);
        resolve_contact(position, previous, contact, thickness, substep);
        index = collider_next(colliders, index + 1, count, position, fraction, thickness);
    }
}
