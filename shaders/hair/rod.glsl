// A strand as an inextensible rod, solved directly: one linear system for the bending, two Newton steps for the
// lengths. Its stiffness belongs to the material, whatever the numbers of knots, substeps and iterations.
// Inputs: the state, the root and the groom of a strand. Output: its knots at the end of the substep [m].
// References: M. Bergou et al. 2008, "Discrete elastic rods", for the frame that is carried along; R. Goldenthal et al.
// 2007, "Efficient simulation of inextensible cloth", for the lengths.

uniform vec4 u_rod;                  // stiffness B [m4/s2], damping [s], hold [1/s2]

const float ROD_STEEPEST = 50.0;     // most that a fold stiffens its joint

// The smallest turn from one unit vector to another; none where they are opposite.
vec4 smallest_turn(vec3 from, vec3 to) {
    return normalize(vec4(cross(from, to), max(1.0 + dot(from, to), 1e-6)));
}

#ifdef EXACT_REST
const float PULLED_HOLD = 1.0;       // a stiffer hold, as a mass over a mass, pulls less
const float FARTHEST_FORCED = 0.25;  // part of its length that forces move a strand in a substep

vec3 tangents[SEGMENTS];             // of the segments before the substep
#endif

// What bends each joint back, and how stiffly: rho [m] and c, a mass over a mass.
void joints_of(int strand, Root root, out vec3 rho[SEGMENTS], out float stiffness[KNOTS + 1]) {
    float scale = u_step.x * u_step.x * u_rod.x / (root.segment * root.segment * root.segment * root.segment);
    vec4 frame = root.turn;
    vec3 edge_before = vec3(0.0);
    vec3 tangent = vec3(0.0);
    vec3 rest_before = vec3(0.0);
    for (int j = 0; j < SEGMENTS; ++j) {
        vec3 edge = now[j + 1] - now[j];
#ifdef CURVED
        vec4 rest = rest_edge(strand, j);
        vec3 along = quaternion_rotate(frame, rest.xyz);
        vec3 bend = j > 0 ? along - quaternion_rotate(frame, rest_before) : vec3(0.0);
#else
        vec3 along = j > 0 ? tangent : quaternion_rotate(frame, rest_edge(strand, 0).xyz);
        vec3 bend = vec3(0.0);
#endif
        vec3 former = j > 0 ? edge_before : root.segment * along;
        rho[j] = root.segment * bend - (edge - former);
        tangent = at_length(edge, 1.0, along);
#ifdef EXACT_REST
        tangents[j] = tangent;
#endif
        stiffness[j] = scale * (j > 0 ? 1.0 : 2.0) * min(2.0 / max(1.0 + dot(along, tangent), STRAND_TINY), ROD_STEEPEST);
#ifdef CURVED
        frame = quaternion_multiply(smallest_turn(along, tangent), frame);
#endif
        edge_before = edge;
#ifdef CURVED
        rest_before = rest.xyz;
#endif
    }
    stiffness[SEGMENTS] = 0.0;
    stiffness[KNOTS] = 0.0;
}

#ifdef EXACT_REST
// The pull of a segment, times its mass: it carries along itself what loads and bent joints below it weigh. A strand at
// rest is then in balance before its bending is solved; lengths that are restored afterwards leave it a part of the
// weight. Pulls that would shake segments are limited.
float pull_of(float segment, float lag, vec3 along, vec3 below, vec3 bend) {
    float stiff = u_step.x * u_step.x * u_rod.x / (segment * segment * segment * segment);
    float most = segment * (0.5 + 8.0 * lag * stiff);
    return clamp(dot(below + bend, along), -most, most);
}
#endif

// Knots after push and bending, relative to the root; a band of five, eliminated without pivots.
void bend_strand(int strand, Root root, inout vec3 knots[KNOTS]) {
    float h = u_step.x;
    float drag = u_step.z * h;
    vec3 rho[SEGMENTS];
    float stiffness[KNOTS + 1];
    joints_of(strand, root, rho, stiffness);
    float lag = 1.0 + u_rod.y / h;
    float next[KNOTS];
    float after[KNOTS];
    float pivots[KNOTS];
    next[0] = 0.0;
    after[0] = 0.0;
    pivots[0] = 1.0;
    knots[0] = vec3(0.0);
#ifdef HOLD
    vec3 groomed = vec3(0.0);
#endif
#if defined(HOLD) && defined(EXACT_REST)
    float pulled_hold = min(h * h * u_rod.z, PULLED_HOLD);
    vec3 holding[KNOTS];
    vec3 all_holding = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        groomed += root.segment * quaternion_rotate(root.turn, rest_edge(strand, k - 1).xyz);
        holding[k] = (k == SEGMENTS ? 0.5 : 1.0) * pulled_hold * rest_load(strand, k - 1).w * (groomed - now[k]);
        all_holding += holding[k];
    }
    groomed = vec3(0.0);
#endif
#ifdef EXACT_REST
    // Displacements by what a strand at rest carries, times masses.
    vec3 below = (float(SEGMENTS) - 0.5) * h * h * (u_gravity + u_step.z * u_wind);
#ifdef LOADS
    vec3 loads = vec3(0.0);
    for (int k = 0; k < SEGMENTS; ++k) loads += (k + 1 == SEGMENTS ? 0.5 : 1.0) * rest_load(strand, k).xyz;
    below += h * h * quaternion_rotate(root.turn, loads);
#endif
#ifdef FIELDS
    for (int k = 1; k < KNOTS; ++k) {
        FIELD_OF_KNOT(k)
        vec4 pushed = field_push();
        vec3 blown = pushed.w * u_wind + (u_step.z + pushed.w) * field_air();
        below += (k == SEGMENTS ? 0.5 : 1.0) * h * h * (pushed.xyz + blown);
    }
#endif
#ifdef HOLD
    below += all_holding;
#endif
    float pull = pull_of(root.segment, lag, tangents[0], below, stiffness[0] * rho[0] - stiffness[1] * rho[1]);
    float swiftest = 0.0;
#endif
    for (int k = 1; k < KNOTS; ++k) {
        float mass = k == SEGMENTS ? 0.5 : 1.0;
        vec3 place = root.place - root.move + now[k];
        vec3 push = now[k] - was[k] + root.felt + drag * (h * air_at(place) - u_step.y * root.move);
        vec3 weight = u_gravity;
#ifdef FIELDS
        FIELD_OF_KNOT(k)
        vec4 pushed = field_push();
        drag = (u_step.z + pushed.w) * h;
        push += pushed.w * h * (h * air_at(place) - u_step.y * root.move) + drag * h * field_air();
        weight += pushed.xyz;
#ifdef EXACT_REST
        below -= mass * h * h * (pushed.w * u_wind + (u_step.z + pushed.w) * field_air());
#endif
#endif
        float held = 0.0;
        float tension = 0.0;
        float tension_below = 0.0;
#if defined(LOADS) || defined(HOLD)
        vec4 load = rest_load(strand, k - 1);
        weight += quaternion_rotate(root.turn, load.xyz);
#endif
        push += h * h * weight;
#ifdef HOLD
        held = h * h * u_rod.z * load.w;
        groomed += root.segment * quaternion_rotate(root.turn, rest_edge(strand, k - 1).xyz);
        push += held * (groomed - now[k]);
#endif
#ifdef EXACT_REST
        below -= mass * h * h * (weight + u_step.z * u_wind);
#ifdef HOLD
        below -= holding[k];
#endif
        vec3 free = now[k] - was[k] + root.felt;
        swiftest = max(swiftest, dot(free, free));
        push -= pull / mass * tangents[k - 1];
        // A segment that is pulled straightens as a string: with the directions at the end of the substep.
        tension = max(pull, 0.0) / root.segment;
        if (k < SEGMENTS) {
            vec3 bend = stiffness[k] * rho[k];
            if (k + 1 < SEGMENTS) bend -= stiffness[k + 1] * rho[k + 1];
            pull = pull_of(root.segment, lag, tangents[k], below, bend);
            push += pull / mass * tangents[k];
            tension_below = max(pull, 0.0) / root.segment;
        }
#endif
        // The transpose of the second difference: joints k - 1, k and k + 1.
        vec3 force = stiffness[k - 1] * rho[k - 1];
        if (k < SEGMENTS) force -= 2.0 * stiffness[k] * rho[k];
        if (k + 1 < SEGMENTS) force += stiffness[k + 1] * rho[k + 1];
        float c0 = lag * stiffness[k - 1];
        float c1 = lag * stiffness[k];
        float c2 = lag * stiffness[k + 1];
        float one = next[k - 1];
        float two = k > 1 ? after[k - 2] : 0.0;
        float two_pivot = k > 1 ? pivots[k - 2] : 1.0;
        float diagonal = mass * (1.0 + drag + held) + c0 + 4.0 * c1 + c2 + tension + tension_below;
        float pivot = diagonal - pivots[k - 1] * one * one - two_pivot * two * two;
        float off = -2.0 * (c1 + c2) - tension_below - pivots[k - 1] * one * after[k - 1];
        pivots[k] = pivot;
        next[k] = off / pivot;
        after[k] = c2 / pivot;
        vec3 right = mass * push + force;
        right -= one * pivots[k - 1] * knots[k - 1];
        if (k > 1) right -= two * two_pivot * knots[k - 2];
        knots[k] = right / pivot;
    }
    for (int k = KNOTS - 2; k > 0; --k) {
        knots[k] -= next[k] * knots[k + 1];
        if (k + 2 < KNOTS) knots[k] -= after[k] * knots[k + 2];
    }
#ifdef EXACT_REST
    // Segments that turn far in a substep are not brought to their lengths by two Newton steps.
    float farthest = 0.0;
    for (int k = 1; k < KNOTS; ++k) farthest = max(farthest, dot(knots[k], knots[k]));
    float most = FARTHEST_FORCED * float(SEGMENTS) * root.segment + sqrt(swiftest);
    float share = min(1.0, most * inversesqrt(max(farthest, STRAND_TINY * STRAND_TINY)));
    for (int k = 1; k < KNOTS; ++k) knots[k] *= share;
#endif
    for (int k = 1; k < KNOTS; ++k) knots[k] += now[k];
}

// One Newton step towards equal lengths, the tip half as heavy as the others, the root held.
void straighten(float segment, inout vec3 knots[KNOTS]) {
    vec3 directions[SEGMENTS];
    float pulls[SEGMENTS];
    float shares[SEGMENTS];
    float pivot = 1.0;
    for (int i = 0; i < SEGMENTS; ++i) {
        vec3 edge = knots[i + 1] - knots[i];
        float size = sqrt(dot(edge, edge));
        directions[i] = edge / max(size, STRAND_TINY);
        float first = i > 0 ? 1.0 : 0.0;
        float last = i + 1 == SEGMENTS ? 2.0 : 1.0;
        float off = i > 0 ? -dot(directions[i - 1], directions[i]) : 0.0;
        float ratio = i > 0 ? off / pivot : 0.0;
        if (i > 0) shares[i - 1] = ratio;
        pivot = first + last - ratio * off;
        pulls[i] = i > 0 ? size - segment - off * pulls[i - 1] : size - segment;
        pulls[i] /= pivot;
    }
    for (int i = SEGMENTS - 2; i >= 0; --i) pulls[i] -= shares[i] * pulls[i + 1];
    for (int k = 1; k < KNOTS; ++k) {
        vec3 pull = -pulls[k - 1] * directions[k - 1];
        if (k < SEGMENTS) pull += pulls[k] * directions[k];
        knots[k] += (k == SEGMENTS ? 2.0 : 1.0) * pull;
    }
}

void solve_strand(int strand, Root root, inout vec3 knots[KNOTS]) {
    bend_strand(strand, root, knots);
    straighten(root.segment, knots);
    straighten(root.segment, knots);
#ifndef CONTACT
    vec3 former = vec3(0.0);
    for (int k = 1; k < KNOTS; ++k) {
        vec3 along = at_length(now[k] - now[k - 1], 1.0, vec3(0.0, 1.0, 0.0));
        knots[k] = former + at_length(knots[k] - former, root.segment, along);
        former = knots[k];
    }
#endif
}
