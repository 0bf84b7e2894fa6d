// How a strand scatters light from one direction into another.
// Inputs: tangent from root to tip, directions to light and eye, all unit vectors. Outputs: shares of the light.
// References: J. Kajiya, T. Kay 1989, "Rendering fur with three dimensional textures"; S. Marschner et al. 2003, "Light
// scattering from human hair fibers"; B. Karis 2016, "Physically based hair shading in Unreal", for the lobes.

const float PI = 3.14159265;
const float FRESNEL_0 = 0.0465;

float fresnel(float cosine) {
    float grazing = 1.0 - clamp(cosine, 0.0, 1.0);
    return FRESNEL_0 + (1.0 - FRESNEL_0) * grazing * grazing * grazing * grazing * grazing;
}

float lobe(float x, float middle, float width) {
    float away = (x - middle) / width;
    return exp(-0.5 * away * away) / (width * sqrt(2.0 * PI));
}

// Kajiya and Kay: what is scattered evenly, and what is mirrored into the cone.
vec2 kajiya(vec3 tangent, vec3 to_light, vec3 to_eye) {
    float tl = dot(tangent, to_light);
    float tv = dot(tangent, to_eye);
    float sines = sqrt(max(1.0 - tl * tl, 0.0)) * sqrt(max(1.0 - tv * tv, 0.0));
    return vec2(sqrt(max(1.0 - tl * tl, 0.0)), pow(max(sines - tl * tv, 0.0), 80.0));
}

// Mirrored at the surface, gone through, and mirrored within.
vec3 lobes(vec3 tangent, vec3 to_light, vec3 to_eye, vec3 colour, float roughness, float tilt) {
    float tl = clamp(dot(tangent, to_light), -1.0, 1.0);
    float tv = clamp(dot(tangent, to_eye), -1.0, 1.0);
    float x = tl + tv;
    vec3 across_light = to_light - tl * tangent;
    vec3 across_eye = to_eye - tv * tangent;
    float cos_phi = clamp(dot(across_light, across_eye)
        * inversesqrt(dot(across_light, across_light) * dot(across_eye, across_eye) + 1e-8), -1.0, 1.0);
    float half_phi = sqrt(max(0.5 + 0.5 * cos_phi, 0.0));
    float theta = max(cos(0.5 * abs(asin(tv) - asin(tl))), 0.2);
    float beta = roughness * roughness;
    float mirrored = lobe(x, -2.0 * tilt, beta) * 0.25 * half_phi * fresnel(sqrt(max(0.5 + 0.5 * dot(to_eye, to_light), 0.0)));
    vec3 through = lobe(x, tilt, 0.5 * beta) * exp(-3.65 * cos_phi - 3.98) * sqrt(colour);
    float f = fresnel(0.5 * theta);
    vec3 within = lobe(x, 4.0 * tilt, 2.0 * beta) * exp(17.0 * cos_phi - 16.78) * ((1.0 - f) * (1.0 - f) * f)
        * pow(colour, vec3(0.8 / theta));
    return mirrored + through + within;
}
