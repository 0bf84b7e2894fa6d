// Orders of the points of a cloth within a substep: natural, or the lines of one family behind each other.
// On a sheet each line is padded to whole segments of SEGMENT points: orders 0 and 1 are the diagonals, which go on at the
// other side of the sheet, so that every column begins one line; 2 the rows, 3 the columns. On a mesh other orders come from
// a table. ORDER is that of `u_points`.

#define NATURAL 4

#ifdef GRID
uniform ivec2 u_size;              // columns, rows

// SEGMENT is a power of 2; divisions of whole numbers with a sign are slow on many machines.
int padded(int length) {
    return (length + SEGMENT - 1) & ~(SEGMENT - 1);
}

int wrapped(int column) {
    return column - u_size.x * int(floor((float(column) + 0.5) / float(u_size.x)));
}

ivec2 cell_of(int id) {
    int row = int((float(id) + 0.5) / float(u_size.x));
    return ivec2(id - row * u_size.x, row);
}

int index_in(int order, ivec2 cell) {
    int diagonal = wrapped(order == 0 ? cell.x - cell.y : cell.x + cell.y) * padded(u_size.y) + cell.y;
    int straight = order == 2 ? cell.y * padded(u_size.x) + cell.x : cell.x * padded(u_size.y) + cell.y;
    return order == NATURAL ? cell.y * u_size.x + cell.x : (order < 2 ? diagonal : straight);
}

int point_of(int id) {
    return index_in(ORDER, cell_of(id));
}
#else
uniform samplerBuffer u_order;     // place of each particle

int point_of(int id) {
    return ORDER == NATURAL ? id : int(texelFetch(u_order, id).x);
}
#endif
