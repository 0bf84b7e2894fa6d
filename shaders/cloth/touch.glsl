// Impulses between one particle and the triangles of other cloths that it may touch, in a substep.
// Inputs: state of all particles of a group of cloths, lists of cloth/touch_pair.glsl, substep [s]. Outputs: for each triangle
// the impulse on the particle [N s] and the weight of the second corner, then the shift times mass [kg m] and the weight of
// the third corner. The corners take the opposite, by their weights, so that momentum stays. A pair may approach only as fast
// as its gap allows for some substeps; one that overlaps is moved apart. Parts are such that many touches at once do not
// overshoot.
// References: R. Bridson et al. 2002, "Robust treatment of collisions, contact and friction for cloth animation".

#include "cloth/face.glsl"

uniform usamplerBuffer u_touch_pairs;
uniform float u_substep;           // [s]

const uint NONE = 0xffffffffu;
const float ABSORBED = 0.4;        // part of the excess speed that a substep takes away
const float PUSHED = 0.2;          // part of the overlap that a substep undoes
const float HORIZON = 16.0;        // substeps in which a gap may close
const float FASTEST = 2.0;         // largest speed that counts, in clearances a substep
const float SMALL = 1e-20;

struct Touch {
    vec4 impulse;  // with the weight of the second corner
    vec4 shift;    // with that of the third one
};

bool is_beyond(uint entry, Face face, vec3 point) {
    float height = dot(point - face.first, face_area(face));
    return entry != NONE && (entry & 2u) > 0u && ((entry & 1u) > 0u ? height < 0.0 : height > 0.0);
}

// `pair` is the first texel; `is_past` whether the particle is beyond this triangle, and beyond the other one.
Touch touch(int pair, uvec4 corners, Face face, vec3 place, vec3 velocity, bvec2 is_past) {
    vec4 inverse = uintBitsToFloat(texelFetch(u_touch_pairs, pair + 1));
    vec4 contact = uintBitsToFloat(texelFetch(u_touch_pairs, pair + 2));
    vec3 weights = nearest_weights(face, place);
    vec3 apart = place - face_point(face, weights);
    float reach = sqrt(dot(apart, apart));
    vec3 normal = apart / max(reach, SMALL);
    // It is to return to the side where it was when the step began. Beside a triangle that is sure if it has passed the
    // plane of the other one as well.
    bool inside = min(weights.x, min(weights.y, weights.z)) > 0.0;
    bool returns = is_past.x && (inside || (is_past.y && reach < 2.0 * contact.x));
    normal *= returns ? -1.0 : 1.0;
    reach *= returns ? -1.0 : 1.0;
    float gap = reach - contact.x;
    vec3 relative = velocity - face_point(face_at(corners, 1), weights);
    float rate = dot(relative, normal);
    float excess = -rate - max(gap, 0.0) / (HORIZON * u_substep);
    float stopped = ABSORBED * clamp(excess, 0.0, FASTEST * contact.x / u_substep);
    vec3 slide = relative - rate * normal;
    float speed = sqrt(dot(slide, slide));
    float held = min(contact.y * stopped, ABSORBED * speed) / max(speed, SMALL);
    float effective = inverse.w + dot(weights * weights, inverse.xyz);
    float scale = effective > 0.0 ? contact.z / effective : 0.0;
    float overlap = min(max(-gap, 0.0), contact.x);
    // Comparisons are false for what is not a number: a cloth that fails within the step must not spoil the others.
    bool sound = corners.w != NONE && reach < 1e9 && dot(relative, relative) < 1e18;
    vec3 impulse = scale * (stopped * normal - held * slide);
    vec3 shift = (scale * PUSHED * overlap) * normal;
    return Touch(
        sound ? vec4(impulse, weights.y) : vec4(0.0),
        sound ? vec4(shift, weights.z) : vec4(0.0)
    );
}

void run(int id) {
    uvec4 one = texelFetch(u_touch_pairs, 6 * id);
    Touch first = Touch(vec4(0.0), vec4(0.0));
    Touch second = first;
    // A loop, as drivers that compute several particles together leave out its content only if none needs it
    for (uint entry = one.w; entry != NONE; entry = NONE) {
        uvec4 other = texelFetch(u_touch_pairs, 6 * id + 3);
        vec3 place = texelFetch(u_state, 2 * id).xyz;
        vec3 velocity = texelFetch(u_state, 2 * id + 1).xyz;
        Face face = face_at(one, 0);
        Face beside = face_at(other, 0);
        bvec2 is_past = bvec2(is_beyond(entry, face, place), is_beyond(other.w, beside, place));
        first = touch(6 * id, one, face, place, velocity, is_past);
        second = touch(6 * id + 3, other, beside, place, velocity, is_past.yx);
    }
    o_touch_0 = first.impulse;
    o_touch_1 = first.shift;
    o_touch_2 = second.impulse;
    o_touch_3 = second.shift;
}
