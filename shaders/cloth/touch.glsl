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
uniform samplerBuffer u_free;      // 0 for held particles, which no impulse moves, else 1
uniform samplerBuffer u_cloths;    // inverse mass for a share of 1 [1/kg], thickness [m], friction, 1 if it takes part
uniform float u_substep;           // [s]

const uint NONE = 0xffffffffu;
const float ABSORBED = 0.4;        // part of the excess speed that a substep takes away
const float PUSHED = 0.2;          // part of the overlap that a substep undoes
const float HORIZON = 16.0;        // substeps in which a gap may close
const float FASTEST = 2.0;         // largest speed that counts, in clearances a substep
const float CROWD = 1.0;           // inverse of the number of particles on a triangle that it bears with full parts
const float SMALL = 1e-20;

struct Touch {
    vec3 impulse;
    vec3 shift;
    vec3 weights;
};

bool is_beyond(uint entry, Face face, vec3 point) {
    float height = dot(point - face.first, face_area(face));
    return (entry & 2u) > 0u && ((entry & 1u) > 0u ? height < 0.0 : height > 0.0);
}

float free(uint particle) {
    return texelFetch(u_free, int(particle)).x;
}

// `neighbour` is the other entry in the list of the particle, or NONE.
Touch touch(uint entry, uint neighbour, vec4 place, vec3 velocity, vec4 cloth, float own) {
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
    float clearance = 0.5 * (cloth.y + other.y);
    if (is_beyond(entry, face, place.xyz)) {
        // It is to return to the side where it was when the step began. Beside a triangle that is sure if it has passed
        // the plane of the other one as well.
        bool inside = min(weights.x, min(weights.y, weights.z)) > 0.0;
        uvec4 around = texelFetch(u_corners, int(neighbour / 4u));
        bool passed = neighbour != NONE && is_beyond(neighbour, face_at(around, 0), place.xyz);
        bool returns = inside || (passed && reach < 2.0 * clearance);
        normal *= returns ? -1.0 : 1.0;
        reach *= returns ? -1.0 : 1.0;
    }
    vec3 inverse = other.x * vec3(first.w, second.w, third.w);
    inverse *= vec3(free(corners.x), free(corners.y), free(corners.z));
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
    float scale = effective > 0.0 ? part / effective : 0.0;
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
    float own = cloth.x * place.w * free(uint(id));
    uvec2 faces = texelFetch(u_touched, id).xy;
    vec4 records[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (int slot = 0; slot < 2 && faces[slot] != NONE; ++slot) {
        Touch found = touch(faces[slot], faces[1 - slot], place, velocity, cloth, own);
        records[2 * slot] = vec4(found.impulse, found.weights.y);
        records[2 * slot + 1] = vec4(found.shift, found.weights.z);
    }
    o_touch_0 = records[0];
    o_touch_1 = records[1];
    o_touch_2 = records[2];
    o_touch_3 = records[3];
}
