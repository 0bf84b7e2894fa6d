"""What steps depend on, as values that are equal where the same steps follow.

Every simulated node has a key of its own, of exactly what its steps depend on: what else is in the scene, and how
things are drawn, changes nothing of it.
"""

import functools
import hashlib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sim.assets.content import content_sum
from sim.assets.model import Interpolation
from sim.kinds import KINDS
from sim.kinds.contract import FileUse, World
from sim.scene.params import Declaration, Effect, Role, Settings, params_of
from sim.scene.scene import Node, NodeId

ANEW = frozenset((Effect.RESET, Effect.REBUILD))
_MARK = "2:"
"""What keys begin with, but for those of older versions."""


class SameNode:
    """Something that is equal to itself alone; keeps it, so that its identity is not given to another."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameNode) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@functools.lru_cache(maxsize=4096)
def _values(settings: Settings | None, effects: frozenset[Effect]) -> tuple[Any, ...]:
    if settings is None:
        return ()
    return tuple(getattr(settings, r.name) for r in params_of(type(settings)) if r.declared.effect in effects)


def _in_force(world: World, node: Node) -> Settings | None:
    return world.in_force.get(node.id, node.settings)


def step_key(world: World) -> tuple[tuple[NodeId, Hashable], ...]:
    """What the steps after this one are simulated with: of every simulated node its key, and whether it is baked."""
    return tuple((node, (key, world.scene.node(node).baked)) for node, key in node_keys(world).items())


def start_key(world: World) -> Hashable:
    """What no run can go on from where it changes: the start, what is simulated, its size, and the files."""
    playback, all_settings = world.scene.playback, [(node, _in_force(world, node)) for node in world.scene.nodes]
    systems = tuple((n.id, n.kind, _values(settings, ANEW)) for n, settings in all_settings if KINDS[n.kind].system)
    files = tuple(_file_sum(world, node, use) for node, settings in all_settings for use in _files(settings))
    return playback.start_time, playback.run_up, systems, files


# --- keys that outlive the program ----------------------------------------------------------------------------------


def node_keys(world: World) -> dict[NodeId, str]:
    """What the steps of every simulated node depend on, as text.

    The solver, the start, settings that do not merely draw, places, and full contents of files: of the node, of what it
    rides on, and of what it collides with.
    """
    met, found, playback = _met(world), {}, world.scene.playback
    for node in world.scene.nodes:
        kind, settings = KINDS[node.kind], _in_force(world, node)
        if kind.system:
            simulated = node.id in world.scene.simulated
            start = msgspec.json.encode((kind.version, playback.start_time, playback.run_up, simulated))
            carriers = (_carrying(world, one) for one in world.scene.carriers(node.id))
            acting = met if settings is not None and kind.collides(settings) else ()
            parts = (start, _whole(world, node), *carriers, b"met", *acting)
            found[node.id] = _MARK + hashlib.sha256(b"\n".join(parts)).hexdigest()
    return found


def is_current(key: str, world: World, node: Node) -> bool:
    """Whether a bake of a node that was made with a key has the steps that would be simulated now.

    Keys of older versions are compared as these did: not all of the contents of clips and images is in them.
    """
    return key == (node_keys(world).get(node.id) if key.startswith(_MARK) else digest(world, node))


def _met(world: World) -> list[bytes]:
    """What particles collide with, in the order of the scene, as their kernels meet it."""
    simulated = world.scene.simulated
    colliders = [node for node in world.scene.nodes if KINDS[node.kind].colliders]
    carriers = {one.id: one for node in colliders if node.attachment.node for one in world.scene.carriers(node.id)}
    own = [part for node in colliders for part in (b"heard" if node.id in simulated else b"", _whole(world, node))]
    return own + [_carrying(world, one) for one in carriers.values()]


def _carrying(world: World, carrier: Node) -> bytes:
    """What is ridden on: where it stands, and of a figure how it is posed."""
    return _whole(world, carrier) if KINDS[carrier.kind].character else _record(SameNode(carrier), None)


def _whole(world: World, node: Node) -> bytes:
    """All of a node that steps can depend on, the contents of its files included."""
    settings = _in_force(world, node)
    return b" ".join(
        (_record(SameNode(node), SameNode(settings)), *(_file_sum(world, node, u) for u in _files(settings)))
    )


def _files(settings: Settings | None) -> tuple[FileUse, ...]:
    """Files that steps can depend on; a texture is only drawn."""
    uses = KINDS[settings.kind].files(settings) if settings is not None else ()
    return tuple(use for use in uses if use.content != "texture")


def _file_sum(world: World, node: Node, use: FileUse) -> bytes:
    character = world.characters.get(node.id)
    content: Any = {
        "character": character.model if character is not None else None,
        "mesh": world.meshes.get(use.path),
        "strands": world.strands.get(Path(use.path)),
        "image": world.images.get(Path(use.path)),
    }[use.content]
    return f"{use.field} {content_sum(content) if content is not None else None}".encode()


@functools.lru_cache(maxsize=1024)
def _record(node: SameNode, settings: SameNode | None) -> bytes:
    """Id and place of a node, and settings where these are told."""
    one = node.thing
    assert isinstance(one, Node)
    reported = _stepped(settings.thing) if settings is not None else None
    return msgspec.json.encode((one.kind, one.id, reported, one.transform, one.attachment), order="sorted")


def _stepped(value: Any) -> Any:
    """Values that differ from their defaults, by name, also within lists; not where they merely draw, and no paths."""
    if isinstance(value, tuple):
        return [_stepped(one) for one in value]
    records = params_of(type(value)) if isinstance(value, msgspec.Struct) else ()
    if not records:
        return value
    values = [(record, getattr(value, record.name)) for record in records if not _draws(record.declared)]
    reported = {record.name: _stepped(own) for record, own in values if own != record.default}
    return {"": type(value).__name__, **reported}


def _draws(declared: Declaration) -> bool:
    """Whether a value merely draws, or is the name of a file, whose content counts in its place."""
    return declared.effect is Effect.VIEW or declared.role is Role.PATH


# --- the key that older versions wrote ------------------------------------------------------------------------------


def digest(world: World, node: Node) -> str:
    """What older versions told a bake by: settings of all that takes part, and a part of the contents of files."""
    scene, rebuilt = world.scene, frozenset((Effect.REBUILD,))
    settings = {one.id: _in_force(world, one) for one in scene.nodes if _takes_part(one)}
    nodes = [
        [
            one.id,
            one.kind,
            _values(settings[one.id], frozenset(Effect) - {Effect.VIEW, *rebuilt}),
            [value for value in _values(settings[one.id], rebuilt) if not isinstance(value, str)],
            one.transform,
            one.attachment,
            one.id in scene.simulated,
        ]
        for one in scene.nodes
        if one.id in settings
    ]
    start = [scene.playback.start_time, scene.playback.run_up]
    sums = hashlib.sha256(msgspec.json.encode({"start": start, "nodes": nodes}, order="sorted"))
    arrays: list[Any] = []
    for name, character in sorted(world.characters.items()):
        model = character.model
        arrays += [name.encode(), model.mesh.positions, model.mesh.triangles]
        arrays += [model.skeleton.model_from_bind] if model.skeleton is not None else []
        for clip in model.clips:
            times = [float(clip.key_times[0])] if len(clip.key_times) else []
            poses = [clip.sample(time, Interpolation.LINEAR) for time in (*times, 0.37 * clip.duration)]
            arrays += [clip.key_times, *(pose.orientations for pose in poses)]
    arrays += [mesh.positions for _, mesh in sorted(world.meshes.items())]
    arrays += [part for _, strands in sorted(world.strands.items()) for part in (strands.starts, strands.points)]
    for part in (*arrays, node.id.encode()):
        sums.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return sums.hexdigest()


def _takes_part(node: Node) -> bool:
    kind = KINDS[node.kind]
    return bool(kind.system or kind.colliders or kind.character)
