// A list of numbers as the outputs of a kernel. Inputs: LISTED numbers. Outputs: four in each texel.

void write_near(uint found[LISTED]) {
    o_near_0 = uvec4(found[0], found[1], found[2], found[3]);
    o_near_1 = uvec4(found[4], found[5], found[6], found[7]);
    o_near_2 = uvec4(found[8], found[9], found[10], found[11]);
    o_near_3 = uvec4(found[12], found[13], found[14], found[15]);
    o_near_4 = uvec4(found[16], found[17], found[18], found[19]);
    o_near_5 = uvec4(found[20], found[21], found[22], found[23]);
    o_near_6 = uvec4(found[24], found[25], found[26], found[27]);
    o_near_7 = uvec4(found[28], found[29], found[30], found[31]);
    o_near_8 = uvec4(found[32], found[33], found[34], found[35]);
    o_near_9 = uvec4(found[36], found[37], found[38], found[39]);
    o_near_10 = uvec4(found[40], found[41], found[42], found[43]);
    o_near_11 = uvec4(found[44], found[45], found[46], found[47]);
    o_near_12 = uvec4(found[48], found[49], found[50], found[51]);
    o_near_13 = uvec4(found[52], found[53], found[54], found[55]);
    o_near_14 = uvec4(found[56], found[57], found[58], found[59]);
    o_near_15 = uvec4(found[60], found[61], found[62], found[63]);
}
