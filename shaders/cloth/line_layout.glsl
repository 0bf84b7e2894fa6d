// Orders of the points of a sheet within a substep: natural, by rows, or the lines of one family behind each other, each
// padded to whole segments of SEGMENT points. ORDER is that of `u_points`: 0 and 1 are the diagonals, which go on at the
// other side of the sheet, so that every column begins one line; 2 the rows, 3 the columns, 4 natural.

uniform ivec2 u_size;              // columns, rows

int padded(int length) {
    return (length + SEGMENT - 1) / SEGMENT * SEGMENT;
}

int wrapped(int column) {
    return column - u_size.x * int(floor((float(column) + 0.5) / float(u_size.x)));
}

int point_at(ivec2 cell) {
#if ORDER == 0
    return wrapped(cell.x - cell.y) * padded(u_size.y) + cell.y;
#elif ORDER == 1
    return wrapped(cell.x + cell.y) * padded(u_size.y) + cell.y;
#elif ORDER == 2
    return cell.y * padded(u_size.x) + cell.x;
#elif ORDER == 3
    return cell.x * padded(u_size.y) + cell.y;
#else
    return cell.y * u_size.x + cell.x;
#endif
}

int point_of(int id) {
    int row = int((float(id) + 0.5) / float(u_size.x));
    return point_at(ivec2(id - row * u_size.x, row));
}
