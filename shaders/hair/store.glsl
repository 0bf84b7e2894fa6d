// The knots of a strand as the record that is captured.
// Inputs: positions [m] or colours of the knots, and a vec4 for the first one. Outputs: the fields o_knot0 and on.

void store_rest(vec3 knots[KNOTS], float last) {
    o_knot1 = vec4(knots[1], last);
    o_knot2 = vec4(knots[2], last);
#if KNOTS > 3
    o_knot3 = vec4(knots[3], last);
#endif
#if KNOTS > 4
    o_knot4 = vec4(knots[4], last);
#endif
#if KNOTS > 5
    o_knot5 = vec4(knots[5], last);
#endif
#if KNOTS > 6
    o_knot6 = vec4(knots[6], last);
#endif
#if KNOTS > 7
    o_knot7 = vec4(knots[7], last);
#endif
#if KNOTS > 8
    o_knot8 = vec4(knots[8], last);
#endif
#if KNOTS > 9
    o_knot9 = vec4(knots[9], last);
#endif
#if KNOTS > 10
    o_knot10 = vec4(knots[10], last);
#endif
#if KNOTS > 11
    o_knot11 = vec4(knots[11], last);
#endif
#if KNOTS > 12
    o_knot12 = vec4(knots[12], last);
#endif
#if KNOTS > 13
    o_knot13 = vec4(knots[13], last);
#endif
#if KNOTS > 14
    o_knot14 = vec4(knots[14], last);
#endif
#if KNOTS > 15
    o_knot15 = vec4(knots[15], last);
#endif
}

// A state: positions from the root, of which the first has the move of the root and 1 for a broken strand.
void store(vec3 knots[KNOTS], vec3 move, float broke) {
    o_knot0 = vec4(move, broke);
    store_rest(knots, 0.0);
}

// Anything else, with a number beside each.
void store_all(vec3 values[KNOTS], float number) {
    o_knot0 = vec4(values[0], number);
    store_rest(values, number);
}
