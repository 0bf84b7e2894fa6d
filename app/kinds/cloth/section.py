"""Makes a cloth of a model, or of one of its sections: placed as the model is, held at its top, stable."""

from pathlib import Path

import msgspec
import numpy as np

from sim.assets.mesh import upright_mesh
from sim.assets.model import CharacterModel, Mesh
from sim.kinds.cloth.file_mesh import placed_as_model
from sim.kinds.cloth.model import ClothModel, build_cloth
from sim.kinds.cloth.pins import pin_list_text
from sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset, PinTarget
from sim.kinds.cloth.stability import stable_substeps
from sim.kinds.cloth.surface import surface_of_mesh
from sim.scene.params import SettingsError
from sim.scene.places import Places, relative_transform
from sim.scene.scene import Attachment, Node
from sim.scene.transform import node_matrix

TOP_SHARE = 0.03
"""Part of the height, from the top, within which particles are held."""


def section_names(model: CharacterModel) -> tuple[str, ...]:
    """Sections that a cloth can be made of, each name once."""
    return tuple(dict.fromkeys(part.name for part in model.mesh.sections if part.triangle_count))


def section_cloth(node: Node, model: CharacterModel, section: str, places: Places) -> Node | str:
    """A node for the cloth, or one line why there can be none.

    Args:
        node: The model's node; the cloth rides on it, where it shows the section in the bind pose.
        model: What was read from its file.
        section: Name of the section; "" for the whole mesh.
        places: Where the nodes stand.
    """
    mesh = upright_mesh(model)
    texture = _texture_of(model, mesh, section)
    settings = ClothSettings(
        source=ClothSource.MESH,
        mesh_path=node.settings.path,
        mesh_section=section,
        pins=PinPreset.NONE,
        pin_target=PinTarget.SURFACE if model.skeleton is not None else PinTarget.WORLD,
        texture=str(texture) if texture else "",
    )
    try:
        placement = places.world_from_parent(node) @ node_matrix(placed_as_model(node, model))
        surface = surface_of_mesh(mesh, section, name=node.name)
        cloth = build_cloth(settings, surface, placement)
    except (SettingsError, ValueError) as error:
        return str(error)
    stable = max(settings.substeps, stable_substeps(cloth, settings))
    settings = msgspec.structs.replace(settings, pin_list=top_pins(cloth), substeps=stable)
    bare = Node(id="", name=f"{section or node.name} cloth", attachment=Attachment(node=node.id), settings=settings)
    return msgspec.structs.replace(bare, transform=relative_transform(placement, places.carrier(bare)))


def top_pins(cloth: ClothModel) -> str:
    """Pin list of the highest particles."""
    height = cloth.positions[:, 1]
    top = np.flatnonzero(height >= height.max() - TOP_SHARE * float(np.ptp(height)))
    return pin_list_text({int(number): True for number in top})


def _texture_of(model: CharacterModel, mesh: Mesh, section: str) -> Path | None:
    """Image of the first section that is meant and has one."""
    parts = (part for part in mesh.sections if section in ("", part.name) and part.material >= 0)
    return next((path for part in parts if (path := model.materials[part.material].texture_path) is not None), None)
