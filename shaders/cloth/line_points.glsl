// Writes the points of a segment.
    o_point_0 = points[0];
    o_point_1 = points[1];
    o_point_2 = points[2];
    o_point_3 = points[3];
    o_point_4 = points[4];
    o_point_5 = points[5];
    o_point_6 = points[6];
    o_point_7 = points[7];
#if SEGMENT > 8
    o_point_8 = points[8];
    o_point_9 = points[9];
    o_point_10 = points[10];
    o_point_11 = points[11];
    o_point_12 = points[12];
    o_point_13 = points[13];
    o_point_14 = points[14];
    o_point_15 = points[15];
#endif
