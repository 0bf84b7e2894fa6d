#version 330 core
// Ambient occlusion from a depth image: part of the light from around that reaches the surface in a pixel.
// Lengths are in metres; positions are in the space of the camera, z towards it.
// A convex surface does not darken itself: a horizon counts only above the line that comes from the pixel opposite
// through this one, below which such a surface stays, and the light is compared with that above these lines.
// Output: that part, and the distance along the view; a very large one where there is nothing.
// Reference: J. Jimenez et al. 2016, "Practical Realtime Strategies for Accurate Indirect Occlusion", SIGGRAPH.

uniform sampler2D u_depth;
uniform vec3 u_terms;      // third row of the projection, third and fourth element, and 1 where it is parallel
uniform vec2 u_half;       // half width and height of the image, at distance 1 where it is not parallel
uniform float u_radius;    // greatest distance of what darkens

out vec2 o_open;

const float PI = 3.14159265;
const float NOTHING = 6e4;  // nearly the limit of half floats
const int SLICES = 2, STEPS = 3;
const float LARGEST = 0.12; // radius as part of the height of the image

float reach(float depth) {
    float ndc = 2.0 * depth - 1.0;
    return u_terms.z < 0.5 ? u_terms.y / (ndc + u_terms.x) : (u_terms.y - ndc) / u_terms.x;
}

// Far away outside the image.
float depth_at(ivec2 pixel) {
    ivec2 inside = clamp(pixel, ivec2(0), textureSize(u_depth, 0) - 1);
    return pixel == inside ? texelFetch(u_depth, pixel, 0).r : 1.0;
}

// Between two pixels, of which one coordinate is whole; on flat surfaces exact, on convex ones below the surface.
vec3 place_at(vec2 pixel) {
    ivec2 low = ivec2(floor(pixel)), high = ivec2(ceil(pixel));
    vec2 share = pixel - vec2(low);
    float away = reach(mix(depth_at(low), depth_at(high), max(share.x, share.y)));
    vec2 ndc = (pixel + 0.5) / vec2(textureSize(u_depth, 0)) * 2.0 - 1.0;
    return vec3(ndc * u_half * (u_terms.z < 0.5 ? away : 1.0), -away);
}

// The change to the neighbour that lies on the same surface.
vec3 change(vec3 before, vec3 here, vec3 after) {
    return abs(here.z - before.z) < abs(after.z - here.z) ? here - before : after - here;
}

// Integral of the cosine from the normal to a horizon; both are angles from the eye.
float arc(float horizon, float lean) {
    return 0.25 * (cos(lean) + 2.0 * horizon * sin(lean) - cos(2.0 * horizon - lean));
}

// Cosine of the horizon that a pixel raises; it fades towards the radius.
float raised(vec2 pixel, vec3 here, vec3 to_eye, float lowest) {
    vec3 offset = place_at(pixel) - here;
    float away = length(offset);
    return mix(lowest, dot(offset, to_eye) / max(away, 1e-9), clamp((1.0 - away / u_radius) * 1.6, 0.0, 1.0));
}

void main() {
    vec2 pixel = floor(gl_FragCoord.xy);
    if (depth_at(ivec2(pixel)) == 1.0) {
        o_open = vec2(1.0, NOTHING);
        return;
    }
    vec3 here = place_at(pixel);
    vec3 right = change(place_at(pixel - vec2(1, 0)), here, place_at(pixel + vec2(1, 0)));
    vec3 up = change(place_at(pixel - vec2(0, 1)), here, place_at(pixel + vec2(0, 1)));
    vec3 normal = normalize(cross(right, up));
    vec3 to_eye = u_terms.z < 0.5 ? normalize(-here) : vec3(0.0, 0.0, 1.0);
    float size = float(textureSize(u_depth, 0).y) / (2.0 * u_half.y * (u_terms.z < 0.5 ? -here.z : 1.0));
    float radius = min(u_radius * size, LARGEST * float(textureSize(u_depth, 0).y));
    // Sixteen patterns in a square of four pixels, over which the mean is taken.
    ivec2 whole = ivec2(pixel);
    float turn = float((((whole.x + whole.y) & 3) << 2) + (whole.x & 3)) / 16.0;
    float start = 0.25 * float((whole.y - whole.x) & 3);
    float open = 0.0, most = 0.0;
    for (int slice = 0; slice < SLICES; ++slice) {
        float angle = (float(slice) + turn) * PI / float(SLICES);
        vec3 along = vec3(cos(angle), sin(angle), 0.0);
        vec3 axis = normalize(cross(along, to_eye));
        vec3 flat_normal = normal - axis * dot(normal, axis);
        float share = max(length(flat_normal), 1e-6);
        float lean = acos(clamp(dot(flat_normal, to_eye) / share, 0.0, 1.0));
        if (dot(along - dot(along, to_eye) * to_eye, flat_normal) < 0.0) lean = -lean;
        float slant = max(abs(along.x), abs(along.y));
        vec2 ahead = along.xy / slant;   // a pixel further in one direction
        vec3 before = normalize(here - place_at(pixel - ahead)), after = normalize(here - place_at(pixel + ahead));
        vec2 bent = vec2(dot(before, to_eye), dot(after, to_eye));
        vec2 lowest = clamp(max(cos(lean + vec2(0.5, -0.5) * PI), bent), -1.0, 1.0), highest = lowest;
        for (int i = 0; i < STEPS; ++i) {
            float part = (float(i) + start) / float(STEPS);
            vec2 offset = ahead * max(floor(part * part * radius * slant + 0.5), float(i) + 1.0);
            highest = max(highest, vec2(raised(pixel + offset, here, to_eye, lowest.x),
                                        raised(pixel - offset, here, to_eye, lowest.y)));
        }
        vec2 horizon = acos(clamp(highest, -1.0, 1.0)), widest = acos(lowest);
        open += share * (arc(horizon.x, lean) + arc(-horizon.y, lean));
        most += share * (arc(widest.x, lean) + arc(-widest.y, lean));
    }
    o_open = vec2(most > 1e-4 ? clamp(open / most, 0.0, 1.0) : 1.0, -here.z);
}
