// Ways of held particles in a substep: they arrive at their targets with the last one of the step.
// cloth/spring.glsl and u_progress come before.

uniform vec4 u_hand;               // target of the dragged particle [m], and how far it may move in a substep [m]
uniform float u_hand_pull;         // largest force of dragging [N]

vec3 way_along(vec3 way, float reach) {
    way *= u_progress.x;
    return way * min(1.0, reach / max(sqrt(dot(way, way)), CLOTH_TINY));
}

// Takes the way of a dragged particle, which is slower the harder the fabric pulls back: `force` [N]. Beyond the largest force
// the particle slips, and false is returned, so that dragging cannot tear the cloth.
bool is_dragged(vec3 from, vec3 remainder, vec3 force, inout vec3 way) {
    vec3 whole = u_hand.xyz - from;
    float pull = dot(force, whole) > 0.0 ? 0.0 : sqrt(dot(force, force));
    if (pull >= u_hand_pull) {
        return false;
    }
    way = min(1.0, 2.0 - 2.0 * pull / u_hand_pull) * way_along(whole - remainder, u_hand.w);
    return true;
}
