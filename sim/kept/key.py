"""What steps depend on, as values that are equal where the same steps follow.

Every simulated node has a key of its own, of exactly what its steps depend on: what else is in the scene, and how
things are drawn, changes nothing of it.
"""

import functools
import hashlib
from collections.abc import Hashable, Mapping, Sequence
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


class Same:
    """Something that is equal to itself alone; keeps it, so that its identity is not given to another."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def matters(node: Node) -> bool:
    """Whether a node can take part in a simulation: as what is simulated, what is collided with, or what is posed."""
    kind = KINDS[node.kind]
    return bool(kind.system or kind.solids or kind.figure)


@functools.lru_cache(maxsize=4096)
def _values(settings: Settings | None, effects: frozenset[Effect]) -> tuple[Any, ...]:
    if settings is None:
        return ()
    return tuple(getattr(settings, r.name) for r in params_of(type(settings)) if r.declared.effect in effects)


def _in_force(world: World, node: Node) -> Settings | None:
    """What a node is simulated by now."""
    return world.in_force.get(node.id, node.settings)


def step_key(world: World) -> tuple[tuple[NodeId, Hashable], ...]:
    """What the steps after this one are simulated with: of every simulated node its key, and whether it is baked."""
    return tuple((node, (key, world.scene.node(node).baked)) for node, key in node_keys(world).items())


def start_key(world: World) -> Hashable:
    """What no run can go on from where it changes: the start, what is simulated, its size, and the files."""
    scene, playback = world.scene, world.scene.playback
    nodes = tuple(
        (node.id, node.kind, _values(_in_force(world, node), ANEW)) for node in scene.nodes if KINDS[node.kind].system
    )
    figures = tuple((node, Same(figure.model)) for node, figure in world.figures.items())
    files = tuple((name, Same(content)) for found in (world.meshes, world.strands) for name, content in found.items())
    return playback.start_time, playback.run_up, nodes, figures, files, tuple(map(Same, images_of(world)))


def images_of(world: World) -> list[object]:
    """Images that are there and that what is simulated depends on; what is only drawn is no image but a texture."""
    uses = ((node, use) for node in world.scene.nodes if matters(node) for use in KINDS[node.kind].files(node.settings))
    return [
        world.images[Path(use.path)] for node, use in uses if use.content == "image" and Path(use.path) in world.images
    ]


# --- keys that outlive the program ----------------------------------------------------------------------------------


def node_keys(world: World) -> dict[NodeId, str]:
    """The keys of all simulated nodes."""
    met = _met(world)
    return {node.id: _node_key(world, node, met) for node in world.scene.nodes if KINDS[node.kind].system}


def node_key(world: World, node: Node) -> str:
    """What the steps of a node depend on, as text: the solver, the start, settings that do not merely draw, places and
    full contents of files, of it, of what it rides on, and of what acts on it.
    """
    return _node_key(world, node, _met(world))


def is_current(key: str, world: World, node: Node) -> bool:
    """Whether a bake of a node that was made with a key has the steps that would be simulated now.

    Keys of older versions are compared as these did: not all of the contents of clips and images is in them.
    """
    return key == (node_key(world, node) if key.startswith(_MARK) else digest(world, node))


def _node_key(world: World, node: Node, met: Sequence[bytes]) -> str:
    kind, settings, playback = KINDS[node.kind], _in_force(world, node), world.scene.playback
    start = msgspec.json.encode((kind.version, playback.start_time, playback.run_up, node.id in world.scene.heard))
    acting = met if settings is not None and kind.collides(settings) else ()
    carriers = (_carrying(world, one) for one in world.scene.carriers(node.id))
    parts = (start, _whole(world, node), *carriers, b"met", *acting)
    return _MARK + hashlib.sha256(b"\n".join(parts)).hexdigest()


def _met(world: World) -> list[bytes]:
    """What particles collide with, in the order of the scene, as their kernels meet it."""
    heard = world.scene.heard
    solids = [node for node in world.scene.nodes if KINDS[node.kind].solids]
    carriers = {one.id: one for node in solids if node.attachment.node for one in world.scene.carriers(node.id)}
    own = [part for node in solids for part in (b"heard" if node.id in heard else b"", _whole(world, node))]
    return own + [_carrying(world, one) for one in carriers.values()]


def _carrying(world: World, carrier: Node) -> bytes:
    """What is ridden on: where it stands, and of a figure how it is posed."""
    return _whole(world, carrier) if KINDS[carrier.kind].figure else _record(Same(carrier), None)


def _whole(world: World, node: Node) -> bytes:
    """All of a node that steps can depend on, the contents of its files included."""
    settings = _in_force(world, node)
    return b" ".join((_record(Same(node), Same(settings)), *(_file_sum(world, node, u) for u in _files(settings))))


def _files(settings: Settings | None) -> tuple[FileUse, ...]:
    """Files that steps can depend on; a texture is only drawn."""
    uses = KINDS[settings.kind].files(settings) if settings is not None else ()
    return tuple(use for use in uses if use.content != "texture")


def _file_sum(world: World, node: Node, use: FileUse) -> bytes:
    figure = world.figures.get(node.id)
    content: Any = {
        "character": figure.model if figure is not None else None,
        "mesh": world.meshes.get(use.path),
        "strands": world.strands.get(Path(use.path)),
        "image": world.images.get(Path(use.path)),
    }[use.content]
    return f"{use.field} {content_sum(content) if content is not None else None}".encode()


@functools.lru_cache(maxsize=1024)
def _record(node: Same, settings: Same | None) -> bytes:
    """Id and place of a node, and settings where these are told."""
    one: Node = node.thing  # type: ignore[assignment]
    told = _stepped(settings.thing) if settings is not None else None
    return msgspec.json.encode((one.kind, one.id, told, one.transform, one.attachment), order="sorted")


def _stepped(value: Any) -> Any:
    """Values that differ from their defaults, by name, also within lists; not where they merely draw, and no paths."""
    if isinstance(value, tuple):
        return [_stepped(one) for one in value]
    records = params_of(type(value)) if isinstance(value, msgspec.Struct) else ()
    if not records:
        return value
    values = ((record, getattr(value, record.name)) for record in records if not _draws(record.declared))
    return {record.name: _stepped(value) for record, value in values if value != record.default}


def _draws(declared: Declaration) -> bool:
    """Whether a value merely draws, or is the name of a file, whose content counts in its place."""
    return declared.effect is Effect.VIEW or declared.role is Role.PATH


# --- the key that older versions wrote ------------------------------------------------------------------------------


def digest(world: World, node: Node) -> str:
    """What older versions told a bake by: settings of all that takes part, and a part of the contents of files."""
    sums = hashlib.sha256()
    sums.update(msgspec.json.encode(_plain(world), order="sorted"))
    for name, figure in sorted(world.figures.items()):
        sums.update(name.encode())
        for array in _arrays_of(figure.model):
            sums.update(np.ascontiguousarray(array).tobytes())
    for path, mesh in sorted(world.meshes.items()):
        del path  # a project that is moved as a whole is the same
        sums.update(np.ascontiguousarray(mesh.positions).tobytes())
    for _, strands in sorted(world.strands.items()):
        sums.update(np.ascontiguousarray(strands.starts).tobytes())
        sums.update(np.ascontiguousarray(strands.points).tobytes())
    sums.update(node.id.encode())
    return sums.hexdigest()


def _plain(world: World) -> Mapping[str, Any]:
    scene = world.scene
    taken = frozenset(Effect) - {Effect.VIEW, Effect.REBUILD}
    rebuilt = frozenset((Effect.REBUILD,))
    return {
        "start": [scene.playback.start_time, scene.playback.run_up],
        "nodes": [
            [
                node.id,
                node.kind,
                _values(_in_force(world, node), taken),
                [value for value in _values(_in_force(world, node), rebuilt) if not isinstance(value, str)],
                node.transform,
                node.attachment,
                node.id in scene.heard,
            ]
            for node in scene.nodes
            if matters(node)
        ],
    }


def _arrays_of(model: Any) -> list[np.ndarray]:
    arrays = [model.mesh.positions, model.mesh.triangles]
    if model.skeleton is not None:
        arrays.append(model.skeleton.model_from_bind)
    for clip in model.clips:
        arrays.append(clip.key_times)
        first = clip.sample(float(clip.key_times[0]), Interpolation.LINEAR) if len(clip.key_times) else None
        last = clip.sample(0.37 * clip.duration, Interpolation.LINEAR)
        arrays += [pose.orientations for pose in (first, last) if pose is not None]
    return arrays
