// Known work for the comparison of back ends: every record looks at its neighbours in a row, as in a cloth.
// Input: u_state (records as texels), u_progress (x: the fraction of the way to them that it moves). Output: its new position.

uniform samplerBuffer u_state;
uniform vec2 u_progress;

void run(int id) {
    vec4 own = texelFetch(u_state, id);
    int last = textureSize(u_state) - 1;
    vec4 sum = vec4(0.0);
    for (int i = 1; i <= 6; ++i) {
        vec4 before = texelFetch(u_state, max(id - i, 0)) - own;
        vec4 after = texelFetch(u_state, min(id + i, last)) - own;
        sum += before * inversesqrt(dot(before, before) + 1.0) + after * inversesqrt(dot(after, after) + 1.0);
    }
    o_bits = own + u_progress.x * sum;
}
