// Change of the motion of one particle by contacts with other particles of the same cloth.
// Inputs: state of all particles, lists of those that may touch, clearance [m],
// substep [s]. Outputs: change of velocity [m/s], and of position [m] without velocity.
// A pair that comes nearer than the clearance in this substep loses a part of the speed at which it does, one that is
// nearer is moved apart a little: the same for both, by their masses, so that momentum stays and no energy comes about.
// The parts are such that many touches at once do not overshoot. Sums are of whole numbers: they do not depend on the
// order, so that a mirrored cloth moves as the mirror image bit for bit.
// References: R. Bridson et al. 2002, "Robust treatment of collisions, contact and friction for cloth animation";
// M. Macklin et al. 2014, "Unified particle physics for real-time applications", for the split of speed and position.

uniform usamplerBuffer u_contacts;
uniform vec2 u_self;               // clearance [m], coefficient of friction

const float ABSORBED = 0.2;        // part of the speed at which a pair closes that a substep takes away
const float PUSHED = 0.1;          // part of the overlap that a substep undoes
const float FINE = 4194304.0;      // integer steps in a clearance
const float LARGEST = 8.0;         // largest change that is added, in clearances (a substep)

struct Touch {
    ivec3 velocity;                // in clearances a substep, times FINE
    ivec3 place;                   // in clearances, times FINE
};

ivec3 whole(vec3 change) {
    return ivec3(round(clamp(change, -LARGEST, LARGEST) * FINE));
}

void touch(int other, vec4 place, vec3 velocity, float substep, inout Touch sum) {
    vec4 there = texelFetch(u_state, 2 * other);
#ifdef SOLVED
    vec3 offset = texelFetch(u_points, point_of(other)).xyz;
    vec3 motion = (offset - remainder_of(texelFetch(u_state, 2 * other + 1).w, there.xyz)) / substep;
    there.xyz += offset;
#else
    vec3 motion = texelFetch(u_state, 2 * other + 1).xyz;
#endif
    vec3 apart = place.xyz - there.xyz;
    float reach = sqrt(dot(apart, apart));
    vec3 normal = apart / max(reach, CLOTH_TINY);
    float gap = (reach - u_self.x) / u_self.x;
    vec3 relative = (velocity - motion) * (substep / u_self.x);
    float rate = dot(relative, normal);
    float stopped = ABSORBED * max(-rate - max(gap, 0.0), 0.0);
    vec3 slide = relative - rate * normal;
    float speed = sqrt(dot(slide, slide));
    float held = min(u_self.y * stopped, ABSORBED * speed) / max(speed, CLOTH_TINY);
    float share = place.w / max(place.w + there.w, CLOTH_TINY);
    sum.velocity += whole(share * (stopped * normal - held * slide));
    sum.place += whole(share * PUSHED * max(-gap, 0.0) * normal);
}

// `position` is the record of the particle: position, 1/share.
void self_contact(int id, vec4 place, vec3 velocity, float substep, out vec3 change, out vec3 push) {
    Touch sum = Touch(ivec3(0), ivec3(0));
    int entry = LISTED * id;
    int last = entry + LISTED - 1;
    int other;
    do {
        other = int(texelFetch(u_contacts, entry).x);
        touch(other, place, velocity, substep, sum);
        ++entry;
    } while (other != id && entry <= last);
    push = vec3(sum.place) * (u_self.x / FINE);
    change = vec3(sum.velocity) * (u_self.x / FINE / substep);
}
