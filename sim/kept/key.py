"""What steps depend on, as values that are equal where the same steps follow."""

import functools
import hashlib
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sim.assets.model import Interpolation
from sim.kinds import KINDS
from sim.kinds.contract import World
from sim.scene.params import Effect, Settings, params_of
from sim.scene.scene import Node

ANEW = frozenset((Effect.RESET, Effect.REBUILD))


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


def step_key(world: World) -> Hashable:
    """What the steps after this one are simulated with: settings, places and files, but nothing that merely draws."""
    scene = world.scene
    taken = frozenset(Effect) - {Effect.VIEW}
    nodes = tuple(
        (
            node.id,
            node.baked,
            _values(_in_force(world, node), taken),
            node.transform,
            node.attachment,
            node.id in scene.heard,
        )
        for node in scene.nodes
        if matters(node)
    )
    return start_key(world), nodes


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


def digest(world: World, node: Node) -> str:
    """What a bake of a node was made with, as text: settings of all that takes part, and contents of files."""
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
