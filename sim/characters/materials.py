import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sinew.sim.assets.materials import TextureFolder
from sinew.sim.assets.model import AlphaMode, CharacterModel, Material
from sinew.sim.characters.settings import TEXTURES, MaterialLook
from sinew.sim.maths.srgb import light_of

Looks = Sequence[MaterialLook]
REPORTED_MAX = 10
"""Maximum number of missing images of a model that get a line each; one more line counts the others."""

_NAMED_MAX = 3
_WHITE = (1.0, 1.0, 1.0)


def overridden(material: Material, look: MaterialLook) -> Material:
    """Returns a material with overrides; colours of settings are sRGB, colours of materials are linear."""
    colours = {name: getattr(look, name) for name in ("diffuse", "specular", "emission")}
    numbers = {name: getattr(look, name) for name in ("shininess", "opacity")}
    changes: dict[str, Any] = {name: light_of(colour) for name, colour in colours.items() if colour is not None}
    changes |= {name: number for name, number in numbers.items() if number is not None}
    if "diffuse" in changes:
        changes["base"] = None
    if "shininess" in changes and material.surface_image is None:
        changes["roughness"] = None
    if ("diffuse" in changes or "specular" in changes) and material.surface_image is None:
        # Both colours stand by themselves: the surface is no longer a metal whose base colour gives both.
        own = material.specular if material.metal > 0.0 else material.dielectric
        changes |= {"metal": 0.0, "base": None, "dielectric": changes.get("specular", own)}
    for name in TEXTURES:
        path = getattr(look, name)
        if path is None:
            continue
        image = Path(path) if path else None
        if name == "texture":
            changes |= {"texture": image.name if image else None, "texture_path": image, "embedded": None}
        else:
            changes[name] = image
    cached = tuple((name, sampler) for name, sampler in material.samplers if getattr(look, name, None) is None)
    if cached != material.samplers:
        changes["samplers"] = cached  # images of settings are repeated
    if changes.get("emission_image") and "emission" not in changes and not any(material.emission):
        changes["emission"] = _WHITE
    if changes.get("surface_image") and material.surface_image is None:
        changes |= {"metal": 1.0, "roughness": 1.0}
    return replace(material, **changes) if changes else material


def overridden_materials(model: CharacterModel, looks: Looks) -> tuple[Material, ...]:
    if not looks:
        return model.materials
    known = {look.material: look for look in reversed(looks)}
    return tuple(overridden(one, known[one.name]) if one.name in known else one for one in model.materials)


def missing_name(material: Material, name: str) -> str:
    """Returns the name of a missing image; empty if it is not missing."""
    return dict(material.lost).get(name, "")


def idle_values(material: Material) -> frozenset[str]:
    idle = set()
    if material.alpha_mode is AlphaMode.OPAQUE:
        idle.add("opacity")
    if material.toon is not None:
        idle |= {"specular", "shininess", "surface_image", "occlusion_image"}
    elif material.is_unlit:
        idle |= {"specular", "shininess", "normal_image", "surface_image", "occlusion_image"}
    if material.surface_image is not None:
        idle.add("shininess")
    return frozenset(idle)


@dataclass(frozen=True, slots=True)
class MissingImage:
    file: str  # What the model file calls it
    uses: tuple[tuple[str, str], ...]  # Materials that name it, each with the name of the texture among settings

    @property
    def materials(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(material for material, _ in self.uses))

    @property
    def line(self) -> str:
        shown = [name or "unnamed" for name in self.materials[:_NAMED_MAX]]
        rest = len(self.materials) - len(shown)
        names = f"material{'s' * (len(self.materials) > 1)} {', '.join(shown)}" + (f" and {rest} more" if rest else "")
        return f"the texture {self.file} of {names} was not found"


def missing_images(
    model: CharacterModel, looks: Looks, is_gone: Callable[[str], bool] = lambda _: False
) -> tuple[MissingImage, ...]:
    """Returns missing images without an override, in the order of the materials.

    Images that overrides name are missing if `is_gone`; they are listed by their path.
    """
    missing: dict[str, list[tuple[str, str]]] = {}
    known = {look.material: look for look in reversed(looks)}
    for material in model.materials:
        look, lost = known.get(material.name, MaterialLook()), dict(material.lost)
        for name in TEXTURES:
            path = getattr(look, name)
            file = lost.get(name) if path is None else path if path and is_gone(path) else None
            if file:
                missing.setdefault(file, []).append((material.name, name))
    return tuple(MissingImage(file, tuple(dict.fromkeys(uses))) for file, uses in missing.items())


def missing_lines(lost: Sequence[MissingImage]) -> tuple[str, ...]:
    lines = tuple(one.line for one in lost[:REPORTED_MAX])
    more = len(lost) - len(lines)
    return (*lines, f"{more:,} more textures were not found") if more else lines


def located(lost: Sequence[MissingImage], file: str, chosen: Path) -> dict[tuple[str, str], str]:
    """Returns paths of missing images by material and texture, after the user located `file` at `chosen`.

    Other images come from the same folder, by `TextureFolder`.
    """
    find = TextureFolder(chosen.parent).find
    paths: dict[tuple[str, str], str] = {}
    for one in lost:
        path = chosen if one.file == file else find(one.file)
        if path is not None:
            paths |= dict.fromkeys(one.uses, os.path.abspath(path))
    return paths
