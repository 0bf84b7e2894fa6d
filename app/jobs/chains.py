"""A copy of a model with generated chains of bones for one section, and colliders that fit them."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from sinew.app.document.document import Document
from sinew.app.failure.errors import CommandError
from sinew.app.jobs.avatar import require_other_file
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import MAGIC
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import read_bytes, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError, reading
from sinew.sim.characters.avatar import read_back
from sinew.sim.characters.settings import FlipV, ModelSettings, UpAxis
from sinew.sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import AVATAR_FORMATS, MODEL_WRITERS
from sinew.sim.export.gltf import write_glb
from sinew.sim.export.vrm.chains import add_chains
from sinew.sim.export.vrm.file import GlbFile
from sinew.sim.kinds import group_kind
from sinew.sim.kinds.collider.fit import FittedCollider, fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.kinds.springs.vrm import capsule_of
from sinew.sim.maths import quaternion
from sinew.sim.scene.params import param
from sinew.sim.scene.scene import Attachment, Node, NodeId, ParamRef
from sinew.sim.skin.weights.chains import CHAINS_MAX, JOINTS_MAX, ChainOptions, around, generated_chains
from sinew.sim.skin.weights.sparse import WeightsError

LEGS = ("hips", *(f"{side}{part}" for side in ("left", "right") for part in ("UpperLeg", "LowerLeg")))
"""Human bones that get colliders."""

_GROUP = "group"  # id of the new group among the new nodes


class ChainForm(msgspec.Struct, frozen=True, kw_only=True):
    chains: Annotated[int, param("Number of chains; 0 chooses one every 12 cm.", lo=0, hi=CHAINS_MAX)] = 0
    joints: Annotated[int, param("Bones of each chain; 0 chooses one every 10 cm.", label="Bones per chain", lo=0,
                                 hi=JOINTS_MAX)] = 0  # fmt: skip
    colliders: Annotated[bool, param("Fit capsules to hips and legs.")] = True


@dataclass(frozen=True, slots=True)
class ChainedModel:
    data: bytes  # A GLB file, a VRM if the source is one
    is_converted: bool  # Whether the source had another format: axes and textures are as in glTF now
    # First and last bones of the chains
    roots: tuple[str, ...]
    ends: tuple[str, ...]
    colliders: tuple[FittedCollider, ...]


def suffix_of_chains(source: Path) -> str:
    """Returns the extension of the new file of a model."""
    (gltf,) = (writer.suffixes[0] for writer in MODEL_WRITERS if writer.name == "glTF")
    return source.suffix.lower() if source.suffix.lower() in AVATAR_FORMATS.suffixes() else gltf


def write_chains(settings: ModelSettings, section: str, anchor: str, form: ChainForm, output: Path) -> ChainedModel:
    """Writes a new model file with chains, see `chained_model`.

    Raises:
        CommandError: If the file has another extension than `suffix_of_chains`, or is the one of the model.
        ModelError: If the model is unsuitable.
        OSError: If the file cannot be written.
    """
    source = Path(settings.path)
    require_other_file(output, source)
    if output.suffix.lower() != (suffix := suffix_of_chains(source)):
        raise CommandError(output, "", f"a model with chains from {source.name} is saved as NAME{suffix}")
    made = chained_model(settings, section, anchor, form)
    write_atomically(output, made.data)
    return made


def show_chains(document: Document, node_id: NodeId, section: str, output: Path, made: ChainedModel) -> list[NodeId]:
    """Shows the new file, its spring bones and colliders, as one edit; returns the new nodes."""
    text = f"Generate chains for {section}"
    values = {"path": str(output)}
    axes = {"up_axis": UpAxis.AUTO, "flip_v": FlipV.AUTO} if made.is_converted else {}
    refs = {ParamRef(node_id, ModelSettings.kind, name): value for name, value in {**values, **axes}.items()}
    with document.macro(text):
        document.set_as_one(text, refs)
        return document.add_nodes(nodes_of(made, node_id, section), text)


def chained_model(settings: ModelSettings, section: str, anchor: str, form: ChainForm) -> ChainedModel:
    """Generates chains in the file of a model.

    Args:
        anchor: Name of the bone that the section hangs on; "" for the hips of a human body.

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
        human = bones_of(model, settings.humanoid)
        joint = model.skeleton.find(anchor) if model.skeleton is not None and anchor else human.get("hips")
        if model.skeleton is None or joint is None:
            raise ElementFault("", f"has no bone {anchor!r}" if anchor else "has no hips; name the bone of the section")
        file, options = GlbFile(data), ChainOptions(form.chains, form.joints, settings.unit_scale)
        legs = [model.skeleton.names[human[bone]] for bone in LEGS if bone in human] if form.colliders else []
        try:
            made = generated_chains(model, section, joint, options)
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
