// Contact with a plane that does not turn, which costs less than any other collider.
// Inputs: colliders as packed by sim/colliders/pack.py, a point, a moment as a fraction of the step; world space, metres.
// Outputs: the contact as in common/collide.glsl. COLLIDE_STILL: no collider moves.

#include "common/collide.glsl"

vec3 centre_at(samplerBuffer colliders, int index, float fraction) {
    vec3 start = texelFetch(colliders, index * COLLIDER_TEXELS).xyz;
#ifdef COLLIDE_STILL
    return start;
#else
    return start + fraction * texelFetch(colliders, index * COLLIDER_TEXELS + 1).xyz;
#endif
}

// A plane that does not turn has its normal where others have their size.
Contact plane_contact(samplerBuffer colliders, int index, vec3 point, float fraction) {
    int base = index * COLLIDER_TEXELS;
    vec3 normal = texelFetch(colliders, base + 2).xyz;
    vec4 surface = texelFetch(colliders, base + 5);
    float above = dot(point - centre_at(colliders, index, fraction), normal);
#ifdef COLLIDE_STILL
    vec3 velocity = vec3(0.0);
#else
    vec3 velocity = texelFetch(colliders, base + 1).xyz * surface.z;
#endif
    return Contact(above, normal, velocity, surface.x, surface.y);
}
