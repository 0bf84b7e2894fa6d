// Constants of one drawn frame, shared by every viewport shader.
// World space is right-handed, y up, metres; colours are linear RGB.
// The layout is the one of sim/render/frame.py; a test compares the two.

layout(std140) uniform Frame {
    mat4 clip_from_world;
    mat4 world_from_clip;
    mat4 shadow_from_world;   // to [0, 1] texture space and depth of the shadow map
    vec4 eye;                 // xyz camera position [m]; w is 1 for perspective, 0 for orthographic
    vec4 view_direction;      // xyz unit direction the camera looks along; w far distance [m]
    vec4 light_position[4];   // xyz [m]; w reach [m]: distance of nominal intensity
    vec4 light_colour[4];     // rgb times intensity; w is 1 for the light that casts the shadow (the first, or none)
    vec4 sky;                 // rgb ambient from above, or the mean of an environment; w one shadow texel in texture space
    vec4 ground;              // rgb ambient from below, or the same mean
    vec4 background_top;      // rgb
    vec4 background_bottom;   // rgb
    vec4 viewport;            // width, height [px], 1 / width, 1 / height
    vec4 subject;             // xyz centre of the visible objects [m]; w radius [m]
    vec4 environment;         // cosine and sine of its turn about y, factor of its light
    vec4 harmonics[9];        // rgb of its irradiance over pi, as factors of polynomials of the direction
} frame;
