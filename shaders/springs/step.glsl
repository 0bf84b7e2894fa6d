// One substep of spring bones: record i is joint i. The joints above it are computed again on the way down from the
// first one of its path, so that a step is one run whatever the length of the chains.
// Inputs: state, poses of the joints at both ends of the step, values of the joints, frames and colliders. Positions are
// in the world [m] relative to an origin of the step, orientations in the world; turns are in the space of the model.
// Outputs: the head from the place of the frame above its path, the tip from the head, the motion of the tip over the
// substep, and the turn away from the pose; rounding differences of places would add up in the motion.
// JUMP instead keeps the turns and puts the tips where they belong after the character jumped. COLLIDE: with the
// colliders of the scene. SKIN: with skins of characters. FIELDS: with force fields, whose samples hold over the step.
// Reference: VRMC_springBone 1.0.

#include "common/quaternion.glsl"
#if defined(COLLIDE) || defined(SKIN)
#include "common/sweep.glsl"
#endif
#ifdef SKIN
#include "skin/contact.glsl"
#endif

const int PATH_MAX = 64;
const float STEP = 1.0 / 60.0;
const float NO_LENGTH = 1e-9;      // m; a shorter joint does not turn
const float NO_DIRECTION = 1e-24;  // squared length of a vector without direction
const int ROUNDS = 8;              // at most, of contacts with colliders of the scene
const float OPPOSITE = 1e-6;       // 1 + cosine of directions that count as opposite

uniform samplerBuffer u_state;         // 4 texels a joint: head | tip from it | its motion | turn
uniform samplerBuffer u_joints;        // 3 texels: orientation | head, length | axis; relative to the joint above
uniform samplerBuffer u_joints_before; // the same at the start of the step
uniform samplerBuffer u_values;        // 3 texels: gravity, stiffness | kept velocity, radius, centre or -1, frame | lists
uniform samplerBuffer u_lists;         // joints of the paths, then texels of colliders
uniform samplerBuffer u_frames;        // 4 texels a frame in the world, the model first: orientation at the start of the
                                       // step | change of the last texel over it | orientation at its end | position,
                                       // scale; then 4 texels a collider of the file: one end, radius | other end or
                                       // normal, form at the end of the step, then at its start
uniform float u_scale;                 // metres per unit of the file
uniform vec2 u_step;                   // share of the step that the substep is, and where it ends
#ifdef FIELDS
uniform samplerBuffer u_fields;        // 2 texels a joint: acceleration [m/s2], drag [1/s] | velocity of the air [m/s]
#endif
#ifdef COLLIDE
uniform samplerBuffer u_colliders;
uniform int u_collider_count;
#endif
#if defined(COLLIDE) || defined(SKIN)
uniform vec3 u_origin;
#endif

struct Frame {
    vec4 turn;
    vec3 place;
    float scale;     // metres per unit of the joints below
};

struct JointPose {
    vec4 turn;       // relative to the joint or frame above
    vec3 arm;        // head in the frame of that one
    float size;      // length to the tip
    vec3 axis;       // direction of the tip in the frame of the joint
};

// A frame at a share of the step.
Frame frame_at(int frame, float share) {
    vec4 turn = texelFetch(u_frames, 4 * frame + 2);
    vec4 place = texelFetch(u_frames, 4 * frame + 3);
    if (share < 1.0) {
        vec4 first = texelFetch(u_frames, 4 * frame);
        first = dot(first, turn) < 0.0 ? -first : first;
        turn = normalize(mix(first, turn, share));
        place -= (1.0 - share) * texelFetch(u_frames, 4 * frame + 1);
    }
    return Frame(turn, place.xyz, place.w);
}

JointPose joint_pose(int joint, float scale) {
    int base = 3 * joint;
    vec4 turn = texelFetch(u_joints, base);
    vec4 arm = texelFetch(u_joints, base + 1);
    vec3 axis = texelFetch(u_joints, base + 2).xyz;
    if (u_step.y < 1.0) {
        vec4 first = texelFetch(u_joints_before, base);
        first = dot(first, turn) < 0.0 ? -first : first;
        turn = normalize(mix(first, turn, u_step.y));
        arm = mix(texelFetch(u_joints_before, base + 1), arm, u_step.y);
        axis = mix(texelFetch(u_joints_before, base + 2).xyz, axis, u_step.y);
        axis *= inversesqrt(max(dot(axis, axis), NO_DIRECTION));
    }
    return JointPose(turn, arm.xyz * scale, arm.w * scale, axis);
}

// The shortest rotation between two unit vectors; half a turn about any perpendicular if they are opposite.
vec4 shortest_arc(vec3 from, vec3 to) {
    float w = 1.0 + dot(from, to);
    vec3 aside = abs(from.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    return w > OPPOSITE ? normalize(vec4(cross(from, to), w)) : vec4(normalize(cross(from, aside)), 0.0);
}

vec3 direction_or(vec3 v, vec3 fallback) {
    float square = dot(v, v);
    return square > NO_DIRECTION ? v / sqrt(square) : fallback;
}

// The tip at `size` from the head that is nearest to another one; both from the head.
vec3 at_length(vec3 arm, float size, vec3 fallback) {
    return size * direction_or(arm, fallback);
}

// Normal of a collider of the file and the distance of a sphere from it (w), negative inside.
vec4 solid_contact(int solid, vec3 point, float radius) {
    vec4 a = texelFetch(u_frames, solid);
    vec4 b = texelFetch(u_frames, solid + 1);
    bool is_plane = b.w == 2.0;
    if (u_step.y < 1.0) {
        a = mix(texelFetch(u_frames, solid + 2), a, u_step.y);
        b.xyz = mix(texelFetch(u_frames, solid + 3).xyz, b.xyz, u_step.y);
        b.xyz = is_plane ? direction_or(b.xyz, vec3(0.0, 1.0, 0.0)) : b.xyz;
    }
    vec3 along = is_plane ? vec3(0.0) : b.xyz - a.xyz;
    vec3 arm = point - a.xyz;
    float share = clamp(dot(arm, along) / max(dot(along, along), NO_DIRECTION), 0.0, 1.0);
    vec3 apart = arm - share * along;
    vec3 outward = direction_or(apart, vec3(0.0, 1.0, 0.0));
    float away = length(apart);
    vec4 outside = vec4(outward, away - a.w - radius);
    vec4 inside = vec4(-outward, a.w - radius - away);
    vec4 plane = vec4(b.xyz, dot(arm, b.xyz) - radius);
    return is_plane ? plane : b.w == 1.0 ? inside : outside;
}

void run(int id) {
    vec4 path = texelFetch(u_values, 3 * id + 2);
    vec4 in_world = frame_at(0, 1.0).turn;
    int frame = int(texelFetch(u_values, 3 * id + 1).w);
    Frame above = frame_at(frame, u_step.y);
    vec3 travel = u_step.x * texelFetch(u_frames, 4 * frame + 1).xyz;
    vec3 head = vec3(0.0);
    vec3 arm = vec3(0.0);
    vec3 move = vec3(0.0);
    vec4 posed = above.turn;
    vec4 turned = above.turn;
    for (int i = 0; i < PATH_MAX && i < int(path.y); ++i) {
        int joint = int(texelFetch(u_lists, int(path.x) + i).x);
        JointPose pose = joint_pose(joint, above.scale);
        head += quaternion_rotate(turned, pose.arm);
        vec4 carried = normalize(quaternion_multiply(turned, pose.turn));
        posed = normalize(quaternion_multiply(posed, pose.turn));
        vec3 head_before = texelFetch(u_state, 4 * joint).xyz;
        arm = texelFetch(u_state, 4 * joint + 1).xyz;
        move = texelFetch(u_state, 4 * joint + 2).xyz;
#ifdef JUMP
        vec4 turn = normalize(texelFetch(u_state, 4 * joint + 3));
        vec4 away = quaternion_multiply(quaternion_multiply(in_world, turn), quaternion_conjugate(in_world));
        turned = normalize(quaternion_multiply(away, posed));
        vec4 jump = quaternion_multiply(in_world, quaternion_conjugate(frame_at(0, 0.0).turn));
        arm = pose.size * quaternion_rotate(turned, pose.axis);
        move = quaternion_rotate(jump, move);
#else
        vec4 values = texelFetch(u_values, 3 * joint);
        vec4 more = texelFetch(u_values, 3 * joint + 1);
        vec4 lists = texelFetch(u_values, 3 * joint + 2);
        // The tip before, from the head of now.
        vec3 before = arm + (head_before - head - travel);
        int center = int(more.z);
        if (center >= 0) {
            Frame old = frame_at(center, u_step.y - u_step.x);
            Frame now = frame_at(center, u_step.y);
            vec4 motion = quaternion_multiply(now.turn, quaternion_conjugate(old.turn));
            vec3 apart = above.place - travel - old.place + (head_before + arm);
            before = quaternion_rotate(motion, apart) - (above.place - now.place + head);
            move = quaternion_rotate(motion, move);
        }
        vec3 animated = quaternion_rotate(carried, pose.axis);
        float radius = more.y * u_scale;
        vec3 force = animated * values.w + values.xyz;
#ifdef FIELDS
        // The drag of the joint is that of the air too.
        vec4 pushed = texelFetch(u_fields, 2 * joint);
        float kept = more.x * exp(-pushed.w * STEP * u_step.x);
        force += STEP * pushed.xyz;
        vec3 next = before + move * kept + force * (STEP * u_step.x * u_step.x);
        next += texelFetch(u_fields, 2 * joint + 1).xyz * ((1.0 - kept) * STEP * u_step.x);
#else
        vec3 next = before + move * more.x + force * (STEP * u_step.x * u_step.x);
#endif
        next = at_length(next, pose.size, animated);
        vec3 place = above.place + head;
        for (int k = 0; k < int(lists.w); ++k) {
            vec4 contact = solid_contact(int(texelFetch(u_lists, int(lists.z) + k).x), place + next, radius);
            if (contact.w < 0.0) {
                next = at_length(next - contact.w * contact.xyz, pose.size, animated);
            }
        }
#if defined(COLLIDE) || defined(SKIN)
        // The length pulls the tip back into a collider: rounds find where both hold. The first one sets the velocity.
        place += u_origin;
        resting_acceleration = length(force) / STEP;
        vec3 start = place + before;
        for (int k = 0; k < ROUNDS; ++k) {
            vec3 point = place + next;
            vec3 reached = point;
            vec3 left = start;
#ifdef COLLIDE
            resolve_swept_contacts(
                u_colliders, u_collider_count, reached, left, u_step.y - u_step.x, u_step.y, radius, STEP * u_step.x
            );
#endif
#ifdef SKIN
            Contact skin = skin_contact(joint, start, reached, u_step.y - u_step.x, u_step.y, STEP * u_step.x);
            resolve_contact(reached, left, skin, radius, STEP * u_step.x);
#endif
            if (reached == point && left == start) {
                break;
            }
            next = at_length(reached - place, pose.size, animated);
            before = k == 0 ? left - place : before;
        }
#endif
        move = next - before;
        arm = next;
        vec4 arc = shortest_arc(animated, direction_or(next, animated));
        turned = pose.size > NO_LENGTH ? normalize(quaternion_multiply(arc, carried)) : carried;
#endif
    }
    o_head = vec4(head, 0.0);
    o_arm = vec4(arm, 0.0);
    o_move = vec4(move, 0.0);
#ifdef JUMP
    o_turn = texelFetch(u_state, 4 * id + 3);
#else
    vec4 apart = quaternion_multiply(turned, quaternion_conjugate(posed));
    o_turn = quaternion_multiply(quaternion_multiply(quaternion_conjugate(in_world), apart), in_world);
#endif
}
