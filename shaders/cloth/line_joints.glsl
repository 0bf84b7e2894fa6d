// Impulses of the last edges of JOINTS segments of a line that follow each other: what the segments leave to be solved.
// Inputs: edges of cloth/line_sweep.glsl. Outputs: the impulses, four in a texel.

#include "cloth/line_segment.glsl"

uniform samplerBuffer u_rows;      // first and last edge of each segment

// Impulse of the last edge of a segment, and what it changes with that of the segment before and after.
vec3 joint(int line, int number) {
    int count = segments_of_a_line();
    int at = 2 * (line * count + clamp(number, 0, count - 1));
    vec3 own = texelFetch(u_rows, at + 1).xyz;
    vec3 next = number < count - 1 ? texelFetch(u_rows, at + 2).xyz : vec3(0.0);
    float inverse = number >= 0 && number < count ? 1.0 / (1.0 - own.z * next.y) : 0.0;
    return vec3(own.x + own.z * next.x, own.y, own.z * next.z) * inverse;
}

// A joint by the one before, `known`, and the one after; returned by the one after.
vec2 taken(vec2 known, vec3 own) {
    return vec2(own.x + own.y * known.x, own.z) / (1.0 - own.y * known.y);
}

void run(int id) {
    int blocks = blocks_of_a_line();
    int line = int((float(id) + 0.5) / float(blocks));
    int first = JOINTS * (id - line * blocks);
    vec2 known = vec2(0.0);
    vec2 later = vec2(0.0);
    for (int i = int(u_reach.x); i > 0; --i) {
        known = taken(known, joint(line, first - i));
        later = taken(later, joint(line, first + JOINTS - 1 + i).xzy);
    }
    vec2 joints[JOINTS];
    for (int i = 0; i < JOINTS; ++i) {
        known = taken(known, joint(line, first + i));
        joints[i] = known;
    }
    // With the joint after the last, by the last
    float impulse = (known.x + known.y * later.x) / (1.0 - known.y * later.y);
    vec4 impulses[JOINTS / 4];
    impulses[JOINTS / 4 - 1].w = impulse;
    for (int i = JOINTS - 2; i >= 0; --i) {
        impulse = joints[i].x + joints[i].y * impulse;
        impulses[i / 4][i % 4] = impulse;
    }
    o_joints_0 = impulses[0];
    o_joints_1 = impulses[1];
#if JOINTS > 8
    o_joints_2 = impulses[2];
    o_joints_3 = impulses[3];
#endif
}
