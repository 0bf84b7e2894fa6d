// Writes the rows of a segment.
    o_row_0 = rows[0];
    o_row_1 = rows[1];
    o_row_2 = rows[2];
    o_row_3 = rows[3];
    o_row_4 = rows[4];
    o_row_5 = rows[5];
    o_row_6 = rows[6];
    o_row_7 = rows[7];
#if SEGMENT > 8
    o_row_8 = rows[8];
    o_row_9 = rows[9];
    o_row_10 = rows[10];
    o_row_11 = rows[11];
    o_row_12 = rows[12];
    o_row_13 = rows[13];
    o_row_14 = rows[14];
    o_row_15 = rows[15];
#endif
