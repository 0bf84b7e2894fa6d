// Contacts of points with skins. Inputs: two texels a point: position | velocity. Outputs: normal, distance | velocity of
// the skin, friction.

#include "common/collide.glsl"
#include "skin/contact.glsl"

uniform samplerBuffer u_places;
uniform vec3 u_when;                 // fractions of the step at the start and at the end, duration [s]

void run(int id) {
    vec3 start = texelFetch(u_places, 2 * id).xyz;
    vec3 end = start + u_when.z * texelFetch(u_places, 2 * id + 1).xyz;
    Contact contact = skin_contact(id, start, end, u_when.x, u_when.y, u_when.z);
    o_normal = vec4(contact.normal, contact.distance);
    o_surface = vec4(contact.velocity, contact.friction);
}
