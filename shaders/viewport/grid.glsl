// A vertex of a sheet of points in rows; the normal is the cross product of the differences along rows and columns.
// Inputs: points in the world [m], every u_stride-th texel; columns, rows, texels of each point. Outputs: position, 1 |
// normal, 0. The normal is right-handed: along a row, then along a column.

uniform samplerBuffer u_points;
uniform ivec3 u_grid;                // columns, rows, texels of each point

vec3 point_at(int column, int row) {
    ivec2 place = clamp(ivec2(column, row), ivec2(0), u_grid.xy - 1);
    return texelFetch(u_points, (place.y * u_grid.x + place.x) * u_grid.z).xyz;
}

void run(int id) {
    int index = min(id, u_grid.x * u_grid.y - 1);
    int column = index % u_grid.x;
    int row = index / u_grid.x;
    vec3 along = point_at(column + 1, row) - point_at(column - 1, row);
    vec3 across = point_at(column, row + 1) - point_at(column, row - 1);
    vec3 area = cross(along, across);
    float size = length(area);
    o_position = vec4(point_at(column, row), 1.0);
    o_normal = vec4(size > 0.0 ? area / size : vec3(0.0, 1.0, 0.0), 0.0);
}
