"""A copy of a model with generated chains of bones for one section, and colliders that fit them."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import MAGIC
from sinew.sim.assets.load import read_bytes, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError, reading
from sinew.sim.characters.avatar import read_back
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sinew.sim.export.gltf import write_glb
from sinew.sim.export.vrm.chains import add_chains
from sinew.sim.export.vrm.file import GlbFile
from sinew.sim.kinds import group_kind
from sinew.sim.kinds.collider.fit import FittedCollider, fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.kinds.springs.vrm import capsule_of
from sinew.sim.maths import quaternion
from sinew.sim.scene.scene import Attachment, Node, NodeId
from sinew.sim.skin.weights.chains import ChainOptions, around, generated_chains
from sinew.sim.skin.weights.sparse import WeightsError

_GROUP = "group"  # id of the new group among the new nodes


@dataclass(frozen=True, slots=True)
class ChainedModel:
    data: bytes  # A GLB file, a VRM if the source is one
    is_converted: bool  # Whether the source had another format: axes and textures are as in glTF now
    # First and last bones of the chains
    roots: tuple[str, ...]
    ends: tuple[str, ...]
    colliders: tuple[FittedCollider, ...]


def chained_model(
    settings: ModelSettings, section: str, anchor: str, options: ChainOptions, legs: Sequence[str]
) -> ChainedModel:
    """Generates chains in the file of a model.

    Args:
        anchor: Name of the bone that the section hangs on.
        legs: Bones that get colliders.

    Raises:
        ModelError: If the model is unsuitable; the message says why.
    """
    path = Path(settings.path)
    data = read_bytes(path)
    with reading(partial(ModelError, path)):
        if settings.weights:
            raise ElementFault("", "has changed weights; export it with them first")
        is_converted = not data.startswith(MAGIC)
        if is_converted:
            buffer = io.BytesIO()
            write_glb(read_raw(path), buffer)
            data = buffer.getvalue()
        model = read_back(data, path)
        joint = model.skeleton.find(anchor) if model.skeleton is not None else None
        if model.skeleton is None or joint is None:
            raise ElementFault("", f"has no bone {anchor!r}")
        file = GlbFile(data)
        try:
            made = generated_chains(model, section, joint, replace(options, metres=settings.unit_scale))
        except WeightsError as error:
            raise ElementFault(section, str(error)) from None
        names = _unique(made.names(section), model.skeleton.names)
        add_chains(file, model, joint, made.places, names, made.rows, made.influences)
        colliders = leg_colliders(model, section, legs, settings.unit_scale, made.spacing * settings.unit_scale)
        step = made.places.shape[1]
        roots, ends = tuple(names[::step]), tuple(names[step - 1 :: step])
        return ChainedModel(file.written(), is_converted, roots, ends, tuple(colliders))


def leg_colliders(
    model: CharacterModel, section: str, bones: Sequence[str], unit_scale: float, spacing: float
) -> list[FittedCollider]:
    """Returns capsules of some bones, fitted without a section, as thick as half the spacing of the chains [m]."""
    if not bones:
        return []
    triangles = model.mesh.triangles[around(model.mesh, [section])]
    body = replace(model, mesh=replace(model.mesh, triangles=triangles))
    found = []
    for fitted in fit_colliders(body, unit_scale=unit_scale):
        settings, axis = fitted.settings, 1
        if fitted.bone not in bones:
            continue
        radius, half = settings.radius, settings.length / 2.0
        if settings.shape is ColliderShape.ELLIPSOID:
            axis, radius, half, _ = capsule_of(np.array(settings.semi_axes))
        turn = np.eye(3)[:, [(axis + 2) % 3, axis, (axis + 1) % 3]]
        matrix = quaternion.to_matrix(quaternion.from_euler_degrees(fitted.transform.rotation)) @ turn
        transform = msgspec.structs.replace(fitted.transform, rotation=quaternion.degrees_from_matrix(matrix))
        capsule = ColliderSettings(
            shape=ColliderShape.CAPSULE, radius=max(radius, spacing / 2.0), length=max(2.0 * half, SMALLEST_SIZE)
        )
        found.append(FittedCollider(fitted.bone, capsule, transform))
    return found


def nodes_of(made: ChainedModel, node_id: NodeId, section: str) -> list[Node]:
    """Returns spring bones of the new chains, and a group with the colliders."""
    on = Attachment(node=node_id)
    springs = SpringBoneSettings(roots="; ".join(made.roots), end_bones="; ".join(made.ends))
    nodes = [Node(id="", name=f"{section} springs", attachment=on, settings=springs)]
    if made.colliders:
        nodes.append(group_kind().new_node(_GROUP, name="Colliders", attachment=on))
    for one in made.colliders:
        bone = Attachment(node=node_id, bone=one.bone)
        nodes.append(Node(id="", name=one.bone, transform=one.transform, attachment=bone, within=_GROUP,
                          settings=one.settings))  # fmt: skip
    return nodes


def _unique(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    known, found = set(taken), []
    for name in names:
        while name in known:
            name += "'"
        known.add(name)
        found.append(name)
    return found
