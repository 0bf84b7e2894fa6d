// Applies the turns of simulated joints to one entry of a skinning palette, before the skin reads it.
// Inputs: the palette of the pose, heads of the simulated joints in it (model space), their state, and for each entry the
// nearest simulated joint at or above it. Outputs: the same texels of the entry, turned about the simulated head.
// ROWS: matrix rows; DUAL: a dual quaternion; both: a dual quaternion and the rows of the scale, which act first.
// Reference: see sim/characters/joint_turns.py.

#include "common/dual_quaternion.glsl"

#ifdef DUAL
#ifdef ROWS
const int TEXELS = 5;
#else
const int TEXELS = 2;
#endif
#else
const int TEXELS = 3;
#endif

uniform samplerBuffer u_palette;
uniform samplerBuffer u_state;     // 4 texels a joint, the last is the turn
uniform samplerBuffer u_heads;
uniform samplerBuffer u_entries;   // first of the path of the entry, number of joints on it
uniform samplerBuffer u_paths;     // joints, from the first one that is simulated down

void run(int id) {
    vec4 entry = texelFetch(u_entries, id);
    vec4 turn = vec4(0.0, 0.0, 0.0, 1.0);
    vec3 head = vec3(0.0);
    vec3 moved = vec3(0.0);
    for (int i = 0; i < int(entry.y); ++i) {
        int joint = int(texelFetch(u_paths, int(entry.x) + i).x);
        vec3 next = texelFetch(u_heads, joint).xyz;
        moved = i == 0 ? next : moved + quaternion_rotate(turn, next - head);
        head = next;
        turn = normalize(texelFetch(u_state, 4 * joint + 3));
    }
    vec3 shift = moved - quaternion_rotate(turn, head);
    int base = TEXELS * id;
#ifdef DUAL
    vec4 real = texelFetch(u_palette, base);
    vec4 dual = texelFetch(u_palette, base + 1);
    vec4 half_shift = 0.5 * quaternion_multiply(vec4(shift, 0.0), turn);
    o_real = quaternion_multiply(turn, real);
    o_dual = quaternion_multiply(turn, dual) + quaternion_multiply(half_shift, real);
#ifdef ROWS
    o_x = texelFetch(u_palette, base + 2);
    o_y = texelFetch(u_palette, base + 3);
    o_z = texelFetch(u_palette, base + 4);
#endif
#else
    vec4 x = texelFetch(u_palette, base);
    vec4 y = texelFetch(u_palette, base + 1);
    vec4 z = texelFetch(u_palette, base + 2);
    vec3 first = quaternion_rotate(turn, vec3(x.x, y.x, z.x));
    vec3 second = quaternion_rotate(turn, vec3(x.y, y.y, z.y));
    vec3 third = quaternion_rotate(turn, vec3(x.z, y.z, z.z));
    vec3 place = quaternion_rotate(turn, vec3(x.w, y.w, z.w)) + shift;
    o_x = vec4(first.x, second.x, third.x, place.x);
    o_y = vec4(first.y, second.y, third.y, place.y);
    o_z = vec4(first.z, second.z, third.z, place.z);
#endif
}
