// Change of the motion of one particle by contacts with other cloths, see cloth/touch.glsl.
// Inputs: impulses of all particles of the group, lists of cloth/press_list.glsl, triangles around each particle.
// Outputs: impulse [N s], shift times mass [kg m].

uniform samplerBuffer u_touches;
uniform usamplerBuffer u_presses;
uniform usamplerBuffer u_owners;   // cloth of each particle, the first of the triangles around it
uniform usamplerBuffer u_around;   // 4 times the number of a triangle plus the corner that is the particle; or the end
uniform int u_first;               // first particle of this cloth in the group

const uint END_OF_FACES = 0xffffffffu;

void met_contact(int id, out vec3 impulse, out vec3 shift) {
    int own = u_first + id;
    impulse = vec3(0.0);
    shift = vec3(0.0);
    for (int slot = 0; slot < 2; ++slot) {
        impulse += texelFetch(u_touches, 4 * own + 2 * slot).xyz;
        shift += texelFetch(u_touches, 4 * own + 2 * slot + 1).xyz;
    }
    int at = int(texelFetch(u_owners, own).y);
    uint face = texelFetch(u_around, at).x;
    while (face != END_OF_FACES) {
        int list = 8 * int(face / 4u);
        int count = int(texelFetch(u_presses, list).x);
        uint corner = face % 4u;
        for (int i = 1; i <= count; ++i) {
            int record = 2 * int(texelFetch(u_presses, list + i / 4)[i % 4]);
            vec4 first = texelFetch(u_touches, record);
            vec4 second = texelFetch(u_touches, record + 1);
            float weight = corner == 0u ? 1.0 - first.w - second.w : (corner == 1u ? first.w : second.w);
            impulse -= weight * first.xyz;
            shift -= weight * second.xyz;
        }
        ++at;
        face = texelFetch(u_around, at).x;
    }
}
