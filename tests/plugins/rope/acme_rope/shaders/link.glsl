// The place at the distance `size` [m] from `above`, in the direction of `position`.
vec3 on_link(vec3 above, vec3 position, float size) {
    vec3 link = position - above;
    return above + link * (size / max(length(link), 1e-9));
}
