// Sums CHUNK records of energies and takes their largest strain.
// Inputs: records of four numbers (kinetic, elastic, potential [J], strain), how many there are. Outputs: one of them.

uniform samplerBuffer u_records;
uniform int u_count;

void run(int id) {
    int first = id * CHUNK;
    vec3 total = vec3(0.0);
    float strain = -1.0;
    for (int i = 0; i < CHUNK; ++i) {
        int index = min(first + i, u_count - 1);
        vec4 one = texelFetch(u_records, index);
        total += first + i < u_count ? one.xyz : vec3(0.0);
        strain = max(strain, one.w);
    }
    o_measure = vec4(total, strain);
}
