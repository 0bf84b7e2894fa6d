// Impulses between one particle and the triangles of other cloths that it may touch, in a substep.
// Inputs: state of all particles of a group of cloths, lists of cloth/touch_list.glsl and cloth/press_list.glsl, cloths,
// substep [s]. Outputs: for each triangle the impulse on the particle [N s] and the weight of the second corner, then the
// shift times mass [kg m] and the weight of the third corner. The corners take the opposite, by their weights, so that
// momentum stays. A pair may approach only as fast as its gap allows for some substeps; one that overlaps is moved apart.
// Parts are such that many touches at once do not overshoot.
// References: R. Bridson et al. 2002, "Robust treatment of collisions, contact and friction for cloth animation".

#include "cloth/face.glsl"

uniform usamplerBuffer u_owners;
uniform usamplerBuffer u_touched;
uniform usamplerBuffer u_presses;
uniform samplerBuffer u_cloths;    // inverse mass for a share of 1 [1/kg], thickness [m], friction, 1 if it takes part
uniform float u_substep;           // [s]

const uint NONE = 0xffffffffu;
const float ABSORBED = 0.2;        // part of the excess speed that a substep takes away
const float PUSHED = 0.1;          // part of the overlap that a substep undoes
const float HORIZON = 16.0;        // substeps in which a gap may close
const float FASTEST = 2.0;         // largest speed that counts, in clearances a substep
const float CROWD = 0.4;           // inverse of the number of particles on a triangle that it bears with full parts
const float SMALL = 1e-20;

struct Touch {
    vec3 impulse;
    vec3 shift;
    vec3 weights;
};

Touch touch(uint entry, vec4 place, vec3 velocity, vec4 cloth) {
    int number = int(entry / 4u);
    uvec4 corners = texelFetch(u_corners, number);
    vec4 other = texelFetch(u_cloths, int(corners.w));
    vec4 first = texelFetch(u_state, 2 * int(corners.x));
    vec4 second = texelFetch(u_state, 2 * int(corners.y));
    vec4 third = texelFetch(u_state, 2 * int(corners.z));
    Face face = Face(first.xyz, second.xyz, third.xyz);
    vec3 weights = nearest_weights(face, place.xyz);
    vec3 apart = place.xyz - face_point(face, weights);
    float reach = sqrt(dot(apart, apart));
    vec3 normal = apart / max(reach, SMALL);
    if ((entry & 2u) > 0u && min(weights.x, min(weights.y, weights.z)) > 0.0) {
        // Stays on the side where it was when the step began.
        vec3 area = face_area(face);
        float size = sqrt(dot(area, area));
        vec3 up = ((entry & 1u) > 0u ? area : -area) / max(size, SMALL);
        reach = dot(apart, up);
        normal = up;
    }
    vec3 inverse = other.x * vec3(first.w, second.w, third.w);
    float own = cloth.x * place.w;
    float clearance = 0.5 * (cloth.y + other.y);
    float gap = reach - clearance;
    vec3 relative = velocity - face_point(face_at(corners, 1), weights);
    float rate = dot(relative, normal);
    float excess = -rate - max(gap, 0.0) / (HORIZON * u_substep);
    float stopped = ABSORBED * clamp(excess, 0.0, FASTEST * clearance / u_substep);
    vec3 slide = relative - rate * normal;
    float speed = sqrt(dot(slide, slide));
    float held = min(0.5 * (cloth.z + other.z) * stopped, ABSORBED * speed) / max(speed, SMALL);
    float light = (inverse.x + inverse.y + inverse.z) / 3.0;
    float count = float(texelFetch(u_presses, 8 * number).x);
    float part = 1.0 / max(1.0, CROWD * count * light / max(light + own, SMALL));
    float effective = own + dot(weights * weights, inverse);
    float scale = part / max(effective, SMALL);
    float overlap = min(max(-gap, 0.0), clearance);
    // Comparisons are false for what is not a number: a cloth that fails within the step must not spoil the others.
    bool sound = reach < 1e9 && dot(relative, relative) < 1e18;
    if (!sound) {
        return Touch(vec3(0.0), vec3(0.0), vec3(1.0, 0.0, 0.0));
    }
    return Touch(scale * (stopped * normal - held * slide), (scale * PUSHED * overlap) * normal, weights);
}

void run(int id) {
    vec4 place = texelFetch(u_state, 2 * id);
    vec3 velocity = texelFetch(u_state, 2 * id + 1).xyz;
    uint owner = texelFetch(u_owners, id).x;
    vec4 cloth = texelFetch(u_cloths, owner == NONE ? 0 : int(owner));
    uvec2 faces = texelFetch(u_touched, id).xy;
    vec4 records[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (int slot = 0; slot < 2 && faces[slot] != NONE; ++slot) {
        Touch found = touch(faces[slot], place, velocity, cloth);
        records[2 * slot] = vec4(found.impulse, found.weights.y);
        records[2 * slot + 1] = vec4(found.shift, found.weights.z);
    }
    o_touch_0 = records[0];
    o_touch_1 = records[1];
    o_touch_2 = records[2];
    o_touch_3 = records[3];
}
