"""How a cloth is bound to the skin of a character: where its particles start in a pose, and how they are teleported.

A cloth from the character's own file belongs to the bind pose, and each particle moves with its vertex of the skin.
Any other cloth belongs to the pose in which the simulation starts.  Attached to a bone, all of it moves with the bone;
attached to the skin, held particles move with the nearest vertices, and the others with the held ones, by distance.
"""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.characters.character import Character
from sinew.sim.characters.reference import shaped_mesh, skin
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSource, PinTarget
from sinew.sim.kinds.cloth.surface import section_triangles
from sinew.sim.kinds.contract import World
from sinew.sim.maths.transform import inverse_affine, transform_points
from sinew.sim.scene.scene import Node
from sinew.sim.skin.pose_snapshot import PoseSnapshot, motions, moved, nearest, of_joint, rows_of, spread

Float64 = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.intp] | slice


ALL = slice(None)

_DIRECTIONS = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])


@dataclass(frozen=True, slots=True, eq=False)
class SkinBindingKey:
    """Everything that a binding depends on; large objects are compared by identity."""

    model: ClothModel  # The cloth
    character: Character  # The character
    character_settings: ModelSettings  # Clip and skinning of the character
    mesh: Mesh | None  # The mesh of the cloth, if it is from the file of the character
    # Pin target, bone, section, held particles if they matter, and the start of the scene [s]
    plain: tuple[PinTarget, str, str, bytes, float]

    def same(self, other: "SkinBindingKey | None") -> bool:
        if other is None or self.model is not other.model or self.character is not other.character:
            return False
        return self.mesh is other.mesh and (self.character_settings, self.plain) == (
            other.character_settings,
            other.plain,
        )


def skin_binding_key(node: Node, cloth: Cloth, world: World) -> SkinBindingKey | None:
    """The binding of a cloth; None if its parent is not a character with bones, or is one of its bones."""
    carrier = world.scene.by_id.get(node.attachment.node)
    character = world.characters.get(node.attachment.node)
    if carrier is None or node.attachment.bone or not isinstance(character, Character) or character.pose is None:
        return None
    settings, bindings_of = cloth.settings, carrier.settings
    assert isinstance(bindings_of, ModelSettings)
    is_own = settings.source is ClothSource.MESH and settings.mesh_path == bindings_of.path
    held = cloth.pins.flags.tobytes() if settings.pin_target is PinTarget.SURFACE else b""
    plain = (settings.pin_target, settings.pin_bone, settings.mesh_section, held, world.start_time)
    mesh = world.assets.meshes.get(Path(settings.mesh_path)) if is_own else None
    return SkinBindingKey(cloth.model, character, bindings_of, mesh, plain)


def skin_binding_of(key: SkinBindingKey, cloth: Cloth) -> "SkinBinding | None":
    """The binding of a key; None if the cloth moves with its node alone."""
    model, (target, bone, *_) = key.character.model, key.plain
    if key.mesh is not None and model.skin is not None and np.array_equal(key.mesh.triangles, model.mesh.triangles):
        return SkinBinding(key, cloth, is_own=True)
    if target is PinTarget.BONE:
        is_tied = model.skeleton is not None and model.skeleton.find(bone) is not None
    else:
        is_tied = target is PinTarget.SURFACE and model.skin is not None
    return SkinBinding(key, cloth, is_own=False) if is_tied else None


class SkinBinding:
    """A cloth on a character at their present world transforms.

    Args:
        key: What the binding depends on.
        cloth: The cloth.
        is_own: Whether its particles are vertices of the character.
    """

    def __init__(self, key: SkinBindingKey, cloth: Cloth, *, is_own: bool) -> None:
        self.key, self.is_own = key, is_own
        self._points, self._held = cloth.rest(), np.flatnonzero(cloth.pins.flags)
        self._reference = self.at(key.character.pose_at(key.plain[-1]))
        self._in_model = transform_points(inverse_affine(key.character.world_from_model), self._points)

    def at(self, pose: Pose | None) -> PoseSnapshot:
        assert pose is not None
        return PoseSnapshot(pose, self.key.character.world_from_model)

    def places(self, snapshot: PoseSnapshot, chosen: Chosen = ALL) -> Float64:
        """Rest positions of particles on the character in a pose, in the world [m], shape (N, 3)."""
        if self.is_own:
            return self._skinned(snapshot, chosen)
        points = self._points[chosen]
        if snapshot.same(self._reference):
            return points
        return moved(self.motions(self._reference, snapshot, chosen), points)

    def motions(self, before: PoseSnapshot, now: PoseSnapshot, chosen: Chosen = ALL) -> Float64:
        """Motions of particles between two poses, shape (N, 4, 4), or (1, 4, 4) for all."""
        return motions(rows_of(self._influences, chosen), before, now)

    def surface(self) -> tuple[Float64, npt.NDArray[np.uint32]]:
        """The bind pose at the present world transform: vertices in the world [m], and the triangles that are cloth."""
        mesh = self.key.character.model.mesh
        vertices = transform_points(self.key.character.world_from_model, mesh.positions.astype(np.float64))
        return vertices, section_triangles(mesh, self.key.plain[2])

    def outline(self, snapshot: PoseSnapshot) -> Float64:
        """Rest positions of the outermost particles on the character in the world [m], shape (N, 3).

        Morph targets and deformers are those of the start: this is called in every frame.
        """
        chosen, start = self._outermost
        return (
            start if snapshot.same(self._reference) else moved(self.motions(self._reference, snapshot, chosen), start)
        )

    @cached_property
    def _outermost(self) -> tuple[npt.NDArray[np.intp], Float64]:
        """Particles that are the last ones in some direction, and their positions at the start."""
        places = self.places(self._reference)
        chosen = np.unique((places @ _DIRECTIONS.T).argmax(axis=0))
        return chosen, places[chosen]

    @cached_property
    def _influences(self) -> Skin:
        """Joints and weights of every particle."""
        model, (target, bone, *_) = self.key.character.model, self.key.plain
        if target is PinTarget.BONE and not self.is_own:
            assert model.skeleton is not None
            return of_joint(model.skeleton.index(bone))
        assert model.skin is not None
        if self.is_own:
            return rows_of(model.skin, self._vertices)
        snapshot = self._reference
        mesh, pose = shaped_mesh(model.mesh, model.skin, snapshot.pose), snapshot.pose
        body = skin(mesh, model.skin, pose.palette, self.key.character_settings.skinning, pose.centres)
        # Without a held particle nothing says where it hangs: it goes with all that is near to it, as one.
        chosen = self._held if len(self._held) else np.arange(len(self._points))
        anchors = rows_of(model.skin, nearest(self._in_model[chosen], body.positions))
        return spread(anchors, self._points[chosen] if len(self._held) else None, self._points)

    @cached_property
    def _vertices(self) -> npt.NDArray[np.intp]:
        """Vertex of the character for each particle."""
        mesh = self.key.character.model.mesh
        vertices = np.unique(section_triangles(mesh, self.key.plain[2])).astype(np.intp)
        _, first = np.unique(self.key.model.particle_of_vertex, return_index=True)
        return vertices[first]

    def _skinned(self, snapshot: PoseSnapshot, chosen: Chosen) -> Float64:
        points, pose = self._in_model[chosen].astype(np.float32), snapshot.pose
        model = self.key.character.model
        mesh = model.mesh
        shaped = shaped_mesh(mesh, model.skin, pose)
        if shaped is not mesh:
            rows = self._vertices[chosen]
            points = points + (shaped.positions[rows] - mesh.positions[rows])
        part = dataclasses.replace(mesh, positions=points, normals=np.zeros_like(points), tangents=None)
        influences = rows_of(self._influences, chosen)
        body = skin(part, influences, pose.palette, self.key.character_settings.skinning, pose.centres)
        return transform_points(snapshot.world_from_model, body.positions)
