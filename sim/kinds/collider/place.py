"""Places the colliders of a scene in the world: by their node, or riding on a bone; and their motion over a step."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.jobs.pose import Pose
from sim.kinds.collider.settings import ColliderSettings, ColliderShape
from sim.kinds.emitter.emission import SURFACE_SOURCES
from sim.maths import quaternion
from sim.maths.transform import compose, polar
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.transform import Transform
from sim.solids.state import ColliderState, sized

Float64 = npt.NDArray[np.float64]


class Figure(Protocol):
    """A model as it is posed at one moment."""

    @property
    def model(self) -> CharacterModel:
        """The runtime model."""

    @property
    def pose(self) -> Pose | None:
        """Its pose; None for models without a skeleton."""

    @property
    def world_from_model(self) -> Float64:
        """Placement of the file space in the world, shape (4, 4)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A collider at one moment.

    Attributes:
        shape: Which of the forms; a sphere that is scaled unevenly has become an ellipsoid.
        size: Sizes with the scale in them [m], shape (3,), as in `ColliderState`.
        world_from_collider: Rigid placement, shape (4, 4).
        friction, restitution: As in the settings.
    """

    shape: ColliderShape
    size: Float64
    world_from_collider: Float64
    friction: float
    restitution: float


@dataclass(frozen=True, slots=True)
class _Carrier:
    """What a collider stands on: rigid frame in the world and a scale for everything relative to it."""

    world_from_carrier: Float64
    scale: float


_EVEN = 1e-9
"""Largest shear and difference of scales, as a part of the scale, that counts as rounding."""

_WORLD = _Carrier(np.eye(4), 1.0)


def placements(scene: Scene, figures: Mapping[NodeId, Figure]) -> tuple[dict[NodeId, Placement], list[str]]:
    """Where every collider of the scene is now, by node.

    A collider that rides on a bone has its transform relative to the bone's frame without scale, in metres; the scale
    of the model's node, by its geometric mean, scales it too.  A bone or model that is not there leaves the collider
    where its own transform puts it in the world.  Hidden colliders act like the others.

    Args:
        scene: The scene.
        figures: Models as they are posed now, by node.

    Returns:
        The placements, and one line for each bone or model that is not there.
    """
    nodes = scene.of_kind("collider")
    frames = _bone_frames(scene, figures, [(n.collider.bone_node, n.collider.bone) for n in nodes if n.collider])
    warnings: list[str] = []
    carriers = []
    for node in nodes:
        assert node.collider is not None
        key = (node.collider.bone_node, node.collider.bone)
        carriers.append(frames.get(key, _WORLD))
        if all(key) and key not in frames:
            warnings += _missing(scene, node, node.collider, figures)
    return _placed(nodes, carriers), warnings


def world_from_parent(scene: Scene, figures: Mapping[NodeId, Figure], node: Node) -> Float64:
    """What the transform of a node is relative to, shape (4, 4).

    For a collider or an emitter on a bone that is `world_from_bone`; else, or where that is missing, the world.
    """
    key = ("", "")
    if node.collider is not None:
        key = (node.collider.bone_node, node.collider.bone)
    elif node.emitter is not None and node.emitter.source not in SURFACE_SOURCES:
        key = (node.emitter.model_node, node.emitter.bone)
    carrier = world_from_bone(scene, figures, *key)
    return np.eye(4) if carrier is None else carrier


def world_from_bone(scene: Scene, figures: Mapping[NodeId, Figure], model_node: NodeId, bone: str) -> Float64 | None:
    """Frame of a bone without its scale, in metres, times the mean scale of its model's node, shape (4, 4).

    What rides on a bone is placed relative to this.  None for a bone or a model that is not there.
    """
    carrier = _bone_frames(scene, figures, [(model_node, bone)]).get((model_node, bone))
    if carrier is None:
        return None
    matrix = carrier.world_from_carrier.copy()
    matrix[:3, :3] *= carrier.scale
    return matrix


def collider_states(previous: Mapping[NodeId, Placement], current: Mapping[NodeId, Placement]) -> list[ColliderState]:
    """Motion of every collider from one moment to the next, in the order of `current`.

    A collider that was not there before stands still.
    """
    return [
        ColliderState(
            now.shape,
            now.size,
            previous.get(node_id, now).world_from_collider,
            now.world_from_collider,
            now.friction,
            now.restitution,
        )
        for node_id, now in current.items()
    ]


class ColliderTrack:
    """Follows the colliders of a scene from step to step.

    Attributes:
        warnings: Lines about bones and models that are not there, each once; the reader may clear it.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._last: dict[NodeId, Placement] = {}
        self._told: set[str] = set()

    def advance(self, scene: Scene, figures: Mapping[NodeId, Figure]) -> list[ColliderState]:
        """Colliders over the step that ends now; they begin where the call before left them."""
        current, warnings = placements(scene, figures)
        states = collider_states(self._last, current)
        self._last = current
        self.warnings += [line for line in warnings if line not in self._told]
        self._told = set(warnings)  # one that was mended and comes again is told again
        return states

    def jump(self) -> None:
        """Forget the last placements, because time or the scene jumped: the next step begins where it ends."""
        self._last = {}


def _placed(nodes: Sequence[Node], carriers: Sequence[_Carrier]) -> dict[NodeId, Placement]:
    if not nodes:
        return {}
    fixed = [
        _on_carrier(node.transform, node.collider or ColliderSettings(), carrier.scale)
        for node, carrier in zip(nodes, carriers, strict=True)
    ]
    world = np.array([carrier.world_from_carrier for carrier in carriers]) @ np.array(
        [matrix for _, _, matrix in fixed]
    )
    placed = {}
    for node, (shape, size, _), matrix in zip(nodes, fixed, world, strict=True):
        settings = node.collider or ColliderSettings()
        placed[node.id] = Placement(shape, size, matrix, settings.friction, settings.restitution)
    return placed


@functools.lru_cache(maxsize=1024)
def _on_carrier(
    transform: Transform, settings: ColliderSettings, scale: float
) -> tuple[ColliderShape, Float64, Float64]:
    """Shape, size (3,) and rigid placement carrier_from_collider (4, 4): what no pose changes, so made once."""
    matrix = compose(
        scale * np.asarray(transform.position, dtype=np.float64),
        quaternion.from_euler_degrees(transform.rotation),
        np.ones(3),
    )
    shape, size = sized(settings, scale * np.asarray(transform.scale))
    size.flags.writeable = matrix.flags.writeable = False
    return shape, size, matrix


def _bone_frames(
    scene: Scene, figures: Mapping[NodeId, Figure], bones: Sequence[tuple[NodeId, str]]
) -> dict[tuple[NodeId, str], _Carrier]:
    """Frames of bones, by model node and bone name, all made rigid in one go; those that are not there are left out."""
    matrices: dict[tuple[NodeId, str], Float64] = {}
    scales: dict[NodeId, float] = {}
    for key in bones:
        if key in matrices or key[0] not in figures or not scene.has(key[0]):
            continue
        matrix = _world_from_joint(figures[key[0]], key[1])
        if matrix is not None:
            matrices[key] = matrix
            scales[key[0]] = _scale_of(scene.node(key[0]))
    if not matrices:
        return {}
    rigid = rigid_frames(np.array(list(matrices.values())))
    return {key: _Carrier(frame, scales[key[0]]) for key, frame in zip(matrices, rigid, strict=True)}


def rigid_frames(matrices: Float64) -> Float64:
    """Affine matrices (N, 4, 4) without their scale and shear; a mirroring one becomes a rotation too."""
    rigid = matrices.copy()
    linear = matrices[:, :3, :3]
    rigid[:, :3, :3] = linear / np.maximum(np.linalg.norm(linear, axis=1, keepdims=True), np.finfo(float).tiny)
    # The decomposition is needed only for what is not a rotation with an even scale already.
    product = np.swapaxes(rigid[:, :3, :3], 1, 2) @ linear
    scale = product[:, 0, 0]
    even = np.abs(product - scale[:, None, None] * np.eye(3)).max(axis=(1, 2)) <= _EVEN * scale
    uneven = ~even | (np.linalg.det(linear) <= 0.0)
    if uneven.any():
        rigid[uneven, :3, :3], _ = polar(linear[uneven])
    return rigid


def _world_from_joint(figure: Figure, bone: str) -> Float64 | None:
    if figure.pose is None or figure.model.skeleton is None:
        return None
    names: Sequence[str] = figure.model.skeleton.names
    if bone not in names:
        return None
    world_from_joint: Float64 = figure.world_from_model @ figure.pose.model_from_joint[names.index(bone)]
    return world_from_joint


def _scale_of(node: Node) -> float:
    """Geometric mean of the scale of a node; 1 where it is flat."""
    x, y, z = node.transform.scale
    volume = abs(x * y * z)
    return volume ** (1.0 / 3.0) if volume > 0.0 else 1.0


def _missing(scene: Scene, node: Node, settings: ColliderSettings, figures: Mapping[NodeId, Figure]) -> list[str]:
    """Why there is nothing to ride on; nothing for a model that is only not loaded yet."""
    label, stays = node.name or node.id, "it stays where its own transform puts it"
    if not scene.has(settings.bone_node):
        return [f"{label}: the model it rides on is not in the scene; {stays}"]
    carrier = scene.node(settings.bone_node)
    if carrier.id not in figures and carrier.model is not None:
        return []
    return [f"{label}: {carrier.name or carrier.id} has no bone {settings.bone!r}; {stays}"]
