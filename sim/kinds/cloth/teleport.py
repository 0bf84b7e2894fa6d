"""A cloth from the character's own file belongs to the bind pose, and each particle moves with its vertex of the skin.
A garment belongs to the bind pose too, any other cloth to the pose in which the simulation starts.  Attached to a bone,
all of it moves with the bone; attached to the skin, held particles move with the nearest vertices, and the others with
the held ones, by distance.  Attached to it rigidly, all of it moves with the mean of these vertices.
"""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import bind_pose
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel, Mesh, Skin
from sinew.sim.characters.character import Character
from sinew.sim.characters.reference import shaped_mesh, skin
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.skin_mesh import skin_corners
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.garments import is_trunk, trunk_joints
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.pins import pin_flags
from sinew.sim.kinds.cloth.settings import ClothSource, PinTarget
from sinew.sim.kinds.cloth.stability import wave_speed
from sinew.sim.kinds.cloth.surface import section_triangles
from sinew.sim.kinds.contract import StepInputs, World
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import inverse_affine, transform_points
from sinew.sim.memo import same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.sim.skin.pose_snapshot import PoseSnapshot, carried, motions, moved, nearest, rows_of, spread

Chosen = npt.NDArray[np.intp] | slice


ALL = slice(None)

_DIRECTIONS = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])


@dataclass(frozen=True, slots=True, eq=False)
class SkinBindingKey:
    """Inputs of a skin binding; large objects are compared by identity."""

    model: ClothModel  # The cloth
    character: Character  # The character
    animated: CharacterModel  # Its clips
    character_settings: ModelSettings  # Clip and skinning of the character
    mesh: Mesh | None  # The mesh of the cloth, if it is from the file of the character
    # Pin target, bone, section, held particles if they matter, and the start of the scene [s]
    plain: tuple[PinTarget, str, str, tuple[str, ...], bytes, float]

    def same(self, other: "SkinBindingKey | None") -> bool:
        if other is None or self.model is not other.model or self.character is not other.character:
            return False
        if self.animated is not other.animated:
            return False
        return self.mesh is other.mesh and (self.character_settings, self.plain) == (
            other.character_settings,
            other.plain,
        )


def skin_binding_key(node: Node, cloth: Cloth, world: World) -> SkinBindingKey | None:
    """Returns the inputs of a skin binding; None unless the parent is a character with bones, not a bone."""
    carrier = world.scene.by_id.get(node.attachment.node)
    character = world.characters.get(node.attachment.node)
    settings = cloth.settings
    if (
        carrier is None
        or (node.attachment.bone and settings.pin_target is not PinTarget.RIGID)
        or not isinstance(character, Character)
        or character.animated_pose is None
    ):
        return None
    bindings_of = carrier.settings
    assert isinstance(bindings_of, ModelSettings)
    is_own = settings.source is ClothSource.MESH and settings.mesh_path == bindings_of.path
    held = cloth.pins.flags.tobytes() if settings.pin_target.is_skin else b""
    if settings.pin_target is PinTarget.RIGID:
        # A particle that is pinned later does not change how the others move.
        preset = pin_flags(settings.pins, "", cloth.model.particle_count, cloth.model.rows)
        held = preset.tobytes() if preset.any() else held
    sections = settings.mesh_section, settings.pin_sections
    plain = (settings.pin_target, settings.pin_bone, *sections, held, world.applied.start_time)
    mesh = world.assets.meshes.get(Path(settings.mesh_path)) if is_own else None
    return SkinBindingKey(cloth.model, character, character.animated, bindings_of, mesh, plain)


def skin_binding_of(key: SkinBindingKey, cloth: Cloth) -> "SkinBinding | None":
    """Returns the skin binding of a cloth; None if it moves only with its node."""
    model, (target, bone, *_) = key.character.model, key.plain
    if key.mesh is not None and model.skin is not None and np.array_equal(key.mesh.triangles, model.mesh.triangles):
        return SkinBinding(key, cloth, is_own=True)
    if target is PinTarget.BONE:
        is_tied = model.skeleton is not None and model.skeleton.find(bone) is not None
    else:
        is_tied = target.is_skin and model.skin is not None
    return SkinBinding(key, cloth, is_own=False) if is_tied else None


class SkinBinding:
    """A cloth on a character; with `is_own` its particles are vertices of the character."""

    def __init__(self, key: SkinBindingKey, cloth: Cloth, *, is_own: bool) -> None:
        self.key, self.is_own = key, is_own
        self._points, self._held = cloth.rest(), np.flatnonzero(np.frombuffer(key.plain[4], np.bool_))
        self._is_garment = cloth.settings.source is ClothSource.GARMENT
        pose = bind_pose(key.animated) if self._is_garment else key.character.pose_at(key.plain[-1])
        self._reference = self.at(pose)
        self._in_model = transform_points(inverse_affine(key.character.world_from_model), self._points)

    def at(self, pose: Pose | None) -> PoseSnapshot:
        assert pose is not None
        return PoseSnapshot(pose, self.key.character.world_from_model)

    def places(self, snapshot: PoseSnapshot, chosen: Chosen = ALL) -> Float64:
        """Returns rest positions on the character in a pose [m], shape (N, 3)."""
        if self.is_own:
            return self._skinned(snapshot, chosen)
        points = self._points[chosen]
        if snapshot.same(self._reference):
            return points
        return moved(self.motions(self._reference, snapshot, chosen), points)

    def places_now(self) -> Float64:
        """Returns rest positions on the character in its present pose [m], shape (P, 3)."""
        return self.places(self.at(self.key.character.animated_pose))

    def motions(self, before: PoseSnapshot, now: PoseSnapshot, chosen: Chosen = ALL) -> Float64:
        """Returns motions between two poses, shape (N, 4, 4), or (1, 4, 4) for all particles."""
        if self.key.plain[0] in (PinTarget.BONE, PinTarget.RIGID) and not self.is_own:
            return carried(self._carriers, before, now)
        return motions(rows_of(self._influences, chosen), before, now)

    def held_motion(self) -> Float64:
        """Returns the world motion of the held particles as one since the reference pose, (4, 4)."""
        motion: Float64 = carried(self._carriers, self._reference, self.at(self.key.character.animated_pose))[0]
        return motion

    def surface(self) -> tuple[Float64, npt.NDArray[np.uint32]]:
        """Returns world vertices of the bind pose [m] at the present transform, and the triangles of the cloth."""
        mesh = self.key.character.model.mesh
        vertices = transform_points(self.key.character.world_from_model, mesh.positions.astype(np.float64))
        return vertices, section_triangles(mesh, self.key.plain[2])

    def outline(self, snapshot: PoseSnapshot) -> Float64:
        """Returns an outline, shape (N, 3) [m], with targets and deformers of the start, as every frame calls it."""
        chosen, start = self._outermost
        return (
            start if snapshot.same(self._reference) else moved(self.motions(self._reference, snapshot, chosen), start)
        )

    @cached_property
    def _outermost(self) -> tuple[npt.NDArray[np.intp], Float64]:
        places = self.places(self._reference)
        chosen = np.unique((places @ _DIRECTIONS.T).argmax(axis=0))
        return chosen, places[chosen]

    @cached_property
    def _influences(self) -> Skin:
        model = self.key.character.model
        assert model.skin is not None
        if self.is_own:
            return rows_of(model.skin, self._vertices)
        # Without a held particle nothing says where it hangs: it goes with all that is near to it, as one.
        return spread(self._anchors, self._points[self._held] if len(self._held) else None, self._points)

    @cached_property
    def _carriers(self) -> Skin:
        """Joints, not entries of the palette, that carry all particles as one; a single row."""
        model, (target, bone, *_) = self.key.character.model, self.key.plain
        assert model.skeleton is not None
        if target is PinTarget.BONE:
            return Skin(np.array([[model.skeleton.index(bone)]], np.uint16), np.ones((1, 1), np.float32), 1)
        assert model.skin is not None
        anchors = self._anchors
        joints = model.skin.joints_of(anchors.joints)
        if self._is_garment:
            joints = trunk_joints(model, self.key.character_settings)[joints]
        return spread(Skin(joints.astype(np.uint16), anchors.weights, anchors.influence_max), None, self._points)

    @cached_property
    def _anchors(self) -> Skin:
        """Influences of the skin at the held particles, or at all if none is held."""
        model = self.key.character.model
        assert model.skin is not None
        chosen = self._held if len(self._held) else np.arange(len(self._points))
        if self.is_own:
            return rows_of(model.skin, self._vertices[chosen])
        snapshot = self._reference
        mesh, pose = shaped_mesh(model.mesh, model.skin, snapshot.pose), snapshot.pose
        body = skin(mesh, model.skin, pose.palette, self.key.character_settings.skinning, pose.centres)
        sections = self.key.plain[3]
        used = np.unique(skin_corners(mesh, sections)[:, :3]) if sections else np.arange(mesh.vertex_count)
        if self._is_garment and self.key.plain[0] is PinTarget.RIGID:
            trunk = used[is_trunk(model, self.key.character_settings)[used]]
            used = trunk if len(trunk) else used
        among = (used if len(used) else np.arange(mesh.vertex_count)).astype(np.intp)
        return rows_of(model.skin, among[nearest(self._in_model[chosen], body.positions[among])])

    @cached_property
    def _vertices(self) -> npt.NDArray[np.intp]:
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


FAR = 0.1
"""Part of the extent; a cloth that would move further in a step after a jump is teleported."""

STRETCH = 0.5
"""Stretch of threads by the pull of held particles above which a cloth is teleported."""

SAMPLE = 64
"""Number of particles by which the distance is estimated if none are held."""


@dataclass(frozen=True, slots=True, eq=False)
class ParentStep:
    time: float  # Scene time [s]
    scene: Scene
    parents: list[Node]  # The nearest first
    character: Character | None  # The parent, if it is a character with bones
    snapshot: PoseSnapshot | None  # Its pose
    world_from_cloth: Float64  # World transform of the node of the cloth, shape (4, 4)


class TeleportHandling:
    def __init__(self) -> None:
        self._key: SkinBindingKey | None = None
        self._binding: SkinBinding | None = None
        self._start: Float64 | None = None
        self._placed: tuple[Float64, SkinBinding, PoseSnapshot] | None = None
        self._last: ParentStep | None = None
        self._shown: tuple[ParentStep, Pose | None, Float64] | None = None

    def binding(self, node: Node, cloth: Cloth, world: World) -> SkinBinding | None:
        """Returns the skin binding of a cloth; None if it moves only with its node."""
        key = skin_binding_key(node, cloth, world)
        if key is None:
            self._key = self._binding = None
        elif not key.same(self._key):
            self._key, self._binding = key, skin_binding_of(key, cloth)
        return self._binding

    # --- the start ------------------------------------------------------------------------------------

    def start(self, node: Node, cloth: Cloth, world: World, time: float | None = None) -> None:
        """Places a reset cloth on the character in its pose at scene time `time` [s], or in its present pose."""
        binding = self.binding(node, cloth, world)
        if binding is not None:
            character = binding.key.character
            self._place(
                cloth, binding, binding.at(character.animated_pose if time is None else character.pose_at(time))
            )
        self._start, self._last = cloth.start, None

    def place_before_start(self, node: Node, cloth: Cloth, world: World) -> None:
        """Places a cloth before its first step at the present pose of the character."""
        binding = None if cloth.step_count else self.binding(node, cloth, world)
        if binding is not None:
            self._place(cloth, binding, binding.at(binding.key.character.animated_pose))

    def outline(self, node: Node, cloth: Cloth, world: World) -> Float64:
        binding = self.binding(node, cloth, world)
        return cloth.rest() if binding is None else binding.outline(binding.at(binding.key.character.animated_pose))

    def _place(self, cloth: Cloth, binding: SkinBinding, snapshot: PoseSnapshot) -> None:
        placed = self._placed
        if cloth.is_start_given:
            return
        if placed is not None and placed[0] is cloth.start and placed[1] is binding and placed[2].same(snapshot):
            return
        positions = binding.places(snapshot)
        if not np.array_equal(positions, cloth.start):
            cloth.start_from(positions, is_given=False)
        self._placed = cloth.start, binding, snapshot

    # --- steps ----------------------------------------------------------------------------------------

    def begin_step(self, node: Node, cloth: Cloth, inputs: StepInputs) -> bool:
        """Handles the first step, and jumps of time or the scene; returns True if it replaced the step.

        Pins and colliders that are suddenly elsewhere would tear the cloth, so a long jump moves all of it without
        adding velocity.
        """
        if not cloth.step_count and cloth.start is not self._start:
            # Not reset before: starts where a reset would have placed it.
            self.start(node, cloth, inputs.world, inputs.time - STEP_TIME)
        last, world = self._last, inputs.world
        if last is None or not node.attachment.node:
            return False
        is_next = abs(inputs.time - last.time) < 1.5 * STEP_TIME
        is_next = is_next and not (last.character is not None and last.character.is_cut(last.time, inputs.time))
        if is_next and (world.scene is last.scene or same_objects(world.scene.carriers(node.id), last.parents)):
            return False
        placement = world.places.world_from_node(node)
        motions = self._motions(node, cloth, world, last, placement)
        return motions is not None and cloth.teleport(motions, placement)

    def end_step(self, node: Node, cloth: Cloth, world: World, time: float, *, is_past: bool = False) -> None:
        """Remembers the parents, posed at scene time `time` [s] if `is_past`, else in their present poses."""
        if not node.attachment.node and not is_past:
            return
        last, scene = self._last, world.scene
        parents = last.parents if last is not None and last.scene is scene else scene.carriers(node.id)
        character, snapshot = world.characters.get(node.attachment.node), None
        if isinstance(character, Character):
            pose = character.pose_at(time) if is_past else character.animated_pose
            snapshot = PoseSnapshot(pose, character.world_from_model)
        else:
            character = None
        self._last = ParentStep(time, scene, parents, character, snapshot, cloth.world_from_cloth)

    def _motions(self, node: Node, cloth: Cloth, world: World, last: ParentStep, placement: Float64) -> Float64 | None:
        """Returns the motions of a jump; None if the simulation can follow the motions since the last step."""
        held = np.flatnonzero(cloth.pins.flags)
        count = cloth.model.particle_count
        sample = held if len(held) else np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.intp)
        follows = STRETCH * wave_speed(cloth.model, cloth.settings) * STEP_TIME
        far = min(FAR * cloth.model.extent, follows) if len(held) else FAR * cloth.model.extent
        binding = self.binding(node, cloth, world)
        if binding is None:
            matrix = placement @ np.linalg.pinv(last.world_from_cloth)
            before = transform_points(
                last.world_from_cloth @ np.linalg.pinv(cloth.world_from_cloth), cloth.rest()[sample]
            )
            return matrix[None] if _distance(before, transform_points(matrix, before)) > far else None
        if last.snapshot is None or last.character is not binding.key.character:
            return None
        now = binding.at(binding.key.character.animated_pose)
        is_far = _distance(binding.places(last.snapshot, sample), binding.places(now, sample)) > far
        return binding.motions(last.snapshot, now) if is_far else None

    # --- drawing --------------------------------------------------------------------------------------

    def show(self, node: Node, cloth: Cloth, world: World) -> None:
        """Shows the cloth beyond the simulated steps: it keeps its last shape and state, and moves with its parent."""
        last = self._last if cloth.step_count and node.attachment.node else None
        if last is None or _is_near(last):
            self._shown = None
            cloth.show_displaced(None)
            return
        # The characters have moved since the world was passed to `apply`.
        now = dataclasses.replace(world, places=WorldTransforms(world.scene, world.characters, world.places))
        pose, placement = (
            last.character.animated_pose if last.character is not None else None,
            now.places.world_from_node(node),
        )
        key = last, pose, placement
        if self._shown is None or self._shown[:2] != key[:2] or not np.array_equal(self._shown[2], placement):
            self._shown = key
            cloth.show_displaced(self._motions(node, cloth, now, last, placement))

    # --- state ----------------------------------------------------------------------------------------

    def state(self, cloth: Cloth) -> dict[str, object]:
        return {"begun": cloth.start is self._start, "time": self._last.time if self._last is not None else None}

    def restore(self, state: dict[str, object], node: Node, cloth: Cloth, world: World) -> None:
        """Restores a state; the characters are posed as in it, or their poses depend only on the time."""
        time = state["time"]
        self._start, self._last = cloth.start if state["begun"] else None, None
        if isinstance(time, float):
            self.end_step(node, cloth, world, time, is_past=True)


def _is_near(last: ParentStep) -> bool:
    """Returns True if the character is within a step of that time, and was not moved."""
    character, snapshot = last.character, last.snapshot
    if character is None or snapshot is None or character.time is None:
        return False
    if abs(character.time - last.time) > 1.5 * STEP_TIME:
        return False
    return bool(np.array_equal(character.world_from_model, snapshot.world_from_model))


def _distance(before: Float64, after: Float64) -> float:
    return float(np.linalg.norm(after - before, axis=1).max())
