// Births: which slots spawn a particle in this step, when, where and how it starts.
// Inputs: the block of the emitter; SOURCE 5 also the vertices of its model now and a step ago, and the table of faces.
// Outputs: moments as fractions of the step, positions [m] and velocities [m/s] in the world, lives in steps.
// FULL is an optional part. AIM selects: 0 about the y axis, 1 away from the source, 2 by yaw and pitch.
// See sim/kinds/emitter/births.py.
// Reference: D. Malyshau 2010, "Real-time dynamic fur on the GPU", for births in the vertex shader.

#include "common/hash.glsl"
#include "emitter/emitter.glsl"
#include "emitter/direction.glsl"
#include "emitter/place.glsl"

#if SOURCE == 5
uniform samplerBuffer u_vertices;          // of the model at the end of the step
uniform samplerBuffer u_vertices_before;   // at its start
uniform usamplerBuffer u_faces;            // threshold and corners of each face
#endif

const uint LIFE_GROUP = 0u;
const uint DIRECTION_GROUP = 1u;
const uint PLACE_GROUP = 2u;

struct Start {
    vec3 position;
    vec3 velocity;
    float life;      // [steps]
};

// Births of this span before that of the slot; from births.y on there is none.
uint birth_offset(uint slot) {
    uint first = uint(emitter.births.x);
    return slot - first + (slot < first ? uint(emitter.numbers.y) : 0u);
}

uint birth_generation(uint slot) {
    uint again = slot < uint(emitter.births.x) ? 1u : 0u;
    return (uint(emitter.births.z) + again) & GENERATION_MASK;
}

// Moment of a birth, in steps from the start of the step.
float birth_moment(uint offset) {
    float number = float(offset + uint(emitter.births.w));
    vec4 segment = emitter.segments[0];
#ifdef SEGMENTS
    for (int i = 1; i < emitter.counts.x; ++i) {
        segment = emitter.segments[i].x <= number ? emitter.segments[i] : segment;
    }
#endif
    return segment.y + (number - segment.x) * segment.z;
}

// Numbers from -1 to 1 make a value that differs from the mean by at most its variance.
float varied(float mean, float variance, float random) {
    return mean * (1.0 + variance * (2.0 * random - 1.0));
}

float birth_life(uint number) {
    return varied(emitter.life.x, emitter.life.y, birth_numbers(uint(emitter.numbers.x), number, LIFE_GROUP).x);
}

#if SOURCE != 5
Place shape_place(vec3 random) {
#if SOURCE == 1
    return sphere_place(emitter.shape.w, emitter.cone.y, random);
#elif SOURCE == 2
    return box_place(emitter.shape.xyz, random);
#elif SOURCE == 3
    return disc_place(emitter.shape.w, emitter.cone.y, random);
#elif SOURCE == 4
    return box_place(vec3(emitter.shape.x, 0.0, 0.0), random);
#else
    return Place(vec3(0.0), UPWARD);
#endif
}
#endif

// Places of a birth in the frames of the start and of the end of the step.
void birth_places(uvec3 bits, out Place before, out Place after) {
#if SOURCE == 5
    uvec3 corners = face_at(u_faces, emitter.counts.y, bits.x).yzw;
    vec3 shares = triangle_shares(unit_numbers(bits).yz);
    int texels = emitter.counts.z;
    before = Place(
        face_value(u_vertices_before, texels, corners, shares, 0), face_value(u_vertices_before, texels, corners, shares, 1)
    );
    after = Place(face_value(u_vertices, texels, corners, shares, 0), face_value(u_vertices, texels, corners, shares, 1));
#else
    before = shape_place(unit_numbers(bits));
    after = before;
#endif
}

vec3 unit_or_up(vec3 v) {
    float square = dot(v, v);
    return square > 1e-24 ? v * inversesqrt(square) : UPWARD;
}

// Direction in the frame of the source, or in the world where `normal` is.
vec3 birth_direction(vec3 normal, vec2 random) {
#if AIM == 2
    return angle_direction(emitter.angles, random);
#elif AIM == 1
    return about_normal(unit_or_up(normal), cap_direction(emitter.cone.x, random));
#else
    return cap_direction(emitter.cone.x, random);
#endif
}

// How a birth starts at a moment of the step, 0 to 1.
Start birth_start(uint number, float moment) {
    uint seed = uint(emitter.numbers.x);
    vec3 lives = birth_numbers(seed, number, LIFE_GROUP);
    vec3 directions = birth_numbers(seed, number, DIRECTION_GROUP);
    Place before;
    Place after;
    birth_places(birth_bits(seed, number, PLACE_GROUP), before, after);
    vec3 first = (emitter.world_from_start * vec4(before.point, 1.0)).xyz;
    vec3 travel = (emitter.world_from_end * vec4(after.point, 1.0)).xyz - first;
    vec3 local = birth_direction(mix(before.normal, after.normal, moment), directions.xy);
#if SOURCE == 5 && AIM != 1
    mat3 turn = mat3(emitter.world_from_aim);
#else
    mat3 turn = mat3(emitter.world_from_start) * (1.0 - moment) + mat3(emitter.world_from_end) * moment;
#endif
    float speed = varied(emitter.life.z, emitter.life.w, lives.y);
    vec3 velocity = speed * unit_or_up(turn * local) + (emitter.air.w / emitter.pace.w) * travel;
    return Start(first + moment * travel, velocity, varied(emitter.life.x, emitter.life.y, lives.x));
}

#ifdef FULL
// Moment at which the slot of a dead particle is filled again, in steps from the start of the step.
float birth_again_moment(float life) {
    return max(life + 1.0, 0.0);
}

// Whether that is in a substep from its start to its end, as fractions of the step.
bool is_born_again(float life, float moment, vec2 substep) {
    return life < 0.0 && moment >= substep.x && moment < substep.y;
}
#endif
