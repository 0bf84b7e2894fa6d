// One substep of water: the height of a point follows its four neighbours, fields, the hand and the colliders.
// The height above the plane of the node, in its frame [m], is position.w; its rate [m/s] is velocity.w.
#include "common/particles.glsl"

uniform ivec2 u_grid;                // columns, rows
uniform vec2 u_cell;                 // distance between points along x and z, in the frame of the node [m]
uniform vec2 u_wave;                 // speed in the frame of the node [m/s], damping [1/s]

const float PULL = 400.0;            // of the hand [1/s2]
const float THICKNESS = 0.005;       // distance from colliders [m]

float height_of(int column, int row) {
    return texelFetch(u_state, 2 * (row * u_grid.x + column)).w;
}

void run(int id) {
    int column = id % u_grid.x;
    int row = id / u_grid.x;
    vec2 corner = 0.5 * u_cell * vec2(u_grid - 1);
    vec3 rest = vec3(float(column) * u_cell.x - corner.x, 0.0, corner.y - float(row) * u_cell.y);
    vec3 base = placed(rest);
    vec3 up = placed(rest + vec3(0.0, 1.0, 0.0)) - base;
    float height = 0.0;
    float rate = 0.0;
    if (column > 0 && row > 0 && column < u_grid.x - 1 && row < u_grid.y - 1) {
        height = height_of(column, row);
        float bend = (height_of(column - 1, row) - 2.0 * height + height_of(column + 1, row)) / (u_cell.x * u_cell.x)
            + (height_of(column, row - 1) - 2.0 * height + height_of(column, row + 1)) / (u_cell.y * u_cell.y);
        float square = max(dot(up, up), 1e-20);
        rate = dot(in_fields(id, texelFetch(u_state, 2 * id + 1).w * up, u_wave.y), up) / square;
        rate += u_step.x * u_wave.x * u_wave.x * bend;
        if (id == u_grabbed) {
            rate += u_step.x * PULL * (dot(u_hand - base, up) / square - height);
            rate *= exp(-0.1 * PULL * u_step.x);
        }
        vec3 position = base + (height + u_step.x * rate) * up;
        vec3 velocity = rate * up;
        collide(position, velocity, THICKNESS);
        height = dot(position - base, up) / square;
        rate = dot(velocity, up) / square;
    }
    o_position = vec4(base + height * up, height);
    o_velocity = vec4(rate * up, rate);
}
