// Statements for each knot after the root, written out: software compilers keep long loops, and with them arrays in
// memory, which takes several times as long.
// Input: a macro of the number of a knot. EACH_KNOT(F) is F(1) F(2) and so on.

#if KNOTS > 2
#define KNOT_2(F) F(2)
#else
#define KNOT_2(F)
#endif
#if KNOTS > 3
#define KNOT_3(F) F(3)
#else
#define KNOT_3(F)
#endif
#if KNOTS > 4
#define KNOT_4(F) F(4)
#else
#define KNOT_4(F)
#endif
#if KNOTS > 5
#define KNOT_5(F) F(5)
#else
#define KNOT_5(F)
#endif
#if KNOTS > 6
#define KNOT_6(F) F(6)
#else
#define KNOT_6(F)
#endif
#if KNOTS > 7
#define KNOT_7(F) F(7)
#else
#define KNOT_7(F)
#endif
#if KNOTS > 8
#define KNOT_8(F) F(8)
#else
#define KNOT_8(F)
#endif
#if KNOTS > 9
#define KNOT_9(F) F(9)
#else
#define KNOT_9(F)
#endif
#if KNOTS > 10
#define KNOT_10(F) F(10)
#else
#define KNOT_10(F)
#endif
#if KNOTS > 11
#define KNOT_11(F) F(11)
#else
#define KNOT_11(F)
#endif
#if KNOTS > 12
#define KNOT_12(F) F(12)
#else
#define KNOT_12(F)
#endif
#if KNOTS > 13
#define KNOT_13(F) F(13)
#else
#define KNOT_13(F)
#endif
#if KNOTS > 14
#define KNOT_14(F) F(14)
#else
#define KNOT_14(F)
#endif
#if KNOTS > 15
#define KNOT_15(F) F(15)
#else
#define KNOT_15(F)
#endif
#define EACH_KNOT(F) F(1) KNOT_2(F) KNOT_3(F) KNOT_4(F) KNOT_5(F) KNOT_6(F) KNOT_7(F) KNOT_8(F) KNOT_9(F) KNOT_10(F) KNOT_11(F) KNOT_12(F) KNOT_13(F) KNOT_14(F) KNOT_15(F)
