// Lists the touches of the triangles around one particle.
// Inputs: lists of cloth/press_list.glsl, triangles around each particle. Outputs: how many, or MANY if there are LISTED or
// more; 0, or then the first entry of the triangles; for each 4 times its place in the impulses of cloth/touch.glsl plus the
// corner of the triangle that is the particle.

uniform usamplerBuffer u_presses;
uniform usamplerBuffer u_owners;   // of each particle the first entry of the triangles around it
uniform usamplerBuffer u_around;   // 4 times the number of a triangle plus the corner that is the particle; or the end

const uint MANY = 0xffffffffu;     // also the end

void run(int id) {
    uint found[LISTED];
    for (int i = 0; i < LISTED; ++i) {
        found[i] = MANY;
    }
    int count = 2;
    uint first = texelFetch(u_owners, id).z;
    int at = int(first);
    uint face = texelFetch(u_around, at).x;
    while (face != MANY) {
        int list = 8 * int(face / 4u);
        int length = int(texelFetch(u_presses, list).x);
        for (int i = 1; i <= length; ++i) {
            if (count < LISTED) {
                found[count] = 4u * texelFetch(u_presses, list + i / 4)[i % 4] + face % 4u;
            }
            ++count;
        }
        ++at;
        face = texelFetch(u_around, at).x;
    }
    found[0] = count > LISTED ? MANY : uint(count - 2);
    found[1] = first;
    o_met_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_met_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_met_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_met_3 = uvec4(found[12], found[13], found[14], found[15]);
}
