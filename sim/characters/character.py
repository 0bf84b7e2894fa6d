"""One model node on the GPU: its pose and its skinned vertices.  It knows nothing of drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sim.animation.evaluate import bind_pose
from sim.animation.pose import Pose
from sim.assets.influences import joint_boxes, reach_of
from sim.assets.model import NO_WEIGHTS, Bounds, CharacterModel, Targets
from sim.characters.comparison import ComparisonStatistics, MethodComparison
from sim.characters.deformers.functions import warped_boxes, warps_of
from sim.characters.front import front_in
from sim.characters.placement import active_clip, texture_origin_bottom, up_axis, world_from_model
from sim.characters.playing import RunUp, parts_of, pose_of, poses_of
from sim.characters.prepared import PreparedModel
from sim.characters.settings import ModelSettings, SkinningMethod
from sim.characters.skinning import SkinnedMesh, SkinningBuffers, upload_skinning
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.task import finish
from sim.maths.transform import polar
from sim.scene.scene import Node
from sim.scene.strips import StripSample, is_cut
from sim.scene.view import SkinningComparison
from sim.scene.world_transforms import WorldTransforms


@dataclass(frozen=True, slots=True)
class PoseKey:
    """Everything a pose depends on; an equal key needs no new evaluation."""

    time: float
    settings: ModelSettings
    run_up: RunUp = (0.0, 0.0)


SkinPart = tuple[npt.NDArray[np.intp] | None, npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Boxes of a part of a model in bind space: entries of the palette that move them, or None; middles, half sizes."""

Poses = dict[tuple[int, PoseKey], Pose]
"""Poses of one moment, by the identity of the model and what they depend on."""


class Character:
    """Current pose and deformed vertices of a model.

    Args:
        context: Where it lives.
        library: Where programs come from.
        prepared: What was read from the file.
        buffers: Its mesh on the GPU, owned from now on.

    Attributes:
        model: The runtime model.
        primary: Vertices by the node's method, or by linear blend while methods are compared.
        pose: Pose shown now; without a skeleton it says how the surface is deformed.
        world_from_model: Placement shown now, shape (4, 4).
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, prepared: PreparedModel, buffers: SkinningBuffers
    ) -> None:
        self._context, self._library = context, library
        self._prepared = prepared
        model = self.model = prepared.model
        self.primary = SkinnedMesh(context, library, model.mesh, model.skin, buffers)
        self.pose = bind_pose(model)
        self.world_from_model = np.eye(4)
        self.texture_origin_bottom = True
        self._bind_pose = self.pose
        # Elsewhere the palette of the bind pose need not be the identity, and weights of morph targets need not be 0.
        self._is_bound_at_rest = (model.skin is None or model.skin.palette is None) and model.mesh.targets is None
        self._secondary: SkinnedMesh | None = None
        self._comparison: MethodComparison | None = None
        self._boxes = prepared.boxes
        self._reach = prepared.reach
        if self._boxes is not None:
            # The first and the last corner of a box are the lowest and the highest.
            lo, hi = self._boxes[1][:, 0], self._boxes[1][:, 7]
            self._centres, self._halves = (lo + hi) / 2.0, (hi - lo) / 2.0
        self._key: PoseKey | None = None
        self._node: Node | None = None
        self._box: tuple[Pose, npt.NDArray[np.float64], Bounds] | None = None
        self._frames: tuple[Pose, npt.NDArray[np.float64], dict[int, npt.NDArray[np.float64]]]
        self._frames = self.pose, self.world_from_model, {}
        self._foreseen: tuple[ModelSettings | None, RunUp, dict[float, Pose]] = (None, (0.0, 0.0), {})
        # What the pose of the moment asked for last is blended from.
        self._parts: tuple[ModelSettings | None, float, tuple[StripSample, ...]] = (None, 0.0, ())

    @property
    def secondary(self) -> SkinnedMesh:
        """Vertices by dual quaternions, for comparison; made when first asked for."""
        if self._secondary is None:
            buffers = finish(upload_skinning(self._context, self._prepared.records))
            self._secondary = SkinnedMesh(self._context, self._library, self.model.mesh, self.model.skin, buffers)
        return self._secondary

    @property
    def compared(self) -> bool:
        """Whether the second way of skinning exists."""
        return self._secondary is not None

    def update(
        self,
        node: Node,
        time: float,
        comparison: SkinningComparison,
        places: WorldTransforms,
        poses: Poses,
        run_up: RunUp = (0.0, 0.0),
    ) -> None:
        """Evaluates the pose at `time` [s] and skins; does nothing that the last call did already.

        Args:
            node: With settings of a model.
            time: Of the scene clock [s].
            comparison: Whether another way of skinning is wanted too.
            places: Where nodes stand now.
            poses: Those that other figures have found for this moment; figures of one file often share them.
            run_up: Start of the scene [s], and how long before it the figure leaves the bind pose [s].
        """
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        if node is not self._node or node.attachment.node:
            self._node = node
            self.primary.name = node.name or node.id
            self.world_from_model = world_from_model(settings, self.model, places.world_from_node(node))
            self.texture_origin_bottom = texture_origin_bottom(settings, self.model)
        self._evaluate(PoseKey(time, settings, run_up), poses)
        method = settings.skinning
        if comparison is SkinningComparison.OFF:
            self.primary.skin(self.pose, method)
            return
        rival = method if method is SkinningMethod.DQS_SCALE else SkinningMethod.DQS
        self.primary.skin(self.pose, SkinningMethod.LBS)
        self.secondary.name = self.primary.name
        self.secondary.skin(self.pose, rival)

    def prefetch_poses(self, node: Node, times: Sequence[float], run_up: RunUp) -> None:
        """Evaluates poses at moments of the scene clock [s] that `update` will be asked for, together."""
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        poses = poses_of(self.model, settings, times, run_up) if active_clip(settings, self.model) is not None else []
        self._foreseen = settings, run_up, dict(zip(times, poses, strict=False))

    def compare(self, now: float) -> ComparisonStatistics | None:
        """Newest statistics of the two methods, read without waiting; None before the first arrive.

        Args:
            now: Monotonic time [s].
        """
        if self._secondary is None:
            return None
        if self._comparison is None:
            self._comparison = MethodComparison(self._context, self.model.mesh, self.primary, self._secondary)
        self._comparison.poll(now)
        return self._comparison.statistics

    def invalidate(self) -> None:
        """Skins again at the next update, because a shader was reloaded."""
        self.primary.invalidate()
        if self._secondary is not None:
            self._secondary.invalidate()

    def joint_frame(self, name: str) -> npt.NDArray[np.float64] | None:
        """Rigid frame of a joint in the world, shape (4, 4), scale taken out; None for a name that is not there.

        It is read-only: what was asked for once is kept as long as the figure stands still.
        """
        skeleton = self.model.skeleton
        joint = None if skeleton is None else skeleton.find(name)
        if joint is None:
            return None
        if self._frames[0] is not self.pose or self._frames[1] is not self.world_from_model:
            self._frames = self.pose, self.world_from_model, {}
        found = self._frames[2].get(joint)
        if found is None:
            found = self._frames[2][joint] = self.world_from_model @ self.pose.model_from_joint[joint]
            found[:3, :3], _ = polar(found[:3, :3])
            found.flags.writeable = False
        return found

    @property
    def time(self) -> float | None:
        """Moment of the scene clock that it stands at [s]; None before the first update."""
        return self._key.time if self._key is not None else None

    def pose_at(self, time: float) -> Pose:
        """The pose at a moment of the scene clock [s], without showing it; before the first update the bind pose."""
        if self._key is None:
            return self.pose
        key = PoseKey(time, self._key.settings, self._key.run_up)
        return self.pose if key == self._key else self._evaluated(key)

    def is_cut(self, before: float, after: float) -> bool:
        """Whether the pose may jump between two moments of the scene [s] that follow each other."""
        if self._key is None:
            return False
        settings, model = self._key.settings, self.model
        last, moment, parts = self._parts
        parts_before = parts if last is settings and moment == before else parts_of(settings, model, before)
        parts_after = parts_of(settings, model, after)
        self._parts = settings, after, parts_after
        return is_cut(parts_before, parts_after)

    def joint_positions(self) -> npt.NDArray[np.float64]:
        """Places of the joints in the world [m], shape (B, 3)."""
        return _transformed(self.world_from_model, self.pose.model_from_joint[:, :3, 3])

    def facing(self) -> float:
        """Yaw of where it looks in the world, to a quarter of a turn; that of +z where its bones do not tell [°]."""
        return front_in(self.model, self.pose, self.world_from_model)

    def bounds(self) -> Bounds:
        """Box in the world that holds what is shown [m], without reading the skinned vertices back."""
        if self._box is None or self._box[0] is not self.pose or self._box[1] is not self.world_from_model:
            self._box = (self.pose, self.world_from_model, self._measured())
        return self._box[2]

    def part_of(self, vertices: npt.NDArray[np.integer]) -> SkinPart:
        """Some vertices, by number, as what `part_bounds` takes; one at least."""
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
        """Box in the world that holds some vertices as they are shown [m], without reading them back."""
        used, centres, halves = part
        matrices = self.world_from_model[None]
        if used is not None:
            matrices = self.world_from_model @ self.pose.palette.take(used, 0)
        return _moved_box(matrices, *self._warped(centres, halves))

    def _measured(self) -> Bounds:
        if self._boxes is None or (self.pose is self._bind_pose and self._is_bound_at_rest):
            lo, hi = self._reach if self._boxes is None else (self.model.mesh.bounds.lo, self.model.mesh.bounds.hi)
            centres, halves = self._warped((lo + hi)[None] / 2.0, (hi - lo)[None] / 2.0)
            return _moved_box(self.world_from_model[None], centres, halves)
        matrices = self.world_from_model @ self.pose.palette.take(self._boxes[0], 0)
        return _moved_box(matrices, *self._warped(self._centres, self._halves))

    def _warped(
        self, centres: npt.NDArray[np.float64], halves: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Middles and half sizes of boxes of the bind pose, (N, 3) each, after the deformers."""
        if self.pose.warps is None or not self.pose.warps.functions:
            return centres, halves
        lo, hi = warped_boxes(self.pose.warps, centres - halves, centres + halves)
        return (lo + hi) / 2.0, (hi - lo) / 2.0

    def joint_bounds(self, joint: int) -> Bounds:
        """Box in the world of the vertices a joint moves [m]; a tenth of the model around one that moves none."""
        if self._boxes is not None and self.model.skin is not None:
            chosen = self.model.skin.joints_of(self._boxes[0]) == joint
            if chosen.any():
                matrices = self.world_from_model @ self.pose.palette[self._boxes[0][chosen]]
                return _moved_box(matrices, *self._warped(self._centres[chosen], self._halves[chosen]))
        scale = abs(np.linalg.det(self.world_from_model[:3, :3])) ** (1.0 / 3.0)
        margin = 0.05 * scale * max(self.model.mesh.bounds.extent, 1e-3)
        place = self.joint_positions()[joint]
        return Bounds(place - margin, place + margin)

    def release(self) -> None:
        if self._comparison is not None:
            self._comparison.release()
        self.primary.release()
        if self._secondary is not None:
            self._secondary.release()

    def _evaluate(self, key: PoseKey, poses: Poses) -> None:
        if key == self._key:
            return
        self._key, settings = key, key.settings
        if active_clip(settings, self.model) is None and not settings.pose and not shapes(settings):
            self.pose = self._bind_pose
            return
        shared = id(self.model), key
        if shared not in poses:
            with self._context.timers.host_scope("pose", self.primary.name):
                poses[shared] = self._evaluated(key)
        pose = poses[shared]
        # What stands still, such as deformers without a frequency, lets a figure without a clip rest.
        if not (pose.same_shape(self.pose) and np.array_equal(pose.palette, self.pose.palette)):
            self.pose = pose

    def _evaluated(self, key: PoseKey) -> Pose:
        return shaped(self._of_clip(key), key.settings, self.model, key.time)

    def _of_clip(self, key: PoseKey) -> Pose:
        if active_clip(key.settings, self.model) is None and not key.settings.pose:
            return self._bind_pose
        settings, run_up, poses = self._foreseen
        found = poses.pop(key.time, None) if settings is key.settings and run_up == key.run_up else None
        return found or pose_of(self.model, key.settings, key.time, key.run_up)


def _moved_box(
    matrices: npt.NDArray[np.float64], centres: npt.NDArray[np.float64], halves: npt.NDArray[np.float64]
) -> Bounds:
    """Box of the corners of boxes (N,), each moved by its own matrix (N, 4, 4).

    Source: Arvo 1990, "Transforming axis-aligned bounding boxes".
    """
    linear = matrices[:, :3, :3]
    middles = (linear @ centres[..., None])[..., 0] + matrices[:, :3, 3]
    reaches = (np.abs(linear) @ halves[..., None])[..., 0]
    return Bounds((middles - reaches).min(axis=0), (middles + reaches).max(axis=0))


def _transformed(matrix: npt.NDArray[np.float64], points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def shapes(settings: ModelSettings) -> bool:
    return bool(settings.target_weights or settings.solo_target or settings.deformers)


def shaped(pose: Pose, settings: ModelSettings, model: CharacterModel, time: float) -> Pose:
    """A pose with what the settings add at a moment of the scene clock [s]; the very same where they add nothing."""
    if not shapes(settings):
        return pose
    local = msgspec.structs.replace(pose.local, weights=_weights(settings, model.mesh.targets, pose.local.weights))
    warps = warps_of(settings.deformers, model, up_axis(settings, model), time) if settings.deformers else None
    return msgspec.structs.replace(pose, local=local, warps=warps)


def _weights(
    settings: ModelSettings, targets: Targets | None, weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Weights of a clip with those of the settings; names that the model does not have are passed over."""
    if targets is None or targets.are_frames:
        return weights if targets is not None else NO_WEIGHTS
    added = dict(settings.target_weights)
    total: npt.NDArray[np.float64] = weights + np.array([added.get(name, 0.0) for name in targets.names])
    if settings.solo_target in targets.names:
        total = np.where(np.arange(len(total)) == targets.names.index(settings.solo_target), total, 0.0)
    return total
