// Baseline for benchmarks: one Verlet step of a mass-spring sheet in plain textbook form.
// Inputs: position and mass, previous position (attributes and buffer textures), spring constants, step [s]; world space.
// Outputs: the same two. COLLIDE adds the floor and one ellipsoid.
// Reference: M. Movania, OpenGL Development Cookbook (2013), chapter 8 (the method, not the text).

uniform samplerBuffer u_positions;
uniform samplerBuffer u_previous_positions;
uniform int u_columns;
uniform int u_rows;
uniform float u_step;
uniform vec3 u_gravity;
uniform float u_drag;
uniform vec2 u_structural;         // stiffness, damping
uniform vec2 u_shear;
uniform vec2 u_bend;
uniform vec2 u_spacing;
#ifdef COLLIDE
uniform mat4 u_ellipsoid;
uniform mat4 u_inverse_ellipsoid;
#endif

// Offset of neighbour k in the sheet, with the constants of its spring.
ivec2 neighbour_offset(int k, out vec2 constants) {
    if (k < 4) {
        constants = u_structural;
        if (k == 0) return ivec2(1, 0);
        if (k == 1) return ivec2(0, -1);
        if (k == 2) return ivec2(-1, 0);
        return ivec2(0, 1);
    }
    if (k < 8) {
        constants = u_shear;
        if (k == 4) return ivec2(1, -1);
        if (k == 5) return ivec2(-1, -1);
        if (k == 6) return ivec2(-1, 1);
        return ivec2(1, 1);
    }
    constants = u_bend;
    if (k == 8) return ivec2(2, 0);
    if (k == 9) return ivec2(0, -2);
    if (k == 10) return ivec2(-2, 0);
    return ivec2(0, 2);
}

void run(int id) {
    float mass = a_position.w;
    vec3 position = a_position.xyz;
    vec3 previous = a_previous.xyz;
    vec3 velocity = (position - previous) / u_step;
    int row = id / u_columns;
    int column = id % u_columns;
    vec3 force = u_gravity * mass - u_drag * velocity;
    for (int k = 0; k < 12; ++k) {
        vec2 constants;
        ivec2 offset = neighbour_offset(k, constants);
        if (column + offset.x < 0 || column + offset.x > u_columns - 1) continue;
        if (row + offset.y < 0 || row + offset.y > u_rows - 1) continue;
        int index = (row + offset.y) * u_columns + column + offset.x;
        float rest = length(vec2(offset) * u_spacing);
        vec3 other = texelFetch(u_positions, index).xyz;
        vec3 other_velocity = (other - texelFetch(u_previous_positions, index).xyz) / u_step;
        vec3 apart = position - other;
        float reach = length(apart);
        float pull = -constants.x * (reach - rest);
        float damp = constants.y * dot(velocity - other_velocity, apart) / reach;
        force += (pull - damp) * (apart / reach);
    }
    vec3 acceleration = mass == 0.0 ? vec3(0.0) : force / mass;
    vec3 next = 2.0 * position - previous + acceleration * u_step * u_step;
    vec3 former = position;
#ifdef COLLIDE
    next.y = max(0.0, next.y);
    vec4 local = u_inverse_ellipsoid * vec4(next, 1.0);
    float square = dot(local.xyz, local.xyz);
    if (square < 1.0) {
        vec3 pushed = (1.0 - square) * local.xyz / square;
        next += (u_ellipsoid * vec4(pushed, 0.0)).xyz;
        former = next;
    }
#endif
    o_position = vec4(next, mass);
    o_previous = vec4(former, 0.0);
}
