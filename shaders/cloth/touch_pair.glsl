// What a particle and the triangles that it may touch keep during a step, so that substeps read little.
// Inputs: lists of cloth/touch_list.glsl and cloth/press_list.glsl, cloths, held particles. Outputs: for each of the two
// triangles the particles at its corners and the entry of the list, or NONE | inverse masses of the corners [1/kg] and of the
// particle | clearance [m], friction, part of the impulse that counts, 0; the last two as the bits of floats.

uniform samplerBuffer u_state;
uniform usamplerBuffer u_corners;  // particles at the three corners, number of the cloth
uniform usamplerBuffer u_owners;   // cloth of each particle, or NONE; last its place in the order of the tree
uniform usamplerBuffer u_touched;
uniform usamplerBuffer u_presses;
uniform samplerBuffer u_free;      // 0 for held particles, which no impulse moves, else 1
uniform samplerBuffer u_cloths;    // inverse mass for a share of 1 [1/kg], thickness [m], friction, 1 if it takes part

const uint NONE = 0xffffffffu;
const float CROWD = 1.0;           // inverse of the number of particles on a triangle that it bears with full parts
const float SMALL = 1e-20;

float inverse_mass(uint particle, float unit) {
    return unit * texelFetch(u_state, 2 * int(particle)).w * texelFetch(u_free, int(particle)).x;
}

void run(int id) {
    uvec4 owner_and_place = texelFetch(u_owners, id);
    uint owner = owner_and_place.x;
    vec4 cloth = texelFetch(u_cloths, owner == NONE ? 0 : int(owner));
    float own = inverse_mass(uint(id), cloth.x);
    uvec2 faces = texelFetch(u_touched, int(owner_and_place.w)).xy;
    uvec4 pairs[6];
    for (int slot = 0; slot < 2; ++slot) {
        int number = faces[slot] == NONE ? 0 : int(faces[slot] / 4u);
        uvec4 corners = texelFetch(u_corners, number);
        vec4 other = texelFetch(u_cloths, int(corners.w));
        vec3 inverse = vec3(
            inverse_mass(corners.x, other.x), inverse_mass(corners.y, other.x), inverse_mass(corners.z, other.x)
        );
        float light = (inverse.x + inverse.y + inverse.z) / 3.0;
        float count = float(texelFetch(u_presses, 8 * number).x);
        float part = 1.0 / max(1.0, CROWD * count * light / max(light + own, SMALL));
        pairs[3 * slot] = uvec4(corners.xyz, faces[slot]);
        pairs[3 * slot + 1] = floatBitsToUint(vec4(inverse, own));
        pairs[3 * slot + 2] = floatBitsToUint(vec4(0.5 * (cloth.yz + other.yz), part, 0.0));
    }
    o_pair_0 = pairs[0];
    o_pair_1 = pairs[1];
    o_pair_2 = pairs[2];
    o_pair_3 = pairs[3];
    o_pair_4 = pairs[4];
    o_pair_5 = pairs[5];
}
