// Places that particles start from, with the direction away from the source there.
// Inputs: random numbers, 0 up to and without 1, or bits; sizes [m]. Outputs: points and unit normals in the source's frame.
// SOURCE selects: 0 point, 1 sphere, 2 box, 3 disc, 4 line, 5 surface. Functions are named as in tests/oracles/particles.py.
// Reference: R. Osada et al. 2002, "Shape distributions", for the points of a triangle.

const vec3 UPWARD = vec3(0.0, 1.0, 0.0);

struct Place {
    vec3 point;
    vec3 normal;
};

// Uniform in volume between the empty part of the radius and the radius.
Place sphere_place(float radius, float hollow, vec3 random) {
    vec3 normal = cap_direction(2.0, random.xy);
    float share = mix(hollow * hollow * hollow, 1.0, random.z);
    return Place(radius * pow(share, 1.0 / 3.0) * normal, normal);
}

Place box_place(vec3 size, vec3 random) {
    return Place((random - 0.5) * size, UPWARD);
}

Place disc_place(float radius, float hollow, vec3 random) {
    float turn = TWO_PI * random.x;
    float reach = radius * sqrt(mix(hollow * hollow, 1.0, random.y));
    return Place(vec3(reach * cos(turn), 0.0, reach * sin(turn)), UPWARD);
}

// Shares of the corners of a triangle, uniform over its area.
vec3 triangle_shares(vec2 random) {
    float root = sqrt(random.x);
    return vec3(1.0 - root, root * (1.0 - random.y), root * random.y);
}

// The first row of the table whose threshold is above the bits: faces by their areas, however many there are.
uvec4 face_at(usamplerBuffer table, int count, uint bits) {
    int low = 0;
    int high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        bool above = texelFetch(table, middle).x > bits;
        high = above ? middle : high;
        low = above ? low : middle + 1;
    }
    return texelFetch(table, low);
}

// Point (texel 0) or normal (texel 1) of a face of a surface.
vec3 face_value(samplerBuffer vertices, int texels, uvec3 corners, vec3 shares, int texel) {
    vec3 first = texelFetch(vertices, int(corners.x) * texels + texel).xyz;
    vec3 second = texelFetch(vertices, int(corners.y) * texels + texel).xyz;
    vec3 third = texelFetch(vertices, int(corners.z) * texels + texel).xyz;
    return shares.x * first + shares.y * second + shares.z * third;
}
