// How far two ways of a guide are apart.
// Inputs: both states. Outputs: the largest distance of its knots [m], their mean distance, 0, 1 where one of them broke.

uniform samplerBuffer u_now;         // KNOTS texels a guide: position from the root [m], of the root 1 for one that broke
uniform samplerBuffer u_other;

void run(int id) {
    float most = 0.0;
    float sum = 0.0;
    for (int k = 1; k < KNOTS; ++k) {
        float apart = distance(texelFetch(u_now, id * KNOTS + k).xyz, texelFetch(u_other, id * KNOTS + k).xyz);
        most = max(most, apart);
        sum += apart;
    }
    float broke = max(texelFetch(u_now, id * KNOTS).w, texelFetch(u_other, id * KNOTS).w);
    o_measure = vec4(most, sum / float(KNOTS - 1), 0.0, broke);
}
