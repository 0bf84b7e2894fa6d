import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import bind_pose, root_motion
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.influences import joint_boxes, reach_of
from sinew.sim.assets.model import NO_WEIGHTS, Bounds, CharacterModel, Skin
from sinew.sim.characters.comparison import ComparisonStatistics, MethodComparison
from sinew.sim.characters.deformers.functions import warped_boxes, warps_of
from sinew.sim.characters.expressions import expression_weights
from sinew.sim.characters.joint_turns import JointTurns
from sinew.sim.characters.modifiers.evaluation import NO_INPUTS, BoneModifiers, ModifierInputs, inputs_of
from sinew.sim.characters.modifiers.feet import Collider
from sinew.sim.characters.playing import (
    RunUp,
    active_clip,
    front_in,
    parts_of,
    pose_of,
    poses_of,
    texture_origin_bottom,
    up_axis,
    world_from_model,
)
from sinew.sim.characters.prepared import PreparedModel
from sinew.sim.characters.settings import ModelSettings, SkinningMethod, model_settings
from sinew.sim.characters.skinning import SkinnedMesh, SkinningBuffers, influence_records, upload_skinning
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.task import finish
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.maths.transform import polar, transform_points
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.strips import StripSample, is_cut
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view import SkinningComparison
from sinew.sim.scene.world_transforms import PosedCharacter, PosedCharacters, WorldTransforms


@dataclass(frozen=True, slots=True)
class PoseKey:
    time: float
    settings: ModelSettings
    run_up: RunUp = (0.0, 0.0)
    inputs: ModifierInputs = NO_INPUTS


SkinPart = tuple[Intp | None, Float64, Float64]
"""Boxes of a part of a model in bind space: palette entries that move them, or None; centres, half extents."""

Poses = dict[tuple[int, PoseKey], Pose]
"""Poses of one moment, by the identity of the model and their key."""


class Character(Owner):
    """Current pose and deformed vertices of a model node.

    Args:
        buffers: The mesh on the GPU; the character owns it.

    Attributes:
        model: The model of the file.
        animated: The same with the clips of its motions.
        primary: Skinned with the node's method, or with linear blending while methods are compared.
        secondary: Skinned with dual quaternions, for comparison; None before the first comparison.
        animated_pose: Without turns of simulated joints; without a skeleton it holds only the deformation of the
            surface.
        world_from_model: Shape (4, 4).
        former: Weights of before, which the comparison of methods shows instead of another method; see `compare_with`.
        root_covers: Area of the strands that grow on an area of the skin at each vertex, (V,), by their visible node.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, prepared: PreparedModel, buffers: SkinningBuffers
    ) -> None:
        self._context, self._library = context, library
        self._prepared = prepared
        model = self.model = self.animated = prepared.model
        self.primary = self.owns(SkinnedMesh(context, library, model.mesh, model.skin, buffers))
        self.secondary: SkinnedMesh | None = None
        self.animated_pose = bind_pose(model)
        self.world_from_model = np.eye(4)
        self.texture_origin_bottom = True
        self.root_covers: dict[NodeId, Float64] = {}
        self.former: Skin | None = None
        self._bind_pose = self.animated_pose
        self._turns: dict[NodeId, JointTurns] = {}
        # In other models the palette of the bind pose may differ from the identity, or morph weights from 0.
        self._is_bound_at_rest = (model.skin is None or model.skin.palette is None) and model.mesh.targets is None
        self._comparison: MethodComparison | None = None
        self._boxes = prepared.boxes
        if self._boxes is not None:
            # The first and the last corner of a box are the lowest and the highest.
            lo, hi = self._boxes[1][:, 0], self._boxes[1][:, 7]
            self._centres, self._halves = (lo + hi) / 2.0, (hi - lo) / 2.0
        self._key: PoseKey | None = None
        self._is_outdated = False
        self._shown_skin: Skin | None = None
        self._node: Node | None = None
        self._modifiers = BoneModifiers(model)
        self._places = WorldTransforms(Scene(), {})
        self._colliders: tuple[Collider, ...] = ()
        self._clip_pose: tuple[PoseKey | None, Pose] = (None, self.animated_pose)
        self._box = Memo[Bounds]()
        self._turned_vertices = Memo[Bool]()
        self._frames: tuple[Pose, Float64, dict[int, Float64]]
        self._frames = self.animated_pose, self.world_from_model, {}
        self._prefetched: tuple[ModelSettings | None, RunUp, dict[float, Pose]] = (None, (0.0, 0.0), {})
        # The strip samples of the last time that was checked for a cut
        self._samples: tuple[ModelSettings | None, float, tuple[StripSample, ...]] = (None, 0.0, ())

    @property
    def pose(self) -> Pose:
        """Current pose with the turns of simulated joints; waits for the GPU once a step if there are any."""
        return self._turned(self._turns.values())

    def update(
        self,
        node: Node,
        time: float,
        places: WorldTransforms,
        poses: Poses,
        run_up: RunUp = (0.0, 0.0),
        ground: Callable[[], tuple[Collider, ...]] = tuple,
    ) -> None:
        """Evaluates the pose at scene time `time` [s]; does nothing if it is unchanged.  `skin` must follow.

        `poses` come from other characters at this time: characters of one file often share them. `ground` returns the
        colliders on which feet are planted.
        """
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        if node is not self._node or node.attachment.node:
            self._node = node
            self.primary.name = node.name or node.id
            self.world_from_model = world_from_model(settings, self.model, places.world_from_node(node))
            self.texture_origin_bottom = texture_origin_bottom(settings, self.model)
        if settings.modifiers:
            self._places, self._colliders = places, ground() if settings.plants_feet else ()
        inputs = self._inputs(node, time, run_up, places.characters) if settings.modifiers else NO_INPUTS
        key = PoseKey(time, settings, run_up, inputs)
        if key != self._key or self._is_outdated:
            self._key, self._is_outdated = key, False
            self._take_pose(key, poses)

    def skin(self, comparison: SkinningComparison) -> None:
        """Skins the pose with the turns of simulated joints; does nothing if neither has changed."""
        assert self._key is not None
        pose, turns, method = self.animated_pose, tuple(self._turns.values()), self._key.settings.skinning
        for one in turns:
            one.place(self.pose_with(one.joints, one).model_from_joint[one.joints, :3, 3])
        if comparison is SkinningComparison.OFF:
            self.primary.skin(pose, method, turns)
            return
        if self.secondary is None:
            buffers = finish(upload_skinning(self._context, self._prepared.records))
            model = self.model
            self.secondary = self.owns(SkinnedMesh(self._context, self._library, model.mesh, model.skin, buffers))
            if (other := self.former or self._shown_skin) is not None:
                self.secondary.reweigh(other, influence_records(other))
        self.secondary.name = self.primary.name
        if self.former is not None:
            first = second = method
        else:
            first, second = SkinningMethod.LBS, SkinningMethod.DQS
            second = method if method is SkinningMethod.DQS_SCALE else second
        self.primary.skin(pose, first, turns)
        self.secondary.skin(pose, second, turns)

    def show_weights(self, skin: Skin | None) -> None:
        """Skins with other weights until the model is replaced; None restores its own."""
        self._shown_skin, shown = skin, skin or self.model.skin
        if shown is not None:
            records = influence_records(shown)
            self.primary.reweigh(shown, records)
            if self.secondary is not None and self.former is None:
                self.secondary.reweigh(shown, records)

    def compare_with(self, former: Skin | None) -> None:
        """Compares with weights of before instead of another method; None compares methods."""
        if former is self.former:
            return
        self.former, other = former, former or self._shown_skin or self.model.skin
        if self.secondary is not None and other is not None:
            self.secondary.reweigh(other, influence_records(other))
            self.primary.invalidate()

    # --- turns of simulated joints ----------------------------------------------------------------------

    def set_turns(self, user: NodeId, turns: JointTurns | None) -> None:
        """Adds the turns of a node after all others, or removes them for None."""
        self._turns.pop(user, None)
        if turns is not None:
            self._turns[user] = turns

    @property
    def has_turns(self) -> bool:
        return bool(self._turns)

    def is_turned(self, joint: int) -> bool:
        """Returns True if a simulated joint is turned, or is above this one."""
        return any(turns.moves(np.array([joint])) for turns in self._turns.values())

    def turned_vertices(self) -> Bool | None:
        """Returns which vertices simulated joints move, shape (V,), the same array until that changes; None if none."""
        turns, skin = tuple(self._turns.values()), self.model.skin
        if not turns or skin is None:
            return None

        def find() -> Bool:
            moved = np.logical_or.reduce([one.is_moved for one in turns])
            found: Bool = (moved[skin.joints_of(skin.joints)] & (skin.weights > 0.0)).any(axis=1)
            return found

        return self._turned_vertices.get(turns, find)

    def model_from(self, joints: Intp) -> Float64:
        """Returns model matrices of some joints, (N, 4, 4); waits for the GPU only if a turned joint moves them."""
        return self.pose_with(joints).model_from_joint.take(joints, 0)

    def pose_with(self, joints: Intp, before: JointTurns | None = None) -> Pose:
        """Returns the pose with the turns if any moves some of the joints.

        Args:
            before: Only the turns before these count; None for all.
        """
        turns = list(itertools.takewhile(lambda one: one is not before, self._turns.values()))
        return self._turned(turns) if any(one.moves(joints) for one in turns) else self.animated_pose

    def _turned(self, turns: Iterable[JointTurns]) -> Pose:
        pose = self.animated_pose
        for one in turns:
            pose = one.applied(pose)
        return pose

    def animate(self, animated: CharacterModel) -> None:
        """Plays the clips of a model with the same mesh and skeleton."""
        if animated is not self.animated:
            self.animated, self._is_outdated = animated, True
            self._prefetched, self._samples = (None, (0.0, 0.0), {}), (None, 0.0, ())
            self._modifiers, self._clip_pose = BoneModifiers(animated), (None, self.animated_pose)

    def prefetch_poses(self, node: Node, times: Sequence[float], run_up: RunUp) -> None:
        """Evaluates the poses of the next updates together; `times` are scene times [s]."""
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        model = self.animated
        poses = poses_of(model, settings, times, run_up) if active_clip(settings, model) is not None else []
        self._prefetched = settings, run_up, dict(zip(times, poses, strict=False))

    def compare(self, now: float) -> ComparisonStatistics | None:
        """Returns the newest statistics, without waiting, at monotonic time `now` [s]; None before the first arrive."""
        if self.secondary is None:
            return None
        if self._comparison is None:
            self._comparison = self.owns(MethodComparison(self._context, self.model.mesh, self.primary, self.secondary))
        self._comparison.poll(now)
        return self._comparison.statistics

    def invalidate(self) -> None:
        self.primary.invalidate()
        if self.secondary is not None:
            self.secondary.invalidate()

    def joint_frame(self, name: str) -> Float64 | None:
        """Returns the world transform without scale, shape (4, 4), read-only; None if the joint does not exist."""
        skeleton = self.model.skeleton
        joint = None if skeleton is None else skeleton.find(name)
        if joint is None:
            return None
        pose = self.pose if self.is_turned(joint) else self.animated_pose
        if self._frames[0] is not pose or self._frames[1] is not self.world_from_model:
            self._frames = pose, self.world_from_model, {}
        frame = self._frames[2].get(joint)
        if frame is None:
            frame = self._frames[2][joint] = self.world_from_model @ pose.model_from_joint[joint]
            frame[:3, :3], _ = polar(frame[:3, :3])
            frame.flags.writeable = False
        return frame

    @property
    def time(self) -> float | None:
        """Scene time of the pose [s]; None before the first update."""
        return self._key.time if self._key is not None else None

    def travel(self, node: Node, before: float, after: float) -> Vec3:
        """Returns the horizontal motion [m] between two scene times [s]; zero if it stays in place.

        Uses the joint that carries the body (`sinew.sim.animation.evaluate`), so that swaying does not count.
        """
        model, settings = self.animated, model_settings(node)
        clip, skeleton = active_clip(settings, model), model.skeleton
        if clip is None or skeleton is None or settings.lock_root:
            return 0.0, 0.0, 0.0
        if (motion := root_motion(skeleton, clip, up_axis(settings, model))) is None:
            return 0.0, 0.0, 0.0
        start, end = (self.pose_at(time).model_from_joint[motion.joint, :3, 3] for time in (before, after))
        way = end - start
        x, _, z = (self.world_from_model[:3, :3] @ (way * motion.horizontal)).tolist()
        return x, 0.0, z

    def pose_at(self, time: float) -> Pose:
        """Returns a pose without applying it or turns of simulated joints; the bind pose before the first update."""
        if self._key is None or self._node is None:
            return self.animated_pose
        settings, run_up = self._key.settings, self._key.run_up
        others: dict[NodeId, PosedCharacter] = {}
        for leading in self._places.scene.leading(self._node.id) if settings.modifiers else ():
            character = self._places.characters.get(leading.id)
            if isinstance(character, Character) and character is not self:
                placement = character.world_from_model
                if leading.attachment.node:
                    places = WorldTransforms(self._places.scene, others)
                    world = places.world_from_node(leading)
                    placement = world_from_model(model_settings(leading), character.model, world)
                others[leading.id] = StillCharacter(character.model, character.pose_at(time), placement)
        key = PoseKey(time, settings, run_up, self._inputs(self._node, time, run_up, others))
        return self.animated_pose if key == self._key and not self._is_outdated else self._evaluated(key)

    def is_cut(self, before: float, after: float) -> bool:
        """Returns True if the pose may jump between two consecutive scene times [s]."""
        if self._key is None:
            return False
        settings, model = self._key.settings, self.animated
        last, time, samples = self._samples
        samples_before = samples if last is settings and time == before else parts_of(settings, model, before)
        samples_after = parts_of(settings, model, after)
        self._samples = settings, after, samples_after
        return is_cut(samples_before, samples_after)

    def joint_positions(self) -> Float64:
        """Returns joint positions in the world [m], shape (B, 3)."""
        return transform_points(self.world_from_model, self.pose.model_from_joint[:, :3, 3])

    def facing(self) -> float:
        """Returns the yaw of the front in the world [°], a multiple of 90°; 0 (+z) if bone names do not show it."""
        return front_in(self.model, self.animated_pose, self.world_from_model)

    def bounds(self) -> Bounds:
        """Returns the world box [m] around the deformed vertices, or the joints without any; reads no vertices."""
        if self.model.skeleton is not None and not self.model.mesh.vertex_count:
            pose = self.pose
            return self._box.get((pose, self.world_from_model), lambda: _box_of(self.joint_positions()))
        return self._box.get((self.animated_pose, self.world_from_model, *self._turns.values()), self._bounds)

    def _bounds(self) -> Bounds:
        is_at_rest = self.animated_pose is self._bind_pose and self._is_bound_at_rest and not self._turns
        if self._boxes is not None and not is_at_rest:
            return self._entry_box(self._boxes[0], self._centres, self._halves)
        box = self.model.mesh.bounds
        lo, hi = self._prepared.reach if self._boxes is None else (box.lo, box.hi)
        return self._entry_box(None, (lo + hi)[None] / 2.0, (hi - lo)[None] / 2.0)

    def _entry_box(self, entries: Intp | None, centres: Float64, halves: Float64) -> Bounds:
        """Returns the world box around boxes of the bind pose, (N, 3) each, that palette entries (N,) move, or none."""
        pose, matrices = self.animated_pose, self.world_from_model[None]
        if entries is not None:
            matrices = self.world_from_model @ pose.palette.take(entries, 0)
        middles, halves = _moved_boxes(matrices, *self._warped(centres, halves))
        if entries is not None:
            for one in self._turns.values():
                middles, halves = one.reach(entries, middles, halves, pose, self.world_from_model)
        return Bounds((middles - halves).min(axis=0), (middles + halves).max(axis=0))

    def part_of(self, vertices: npt.NDArray[np.integer]) -> SkinPart:
        """Returns a part for `part_bounds`; `vertices` has at least one number."""
        mesh, skin = self.model.mesh, self.model.skin
        among = np.zeros(mesh.vertex_count, bool)
        among[vertices] = True
        if skin is not None:
            used, corners = joint_boxes(mesh, skin, among)
            return used, (corners[:, 0] + corners[:, 7]) / 2.0, (corners[:, 7] - corners[:, 0]) / 2.0
        lowest, highest = (ends[among] for ends in reach_of(mesh))
        lo, hi = lowest.min(axis=0), highest.max(axis=0)
        return None, (lo + hi)[None] / 2.0, (hi - lo)[None] / 2.0

    def part_bounds(self, part: SkinPart) -> Bounds:
        """Returns the world box [m] around the deformed vertices of a part; reads nothing back."""
        return self._entry_box(*part)

    def _warped(self, centres: Float64, halves: Float64) -> tuple[Float64, Float64]:
        warps = self.animated_pose.warps
        if warps is None or not warps.functions:
            return centres, halves
        lo, hi = warped_boxes(warps, centres - halves, centres + halves)
        return (lo + hi) / 2.0, (hi - lo) / 2.0

    def joint_bounds(self, joint: int) -> Bounds:
        """Returns the world box [m] around the vertices that a joint moves; a tenth of the model without any."""
        if self._boxes is not None and self.model.skin is not None:
            chosen = self.model.skin.joints_of(self._boxes[0]) == joint
            if chosen.any():
                matrices = self.world_from_model @ self.pose.palette[self._boxes[0][chosen]]
                middles, halves = _moved_boxes(matrices, *self._warped(self._centres[chosen], self._halves[chosen]))
                return Bounds((middles - halves).min(axis=0), (middles + halves).max(axis=0))
        scale = abs(np.linalg.det(self.world_from_model[:3, :3])) ** (1.0 / 3.0)
        margin = 0.05 * scale * max(self.model.mesh.bounds.extent, 1e-3)
        place = self.joint_positions()[joint]
        return Bounds(place - margin, place + margin)

    def _take_pose(self, key: PoseKey, poses: Poses) -> None:
        settings = key.settings
        is_bound = active_clip(settings, self.animated) is None and not settings.pose
        if is_bound and not shapes(settings) and not settings.modifiers and not self.model.rig.constraints:
            self.animated_pose = self._bind_pose
            return
        shared = id(self.animated), key
        if shared not in poses:
            with self._context.timers.host_scope("pose", self.primary.name):
                poses[shared] = self._evaluated(key)
        pose = poses[shared]
        # Without a change, for instance of deformers without a frequency, a character without a clip keeps its pose.
        if not (pose.same_shape(self.animated_pose) and np.array_equal(pose.palette, self.animated_pose.palette)):
            self.animated_pose = pose

    def _evaluated(self, key: PoseKey) -> Pose:
        pose = self._unmodified(key.settings, key.time, key.run_up)
        if key.settings.modifiers or self.model.rig.constraints:
            pose = self._modifiers.applied(pose, key.settings, key.time, key.run_up, key.inputs)
        return shaped(pose, key.settings, self.model, key.time)

    def _unmodified(self, settings: ModelSettings, time: float, run_up: RunUp) -> Pose:
        """Returns the pose of the clip with the pose offsets."""
        key = PoseKey(time, settings, run_up)
        if settings.modifiers and self._clip_pose[0] == key:
            return self._clip_pose[1]
        known, known_run_up, prefetched = self._prefetched
        pose = prefetched.pop(time, None) if known is settings and known_run_up == run_up else None
        if pose is None:
            is_bound = active_clip(settings, self.animated) is None and not settings.pose
            pose = self._bind_pose if is_bound else pose_of(self.animated, settings, time, run_up)
        if settings.modifiers:
            self._clip_pose = key, pose
        return pose

    def _inputs(self, node: Node, time: float, run_up: RunUp, others: PosedCharacters) -> ModifierInputs:
        """Returns the inputs of modifiers at a scene time [s]; `others` are the characters at that time."""
        settings = model_settings(node)
        if not settings.modifiers or self.model.skeleton is None:
            return NO_INPUTS
        own = StillCharacter(self.model, self._unmodified(settings, time, run_up), self.world_from_model)
        still = {  # without the turns of simulated joints, so that a pose is a function of time
            key: StillCharacter(one.model, one.animated_pose, one.world_from_model)
            for key, one in others.items()
            if isinstance(one, Character)
        }
        places = WorldTransforms(self._places.scene, {**others, **still, node.id: own})
        if node.attachment.node:
            own.world_from_model = world_from_model(settings, self.model, places.world_from_node(node))
        return inputs_of(node, places, own.world_from_model, self._colliders)


@dataclass
class StillCharacter:
    """A character whose joints are not turned, for instance in its pose before the modifiers."""

    model: CharacterModel
    animated_pose: Pose
    world_from_model: Float64

    @property
    def pose(self) -> Pose:
        return self.animated_pose

    def model_from(self, joints: Intp) -> Float64:
        return self.animated_pose.model_from_joint.take(joints, 0)

    def is_turned(self, joint: int) -> bool:  # noqa: ARG002
        return False


def _box_of(points: Float64) -> Bounds:
    return Bounds(points.min(axis=0), points.max(axis=0))


def _moved_boxes(matrices: Float64, centres: Float64, halves: Float64) -> tuple[Float64, Float64]:
    """Returns middles and half extents of boxes, each with its own matrix, (N, 4, 4).

    Source: Arvo 1990, "Transforming axis-aligned bounding boxes".
    """
    linear = matrices[:, :3, :3]
    return (linear @ centres[..., None])[..., 0] + matrices[:, :3, 3], (np.abs(linear) @ halves[..., None])[..., 0]


def shapes(settings: ModelSettings) -> bool:
    return bool(settings.target_weights or settings.expressions or settings.solo_target or settings.deformers)


def shaped(pose: Pose, settings: ModelSettings, model: CharacterModel, time: float) -> Pose:
    """Adds morph targets and deformers at scene time `time` [s]; returns the same object without any."""
    if not shapes(settings):
        return pose
    local = msgspec.structs.replace(pose.local, weights=_weights(settings, model, pose.local.weights))
    warps = warps_of(settings.deformers, model, up_axis(settings, model), time) if settings.deformers else None
    return msgspec.structs.replace(pose, local=local, warps=warps)


def _weights(settings: ModelSettings, model: CharacterModel, weights: Float64) -> Float64:
    targets = model.mesh.targets
    if targets is None or targets.are_frames:
        return weights if targets is not None else NO_WEIGHTS
    added = dict(settings.target_weights)
    total: Float64 = weights + np.array([added.get(name, 0.0) for name in targets.names]) * ~targets.is_frame
    if settings.expressions:
        total = total + expression_weights(model.rig, targets, dict(settings.expressions))
    if settings.solo_target in targets.settable:
        total = np.where(np.arange(len(total)) == targets.names.index(settings.solo_target), total, 0.0)
    return total
