// How much a layer counts that is blended without an order: near ones more. Bounded, so that sums of half floats hold
// thousands of layers.
// Inputs: depth whose weight is 1, depth of the layer [m].
// Reference: M. McGuire, L. Bavoil 2013, "Weighted blended order-independent transparency", JCGT 2(2).

float layer_weight(float middle, float depth) {
    float near = middle / max(depth, 1e-3 * middle);
    return clamp(near * near * near * near, 1e-2, 16.0);
}
