"""Cloth of a model or one of its sections: in the same place, pinned at its top."""

import contextlib

import msgspec
import numpy as np

from sinew.sim.assets.images import ImageError, load_image
from sinew.sim.assets.model import CharacterModel, Material, Mesh, upright_mesh
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.export.gltf_parts import metal_and_base
from sinew.sim.kinds.cloth.kind import NEW_CLOTH
from sinew.sim.kinds.cloth.model import ClothModel, build_cloth
from sinew.sim.kinds.cloth.pins import toggled_pin_list
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset, PinTarget
from sinew.sim.kinds.cloth.surface import placed_as_model, surface_of_mesh
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import node_matrix
from sinew.sim.scene.vectors import Colour
from sinew.sim.scene.world_transforms import WorldTransforms, relative_transform

_AVERAGED = 64  # pixels along the edge of an image that are averaged for its colour

SUBSTEPS = 32
"""More than of a new sheet, because the threads of a mesh are crooked."""

TOP_SHARE = 0.03
"""Part of the height, from the top, within which particles are pinned."""


def section_names(model: CharacterModel) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.name for part in model.mesh.sections if part.triangle_count))


def section_cloth(node: Node, model: CharacterModel, section: str, places: WorldTransforms) -> Node | str:
    """Returns a cloth attached to `node`, or one line about the error; a `section` of "" is the whole model."""
    assert isinstance(node.settings, ModelSettings)
    mesh = upright_mesh(model)
    materials = _materials_of(model, mesh, section)
    texture = next((m.texture_path for m in materials if m.texture_path is not None), None)
    settings = msgspec.structs.replace(
        NEW_CLOTH,
        substeps=SUBSTEPS,
        source=ClothSource.MESH,
        mesh_path=node.settings.path,
        mesh_section=section,
        pins=PinPreset.NONE,
        pin_target=PinTarget.SURFACE if model.skeleton is not None else PinTarget.WORLD,
        texture=str(texture) if texture else "",
        colour=_colour_of(materials[0]) if materials else ClothSettings().colour,
    )
    try:
        placement = places.world_from_parent(node) @ node_matrix(placed_as_model(node, model))
        surface = surface_of_mesh(mesh, section, name=node.name)
        cloth = build_cloth(settings, surface, placement)
    except (SettingsError, ValueError) as error:
        return str(error)
    settings = msgspec.structs.replace(settings, pin_list=top_pins(cloth))
    bare = Node(id="", name=f"{section or node.name} Cloth", attachment=Attachment(node=node.id), settings=settings)
    return msgspec.structs.replace(bare, transform=relative_transform(placement, places.carrier(bare)))


def top_pins(cloth: ClothModel) -> str:
    height = cloth.positions[:, 1]
    top = np.flatnonzero(height >= height.max() - TOP_SHARE * float(np.ptp(height)))
    return toggled_pin_list("", np.zeros(len(height), np.bool_), top)


def _materials_of(model: CharacterModel, mesh: Mesh, section: str) -> list[Material]:
    parts = (part for part in mesh.sections if section in ("", part.name) and part.material >= 0)
    return [model.materials[part.material] for part in parts]


def _colour_of(material: Material) -> Colour:
    """Returns the colour of a material times the average of its embedded image, which cloth cannot use."""
    linear = np.array(metal_and_base(material)[0])
    if material.embedded is not None:
        # An unreadable image counts as white; the model reports it.
        with contextlib.suppress(ImageError):
            pixels = load_image(material.embedded)[..., :3]
            rows, columns = (max(size // _AVERAGED, 1) for size in pixels.shape[:2])
            linear = linear * linear_from_srgb(pixels[::rows, ::columns] / 255.0).mean(axis=(0, 1))
    red, green, blue = np.clip(srgb_from_linear(linear), 0.0, 1.0).tolist()
    return red, green, blue
