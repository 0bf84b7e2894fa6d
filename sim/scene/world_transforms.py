from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.maths.transform import decompose, inverse_affine, polar
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform, node_matrix, rigid_matrix
from sinew.sim.scene.vectors import Vec3

_EVEN = 1e-9
"""Shear and difference of scales, relative to the scale, that counts as rounding."""


class PosedCharacter(Protocol):
    """A character in its pose, which is None for models without a skeleton."""

    @property
    def model(self) -> CharacterModel: ...

    @property
    def animated_pose(self) -> Pose | None:
        """Pose without the turns of simulated joints."""

    @property
    def pose(self) -> Pose | None:
        """Pose with the turns of simulated joints."""

    @property
    def world_from_model(self) -> Float64:
        """Transform of the model, shape (4, 4)."""

    def model_from(self, joints: Intp) -> Float64:
        """Returns model matrices of some joints of the pose, shape (N, 4, 4)."""

    def is_turned(self, joint: int) -> bool:
        """Returns True if a simulated joint is turned, or is above this one."""


PosedCharacters = Mapping[NodeId, PosedCharacter]


class ParentFrame(msgspec.Struct, frozen=True, eq=False):
    """Frame of a parent: rigid, in the world (4, 4), and a scale for everything relative to it."""

    world_from_carrier: Float64
    scale: float

    @property
    def matrix(self) -> Float64:
        matrix = self.world_from_carrier.copy()
        matrix[:3, :3] *= self.scale
        return matrix


WORLD = ParentFrame(np.eye(4), 1.0)

Key = tuple[NodeId, str]
"""Key of a parent: a node, and a bone of it or ""."""


@dataclass(frozen=True, slots=True)
class _BoneMatrices:
    """Bones of one character with attached nodes: their keys, joints (N,), and the scale of the attached nodes."""

    character: NodeId
    keys: tuple[Key, ...]
    joints: Intp
    scale: float


@dataclass(slots=True)
class _AttachedNodes:
    """Parents of nodes, independent of poses: bones, other nodes and, once queried, lines about missing ones."""

    nodes: Sequence[Node]
    bones: list[_BoneMatrices]
    others: list[Key]
    missing: list[str] | None = None


_KNOWN_MAX = 16
"""Maximum number of tuples of nodes that are remembered."""


class WorldTransforms:
    """World transforms of one scene and its characters in their present poses; computed on demand and cached.

    A node attached to a node is relative to the frame of that node without its scale, in metres; attached to a bone, to
    the frame of the bone.  The geometric mean of the parent's scale scales it too.  If the parent is missing, the
    transform of the node is relative to the world.

    Args:
        characters: Posed models by node.
        before: Transforms of another moment; results that do not depend on poses are reused.
    """

    def __init__(self, scene: Scene, characters: PosedCharacters, before: "WorldTransforms | None" = None) -> None:
        self.scene, self.characters = scene, characters
        self._carriers: dict[Key, ParentFrame] = {}
        is_same = before is not None and before.scene is scene and before.characters is characters
        self._known: dict[int, _AttachedNodes] = before._known if before is not None and is_same else {}

    def carrier(self, node: Node) -> ParentFrame:
        """Returns the frame of the parent of a node, which need not be in the scene."""
        attachment = node.attachment
        if not attachment.node:
            return WORLD
        key = (attachment.node, attachment.bone)
        if key not in self._carriers:
            # Highest first, so that long chains do not recurse deeply.
            direct = self.scene.by_id.get(attachment.node)
            for above in reversed([direct, *self.scene.carriers(direct.id)] if direct is not None else []):
                upper = (above.attachment.node, above.attachment.bone)
                if upper[0] and upper not in self._carriers:
                    self._find(*self._sorted([upper]))
            self._find(*self._sorted([key]))
        return self._carriers[key]

    def carriers(self, nodes: Sequence[Node]) -> list[ParentFrame]:
        """Returns frames of the parents; fastest for the same tuple as at the moment before."""
        attached = self._attached(nodes)
        self._find(attached.bones, attached.others)
        known = self._carriers
        return [known[node.attachment.node, node.attachment.bone] if node.attachment.node else WORLD for node in nodes]

    def all_missing(self, nodes: Sequence[Node]) -> list[str]:
        attached = self._attached(nodes)
        if attached.missing is None:
            attached.missing = [line for node in nodes if (line := self.missing(node))]
        return attached.missing

    def world_from_parent(self, node: Node) -> Float64:
        """Returns the transform of the parent, shape (4, 4)."""
        return self.carrier(node).matrix

    def world_from_node(self, node: Node) -> Float64:
        """Returns the transform with the scale of the node, shape (4, 4)."""
        own = node_matrix(node.transform)
        return self.world_from_parent(node) @ own if node.attachment.node else own

    def missing(self, node: Node) -> str:
        """Returns one line about a missing parent; "" if none is missing, or while its model is being read."""
        attachment, stays = node.attachment, "its transform is relative to the world"
        label = node.name or node.id
        if not attachment.node:
            return ""
        if not self.scene.has(attachment.node):
            return f"{label}: its parent is not in the scene; {stays}"
        carrier = self.scene.node(attachment.node)
        is_read = carrier.id in self.characters or not carrier.settings.is_character
        if not attachment.bone or not is_read or self._joint(attachment.node, attachment.bone) is not None:
            return ""
        return f"{label}: {carrier.name or carrier.id} has no bone {attachment.bone!r}; {stays}"

    def is_known(self, node: Node) -> bool:
        """Returns False if a parent of the node, or one above it, is missing or its model is being read.

        The node need not be in the scene.
        """
        above = self.scene.by_id.get(node.attachment.node)
        upper = [above, *self.scene.carriers(above.id)] if above is not None else []
        return not any(self.missing(one) or self._is_read_later(one) for one in (node, *upper))

    def is_boneless(self, attachment: Attachment) -> bool:
        """Returns True if the parent is there and does not have the bone."""
        if not self.scene.has(attachment.node):
            return not attachment.node
        character = self.scene.node(attachment.node).settings.is_character
        is_read = not character or attachment.node in self.characters
        return is_read and self._joint(attachment.node, attachment.bone) is None

    def _is_read_later(self, node: Node) -> bool:
        return bool(node.attachment.bone) and node.attachment.node not in self.characters

    def _attached(self, nodes: Sequence[Node]) -> _AttachedNodes:
        found = self._known.get(id(nodes))
        if found is None or found.nodes is not nodes:
            keys = {(node.attachment.node, node.attachment.bone): None for node in nodes if node.attachment.node}
            found = _AttachedNodes(nodes, *self._sorted(keys))
            if isinstance(nodes, tuple):
                if len(self._known) >= _KNOWN_MAX:
                    self._known.clear()
                self._known[id(nodes)] = found
        return found

    def _sorted(self, keys: Iterable[Key]) -> tuple[list[_BoneMatrices], list[Key]]:
        bones: dict[NodeId, list[tuple[Key, int]]] = {}
        others = []
        for key in keys:
            joint = self._joint(*key) if key[1] else None
            if joint is None or not self.scene.has(key[0]):
                others.append(key)
            else:
                bones.setdefault(key[0], []).append((key, joint))
        return [self._bones(character, *zip(*found, strict=True)) for character, found in bones.items()], others

    def _bones(self, character: NodeId, keys: tuple[Key, ...], joints: tuple[int, ...]) -> _BoneMatrices:
        # Ends circles: a character attached to its own bone through others is relative to the world.
        self._carriers |= dict.fromkeys(keys, WORLD)
        scale = self._scale(self.scene.node(character))
        for key in keys:
            del self._carriers[key]
        return _BoneMatrices(character, keys, np.array(joints, np.intp), scale)

    def _find(self, bones: list[_BoneMatrices], others: list[Key]) -> None:
        """Finds frames of parents; makes bones of one character rigid together."""
        for bone in bones:
            character = self.characters[bone.character]
            frames = rigid_frames(character.world_from_model @ character.model_from(bone.joints))
            for key, frame in zip(bone.keys, frames, strict=True):
                self._carriers[key] = ParentFrame(frame, bone.scale)
        for key in others:
            # The parent of another key may have been computed with it.
            if key not in self._carriers:
                self._carriers[key] = WORLD
                if self.scene.has(key[0]) and not key[1]:
                    self._carriers[key] = self._frame(self.scene.node(key[0]))

    def _frame(self, node: Node) -> ParentFrame:
        below = self.carrier(node)
        own = rigid_matrix(node.transform, below.scale)
        frame = own if below is WORLD else below.world_from_carrier @ own
        return ParentFrame(frame, self._scale(node))

    def _scale(self, node: Node) -> float:
        return _mean_scale(node.transform) * self.carrier(node).scale

    def _joint(self, node_id: NodeId, bone: str) -> int | None:
        character = self.characters.get(node_id)
        if character is None or character.animated_pose is None or character.model.skeleton is None:
            return None
        return character.model.skeleton.find(bone)


def rigid_frames(matrices: Float64) -> Float64:
    """Returns affine matrices (N, 4, 4) without scale and shear; mirroring ones become rotations too."""
    rigid = matrices.copy()
    linear = matrices[:, :3, :3]
    rigid[:, :3, :3] = linear / np.maximum(np.linalg.norm(linear, axis=1, keepdims=True), np.finfo(float).tiny)
    # Only matrices that are not a rotation with an even scale need the decomposition.
    product = np.swapaxes(rigid[:, :3, :3], 1, 2) @ linear
    scale = product[:, 0, 0]
    even = np.abs(product - scale[:, None, None] * np.eye(3)).max(axis=(1, 2)) <= _EVEN * scale
    uneven = ~even | (np.linalg.det(linear) <= 0.0)
    if uneven.any():
        rigid[uneven, :3, :3], _ = polar(linear[uneven])
    return rigid


def relative_transform(world_from_node: Float64, carrier: ParentFrame) -> Transform:
    """Returns a transform that gives a node a world matrix (4, 4) without shear; clamps values out of range."""
    position, orientation, scale = decompose(inverse_affine(carrier.matrix) @ world_from_node)
    rotation = degrees_from_matrix(quaternion.to_matrix(orientation))
    return bounded(Transform(position=vector(position), rotation=rotation, scale=vector(scale)))


def vector(values: npt.ArrayLike) -> Vec3:
    x, y, z = np.asarray(values, np.float64).tolist()
    return x, y, z


def carrier_of(transform: Transform) -> ParentFrame:
    return ParentFrame(rigid_matrix(transform), _mean_scale(transform))


def _mean_scale(transform: Transform) -> float:
    """Returns the geometric mean of the scale; 1 if it is flat."""
    x, y, z = transform.scale
    volume = abs(x * y * z)
    return volume ** (1.0 / 3.0) if volume > 0.0 else 1.0


def rebased(raw: dict[str, Any], carrier: Mapping[str, Any]) -> None:
    """Makes the transform of a node's JSON object relative to another top-level node; both as in files.

    Invalid values are left for the decoder.
    """
    try:
        own = msgspec.convert(raw.get("transform", {}), Transform)
        other = msgspec.convert(carrier.get("transform", {}), Transform)
    except msgspec.ValidationError:
        return
    if other != Transform():
        raw["transform"] = msgspec.to_builtins(relative_transform(node_matrix(own), carrier_of(other)))
