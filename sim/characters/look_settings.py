"""Settings of the look of single materials, in place of what the model file says.  Pure; knows no OpenGL."""

from typing import Annotated

import msgspec

from sim.assets.formats import IMAGE_FORMATS
from sim.scene.params import Effect, Role, Scale, param
from sim.scene.vectors import Colour

PART = "material:"
"""What the address of a value of a material begins with; its name in the file follows."""

LOOKS_MAX = 4096
Name = Annotated[str, msgspec.Meta(max_length=4096)]


def _texture(doc: str, label: str) -> msgspec.Meta:
    return param(
        f"{doc}; stored relative to the project.", group="Textures", label=label, role=Role.PATH,
        suffixes=IMAGE_FORMATS.suffixes, effect=Effect.VIEW,
    )  # fmt: skip


def _colour(doc: str, label: str) -> msgspec.Meta:
    return param(doc, group="Colours", label=label, role=Role.COLOUR, effect=Effect.VIEW)


class MaterialLook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is other of one material than in the file: None is as there, an empty path no texture."""

    material: Name = ""
    diffuse: Annotated[
        Colour | None, _colour("Colour of the surface, which the colour texture is multiplied by.", "Base colour")
    ] = None
    specular: Annotated[Colour | None, _colour("Colour of highlights, seen from the front.", "Highlights")] = None
    emission: Annotated[Colour | None, _colour("Light that the surface gives off by itself.", "Own light")] = None
    shininess: (
        Annotated[
            float,
            param("How narrow highlights are: the exponent of Phong.", lo=0.0, hi=1e4, soft=(1.0, 1e4), scale=Scale.LOG,
                  group="Colours", effect=Effect.VIEW),
        ]
        | None
    ) = None  # fmt: skip
    opacity: (
        Annotated[
            float,
            param("How much of the surface is seen, where the file lets something show through.", lo=0.0, hi=1.0,
                  step=0.01, group="Colours", effect=Effect.VIEW),
        ]
        | None
    ) = None  # fmt: skip
    texture: Annotated[str | None, _texture("Colours", "Colour")] = None
    emission_image: Annotated[str | None, _texture("Colours that the own light is multiplied by", "Own light")] = None
    normal_image: Annotated[
        str | None, _texture("Normals beside those of the mesh: right, up the image, outwards", "Normals")
    ] = None
    surface_image: Annotated[str | None, _texture("Roughness in green and metal in blue", "Roughness, metal")] = None
    occlusion_image: Annotated[
        str | None, _texture("Part of the light from around that arrives, in red", "Occlusion")
    ] = None


Looks = Annotated[tuple[MaterialLook, ...], msgspec.Meta(max_length=LOOKS_MAX)]

TEXTURES = ("texture", "emission_image", "normal_image", "surface_image", "occlusion_image")
"""Names of the textures of a material, that of the colour first."""


def look_of(looks: tuple[MaterialLook, ...], material: str) -> MaterialLook:
    """What is other of one material; nothing where it is not among them."""
    return next((look for look in looks if look.material == material), MaterialLook(material=material))


def with_look(looks: tuple[MaterialLook, ...], changed: MaterialLook) -> tuple[MaterialLook, ...]:
    """The same with another look of one material; one that changes nothing is left out."""
    place = next((index for index, look in enumerate(looks) if look.material == changed.material), len(looks))
    cached = (changed,) if changed != MaterialLook(material=changed.material) else ()
    return (*looks[:place], *cached, *looks[place + 1 :])
