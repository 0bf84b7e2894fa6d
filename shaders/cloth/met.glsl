// Change of the motion of one particle by contacts with other cloths, see cloth/touch.glsl.
// Inputs: impulses of all particles of the group, lists of cloth/met_list.glsl, and what they are made of.
// Outputs: impulse [N s], shift times mass [kg m].

uniform samplerBuffer u_touches;
uniform usamplerBuffer u_met;
uniform usamplerBuffer u_presses;
uniform usamplerBuffer u_around;
uniform int u_first;               // first particle of this cloth in the group

const uint MANY = 0xffffffffu;

// `entry` as in cloth/met_list.glsl.
void take_touch(uint entry, inout vec3 impulse, inout vec3 shift) {
    int record = 2 * int(entry / 4u);
    uint corner = entry % 4u;
    record = entry == MANY ? 0 : record;
    vec4 first = texelFetch(u_touches, record);
    vec4 second = texelFetch(u_touches, record + 1);
    float weight = corner == 0u ? 1.0 - first.w - second.w : (corner == 1u ? first.w : second.w);
    weight = entry == MANY ? 0.0 : weight;
    impulse -= weight * first.xyz;
    shift -= weight * second.xyz;
}

void met_contact(int id, out vec3 impulse, out vec3 shift) {
    int own = u_first + id;
    impulse = vec3(0.0);
    shift = vec3(0.0);
    for (int slot = 0; slot < 2; ++slot) {
        impulse += texelFetch(u_touches, 4 * own + 2 * slot).xyz;
        shift += texelFetch(u_touches, 4 * own + 2 * slot + 1).xyz;
    }
    uvec2 head = texelFetch(u_met, 4 * own).xy;
    int count = head.x == MANY ? 0 : int(head.x) + 2;
    for (int i = 0; i < count; i += 4) {
        uvec4 entries = texelFetch(u_met, 4 * own + i / 4);
        entries.xy = i == 0 ? uvec2(MANY) : entries.xy;
        take_touch(entries.x, impulse, shift);
        take_touch(entries.y, impulse, shift);
        take_touch(entries.z, impulse, shift);
        take_touch(entries.w, impulse, shift);
    }
    int at = int(head.y);
    uint face = head.x == MANY ? texelFetch(u_around, at).x : MANY;
    while (face != MANY) {
        int list = 8 * int(face / 4u);
        int length = int(texelFetch(u_presses, list).x);
        for (int i = 1; i <= length; ++i) {
            take_touch(4u * texelFetch(u_presses, list + i / 4)[i % 4] + face % 4u, impulse, shift);
        }
        ++at;
        face = texelFetch(u_around, at).x;
    }
}
