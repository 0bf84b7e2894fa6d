"""Transfer of a motion between humanoid skeletons of any proportions, axes and rest poses.

Both skeletons are brought into the same reference pose, arms sideways and legs down.  The rotation of each bone away
from it is transferred; the hips move in proportion to the legs; feet that stand still are pinned by two-bone IK.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pyglm import glm

from sinew.sim.assets.clip import UniformClip, renamed
from sinew.sim.assets.humanoid import REQUIRED, SIDES, bones_of
from sinew.sim.assets.model import NO_WEIGHTS, CharacterModel, Clip, Interpolation, LocalPose, Skeleton
from sinew.sim.characters.contacts import FLOOR_PERCENTILE, contacts
from sinew.sim.characters.expressions import expression_weights
from sinew.sim.characters.modifiers.functions import two_bones
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.hierarchy import model_from_local

Edits = Sequence[tuple[str, str]]

FLOOR_OFFSET = 0.25
"""Difference of a floor from the reference, in legs, above which the heights of the clip are moved."""

FADE = 0.1
"""Time over which the pin of a foot fades in and out [s]."""

SMALLEST_HEIGHT = 1e-3
"""Minimum height of hips at rest that measures a body, in units of the file."""

REACH = 0.9995
"""Maximum distance from hip to ankle, as part of the stretched leg."""


@dataclass(frozen=True, slots=True)
class Body:
    skeleton: Skeleton
    bones: Mapping[str, int]  # Joint of each bone, see `bones_of`
    up: int = 1  # Index of the axis that points up: 1 for y, 2 for z

    @property
    def leg(self) -> float:
        """Length of upper and lower leg, the mean of both sides."""
        points = self.skeleton.model_from_bind[:, :3, 3]
        lengths = [
            np.linalg.norm(points[self.bones[f"{side}{lower}"]] - points[self.bones[f"{side}{upper}"]])
            for side in SIDES
            for upper, lower in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
        ]
        return float(sum(lengths)) / len(SIDES)

    def frame(self) -> Float64:
        """Returns columns: left of the body, up, forwards."""
        points, up = self.skeleton.model_from_bind[:, :3, 3], np.eye(3)[self.up]
        left = points[self.bones["leftUpperLeg"]] - points[self.bones["rightUpperLeg"]]
        left = left - up * (left @ up)
        left /= np.linalg.norm(left)
        return np.column_stack([left, up, np.cross(left, up)])

    def reference(self) -> Float64:
        """Returns world rotations (B, 3, 3) with arms sideways and legs down; feet keep their rest rotation."""
        skeleton, bones = self.skeleton, self.bones
        rest = _rotations(skeleton, skeleton.bind_orientations[None])[0]
        rotations: Float64 = rest.copy()
        points, frame = skeleton.model_from_bind[:, :3, 3].copy(), self.frame()
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            for bone, child, target in (
                ("UpperArm", "LowerArm", sign * frame[:, 0]),
                ("LowerArm", "Hand", sign * frame[:, 0]),
                ("UpperLeg", "LowerLeg", -frame[:, 1]),
                ("LowerLeg", "Foot", -frame[:, 1]),
            ):
                joint = bones[f"{side}{bone}"]
                turn = _arcs(points[bones[f"{side}{child}"]] - points[joint], target)
                below = skeleton.below([joint])
                points[below] = points[joint] + (points[below] - points[joint]) @ turn.T
                rotations[below] = turn @ rotations[below]
            foot = skeleton.below([bones[f"{side}Foot"]])
            rotations[foot] = rest[foot]
        return rotations


@dataclass(frozen=True, slots=True)
class LocalMotion:
    """Local poses of all joints at equal intervals: (F, B, 3) and quaternions (F, B, 4)."""

    positions: Float64
    orientations: Float64
    step: float


def retarget(motion: LocalMotion, source: Body, target: Body, *, pin: bool = True) -> LocalMotion:
    """Retargets a motion; joints of one body alone keep their reference pose, `pin` keeps standing feet in place."""
    source_reference, reference = source.reference(), target.reference()
    turned = target.frame() @ source.frame().T
    rotations, points = _world(source.skeleton, motion)
    wanted = _carried(rotations, source, target, source_reference, reference, turned)
    hips = _hips(points, source, target, source_reference, reference, turned)
    result = _posed(target, reference, wanted, hips, motion.step)
    return _pinned(result, points, source, target, reference, wanted, hips) if pin else result


def transferred(motion: LocalMotion, source: Body, target: Body) -> LocalMotion:
    """Returns the motion of `source` on `target`, whose rest poses are the same T-pose.

    With W and L the world and local rest rotations of a bone, q its rotation and N = W inv(L) q inv(W), the bone of
    the target gets L' inv(W') N W'; N of a bone that the target does not have acts on the bones below it.

    Source: VRM Consortium, VRMC_vrm_animation 1.0, how to transform human poses.
    """
    rest, reference = (_rotations(body.skeleton, body.skeleton.bind_orientations[None])[0] for body in (source, target))
    rotations, points = _world(source.skeleton, motion)
    wanted = _carried(rotations, source, target, rest, reference, np.eye(3))
    hips = source.bones["hips"]
    place, own_place = (body.skeleton.model_from_bind[body.bones["hips"], :3, 3] for body in (source, target))
    ratio = own_place[1] / place[1] if place[1] > SMALLEST_HEIGHT else 1.0
    return _posed(target, reference, wanted, own_place + ratio * (points[:, hips] - place), motion.step)


def _carried(
    rotations: Float64, source: Body, target: Body, reference: Float64, own_reference: Float64, turned: Float64
) -> dict[int, Float64]:
    """Returns world rotations (F, 3, 3) of joints of the target that differ from its reference as in the source."""
    return {
        target.bones[bone]: turned @ rotations[:, joint] @ reference[joint].T @ turned.T
        @ own_reference[target.bones[bone]]
        for bone, joint in source.bones.items()
        if bone in target.bones
    }  # fmt: skip


def _hips(
    points: Float64, source: Body, target: Body, source_reference: Float64, reference: Float64, turned: Float64
) -> Float64:
    """Returns world positions of the hips (F, 3)."""
    rest, own_rest = source.skeleton.model_from_bind[:, :3, 3], target.skeleton.model_from_bind[:, :3, 3]
    hips, own_hips = source.bones["hips"], target.bones["hips"]
    scale = target.leg / source.leg
    placed: Float64 = own_rest[own_hips] + scale * (points[:, hips] - rest[hips]) @ turned.T
    floor = float(np.percentile(_lower_ball(points, source), FLOOR_PERCENTILE))
    rest_floor, own_floor = float(_lower_ball(rest[None], source)[0]), float(_lower_ball(own_rest[None], target)[0])
    if abs(floor - rest_floor) <= FLOOR_OFFSET * source.leg:
        floor = rest_floor
    # Legs at rest are seldom straight down, legs of the references always are.
    heights = points[:, hips, source.up] - floor - _stretched(source, source_reference)
    placed[:, target.up] = own_floor + _stretched(target, reference) + scale * heights
    return placed


def _stretched(body: Body, reference: Float64) -> float:
    """Returns the height of the hips over the lower ball in the reference pose."""
    points = _points(body.skeleton, reference[None], body.skeleton.bind_positions[None])
    return float(points[0, body.bones["hips"], body.up] - _lower_ball(points, body)[0])


def _lower_ball(points: Float64, body: Body) -> Float64:
    return np.minimum(*(points[:, ball(body, side), body.up] for side in SIDES))


def ball(body: Body, side: str) -> int:
    return body.bones.get(f"{side}Toes", body.bones[f"{side}Foot"])


# --- poses ------------------------------------------------------------------------------------------------


def _world(skeleton: Skeleton, motion: LocalMotion) -> tuple[Float64, Float64]:
    """Returns world rotations (F, B, 3, 3) and positions (F, B, 3)."""
    rotations = _rotations(skeleton, motion.orientations)
    return rotations, _points(skeleton, rotations, motion.positions)


def _rotations(skeleton: Skeleton, orientations: Float64) -> Float64:
    return model_from_local(quaternion.to_matrix(orientations).swapaxes(0, 1), skeleton.hierarchy).swapaxes(0, 1)


def _points(skeleton: Skeleton, rotations: Float64, positions: Float64) -> Float64:
    points, scales = positions.copy(), _scales(skeleton)
    for level in skeleton.hierarchy.levels:
        above = skeleton.parents[level]
        offsets = rotations[:, above] @ (positions[:, level] * scales[above])[..., None]
        points[:, level] = points[:, above] + offsets[..., 0]
    return points


def _scales(skeleton: Skeleton) -> Float64:
    """Returns the product of the scales of each joint and of the joints above it in the bind pose, (B, 3)."""
    scales = skeleton.bind_scales.copy()
    for level in skeleton.hierarchy.levels:
        scales[level] *= scales[skeleton.parents[level]]
    return scales


def _posed(body: Body, reference: Float64, wanted: Mapping[int, Float64], hips: Float64, step: float) -> LocalMotion:
    """Returns local poses from the world rotations `wanted` and the world positions of the hips."""
    skeleton, count = body.skeleton, len(hips)
    world = np.empty((count, skeleton.joint_count, 3, 3))
    locals_ = np.empty_like(world)
    for joint in skeleton.hierarchy.order.tolist():
        parent = int(skeleton.parents[joint])
        above = np.eye(3) if parent < 0 else world[:, parent]
        if joint in wanted:
            world[:, joint] = wanted[joint]
            locals_[:, joint] = np.swapaxes(above, -1, -2) @ wanted[joint]
        else:
            locals_[:, joint] = reference[joint] if parent < 0 else reference[parent].T @ reference[joint]
            world[:, joint] = above @ locals_[:, joint]
    positions = np.repeat(skeleton.bind_positions[None], count, axis=0)
    own = body.bones["hips"]
    positions[:, own] = hips
    parent = int(skeleton.parents[own])
    if parent >= 0:
        offsets = hips - _points(skeleton, world, positions)[:, parent]
        relative = (np.swapaxes(world[:, parent], 1, 2) @ offsets[..., None])[..., 0]
        positions[:, own] = relative / _scales(skeleton)[parent]
    return LocalMotion(positions, quaternion.from_matrix(locals_), step)


def _arcs(one: Float64, other: Float64) -> Float64:
    """Returns the shortest rotations (..., 3, 3) between the directions of two vectors (..., 3)."""
    a, b = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True) for vectors in (one, other))
    axis, cosine = np.cross(a, b), np.sum(a * b, axis=-1)
    quaternions = np.concatenate([axis, 1.0 + cosine[..., None]], axis=-1)
    opposite = cosine < -1.0 + 1e-12
    if opposite.any():  # any axis across
        across = np.cross(a[opposite], np.eye(3)[np.argmin(np.abs(a[opposite]), axis=-1)])
        quaternions[opposite, :3], quaternions[opposite, 3] = across, 0.0
    return quaternion.to_matrix(quaternion.normalised(quaternions))


# --- feet -------------------------------------------------------------------------------------------------


def stands_of(clip: Clip, body: Body) -> list[list[tuple[float, float]]]:
    """Returns the spans of time [s] in which the left and the right foot stand in a clip, as a transfer pins them."""
    motion = _motion_of(clip, clip.sample_many(clip.frame_times.tolist(), Interpolation.LINEAR))
    points = _world(body.skeleton, motion)[1]
    spans = [_stands(points, body, side, motion.step) for side in SIDES]
    return [[(first * motion.step, last * motion.step) for first, last in found] for found in spans]


def _stands(points: Float64, body: Body, side: str, step: float) -> list[tuple[int, int]]:
    """Returns first and last frame of each contact of a foot; `points` are positions of all joints, (F, B, 3)."""
    path = points[:, ball(body, side)]
    floor = float(np.percentile(path[:, body.up], FLOOR_PERCENTILE))
    return contacts(path, step, body.leg, body.up, floor)


def _shifts(ball: Float64, stands: Sequence[tuple[int, int]], step: float, up: int) -> Float64:
    """Returns the displacement of a foot that makes it stand still, (F, 3); fades outside of the contacts."""
    shift, fade = np.zeros_like(ball), FADE / step
    for number, (first, last) in enumerate(stands):
        place = np.median(ball[first : last + 1], axis=0)
        apart = place - ball[first : last + 1]
        apart[:, up] = 0.0
        shift[first : last + 1] = apart
        before = first if number == 0 else (first - stands[number - 1][1]) / 2.0
        after = len(ball) - 1 - last if number == len(stands) - 1 else (stands[number + 1][0] - last) / 2.0
        for room, start, direction, held in ((before, first, -1, apart[0]), (after, last, 1, apart[-1])):
            reach = min(fade, room)
            for away in range(1, int(np.ceil(reach))):
                shift[start + direction * away] += held * (0.5 + 0.5 * np.cos(np.pi * away / reach))
    return shift


def _pinned(
    result: LocalMotion, points: Float64, source: Body, target: Body, reference: Float64,
    wanted: Mapping[int, Float64], hips: Float64,
) -> LocalMotion:  # fmt: skip
    """Returns the result with standing feet in place; `points` are the positions of the source."""
    up, step = np.eye(3)[target.up], result.step
    rotations, placed = _world(target.skeleton, result)
    legs = [[target.bones[f"{side}{bone}"] for bone in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
    aims, drop = [], np.zeros(len(hips))
    for side, (upper, lower, foot) in zip(SIDES, legs, strict=True):
        stands = _stands(points, source, side, step)
        aims.append(placed[:, foot] + _shifts(placed[:, ball(target, side)], stands, step, target.up))
        length = np.linalg.norm(placed[0, lower] - placed[0, upper]) + np.linalg.norm(
            placed[0, foot] - placed[0, lower]
        )
        leg = placed[:, upper] - aims[-1]
        height = leg @ up
        across = np.linalg.norm(leg - height[:, None] * up, axis=-1)
        allowed = np.sqrt(np.maximum(np.square(REACH * length) - np.square(across), 0.0))
        drop = np.maximum(drop, height - allowed)
    drop = _smoothed(drop, step)
    changed, ahead = dict(wanted), glm.dvec3(*target.frame()[:, 2])
    for (upper, lower, foot), aim in zip(legs, aims, strict=True):
        leg = placed[:, [upper, lower, foot]] - drop[:, None, None] * up
        bent = np.empty((len(hips), 2, 3))  # knee and ankle
        for frame, joints in enumerate(np.concatenate([leg, aim[:, None]], axis=1).tolist()):
            hip, knee, ankle, goal = (glm.dvec3(*joint) for joint in joints)
            bent[frame] = two_bones(hip, knee, ankle, goal, hint=ahead)
        changed[upper] = _arcs(leg[:, 1] - leg[:, 0], bent[:, 0] - leg[:, 0]) @ rotations[:, upper]
        changed[lower] = _arcs(leg[:, 2] - leg[:, 1], bent[:, 1] - bent[:, 0]) @ rotations[:, lower]
        changed[foot] = rotations[:, foot]
    return _posed(target, reference, changed, hips - drop[:, None] * up, step)


def _smoothed(drop: Float64, step: float) -> Float64:
    half = round(FADE / step)
    if half < 1 or not drop.any():
        return drop
    padded = np.pad(drop, half, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=-1)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(highest, half, mode="edge"), window / window.sum(), mode="valid")


# --- clips ------------------------------------------------------------------------------------------------

FRAMES_MAX = 100_000


class RetargetError(ValueError):
    """Error about retargeting; the message is one line."""


NAMED_MAX = 4


def body_of(model: CharacterModel, edits: Edits = (), up_axis: str = "") -> Body:
    """Returns the human body of a model; raises RetargetError, which names the missing bones.

    Args:
        edits: Changes of the user, see `sinew.sim.assets.humanoid.bones_of`.
        up_axis: "y" or "z"; "" for the axis of the file.
    """
    if model.skeleton is None:
        raise RetargetError(f"{model.path.name} has no bones")
    body = _body(model, edits, up_axis)
    missing = [bone for bone in REQUIRED if bone not in body.bones]
    if missing:
        more = f" and {len(missing) - NAMED_MAX} more" if len(missing) > NAMED_MAX else ""
        raise RetargetError(f"{model.path.name} is no human body: {', '.join(missing[:NAMED_MAX])}{more} not found")
    return body


def _body(model: CharacterModel, edits: Edits, up_axis: str) -> Body:
    assert model.skeleton is not None
    return Body(model.skeleton, bones_of(model, edits), 2 if (up_axis or model.default_up_axis).lower() == "z" else 1)


def retargeted_clip(
    clip: Clip, source: CharacterModel, target: CharacterModel, *,
    name: str = "", source_edits: Edits = (), target_edits: Edits = (), up_axis: str = "",
) -> Clip:  # fmt: skip
    """Returns the clip for another body, with the same frames.

    A clip of the same skeleton is copied unchanged.  VRM files state their bones and rest in the same pose.  Otherwise
    a target with all joint names of the source gets the rotations unchanged: a file with only a motion often has no
    rest pose.

    Args:
        name: Name of the result; "" for the name of the clip.
        source_edits, target_edits: Changes of their bones, see `sinew.sim.assets.humanoid.bones_of`.
        up_axis: Of the target; "" for the axis of its file.

    Raises:
        RetargetError: If a model is no human body, or the clip is too long.
    """
    name, times, targets = name or clip.name, clip.frame_times, target.mesh.targets
    rest_weights = NO_WEIGHTS if targets is None or targets.are_frames else targets.rest_weights
    is_same = is_same_rest(source.skeleton, target.skeleton) and not source.rig.expression_joints
    if is_same and len(clip.sample(0.0, Interpolation.LINEAR).weights) == len(rest_weights):
        return renamed(clip, name)
    if len(times) > FRAMES_MAX:
        raise RetargetError(f"clip {clip.name!r} of {source.path.name} has more than {FRAMES_MAX:,} frames")
    is_stated = all("hips" in model.rig.humanoid for model in (source, target))
    body = _body if is_same or is_stated else body_of
    own, other = body(target, target_edits, up_axis), body(source, source_edits, "")
    if is_stated and any("hips" not in found.bones for found in (own, other)):
        raise RetargetError("the hips are missing")
    poses = clip.sample_many(times.tolist(), Interpolation.LINEAR)
    motion = _motion_of(clip, poses)
    names = {joint_name: joint for joint, joint_name in enumerate(own.skeleton.names)}
    if is_same:
        result = motion
    elif is_stated:
        result = transferred(motion, other, own)
    elif all(other.skeleton.names[joint] in names for joint in other.bones.values()):
        result = _copied(motion, other, own, names)
    else:
        result = retarget(motion, other, own)
    scales = poses.scales if is_same else np.repeat(own.skeleton.bind_scales[None], len(times), axis=0)
    weights = None
    if targets is not None and not targets.are_frames:
        values = {known: poses.positions[:, joint, 0] for known, joint in source.rig.expression_joints.items()}
        weights = rest_weights + np.array([
            expression_weights(target.rig, targets, {known: float(value[frame]) for known, value in values.items()})
            for frame in range(len(times))
        ])  # fmt: skip
    return UniformClip(name, motion.step, result.positions, result.orientations, scales, weights)


def _motion_of(clip: Clip, poses: LocalPose) -> LocalMotion:
    """Returns a clip from its poses at all frames."""
    times = clip.frame_times
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0 / 30.0
    return LocalMotion(poses.positions, poses.orientations, step)


SAME_REST = 1e-5
"""Largest difference of two rest poses that count as equal, as part of the size of the skeleton."""


def is_same_rest(one: Skeleton | None, other: Skeleton | None) -> bool:
    """Returns True for the same joints in the same order, at the same places."""
    if one is None or other is None or one.names != other.names or not np.array_equal(one.parents, other.parents):
        return False
    size = max(float(np.ptp(one.model_from_bind[:, :3, 3], axis=0).max()), 1e-9)
    apart = np.abs(one.model_from_bind - other.model_from_bind)
    apart[:, :3, 3] /= size
    return bool(apart.max() <= SAME_REST)


def _copied(motion: LocalMotion, source: Body, target: Body, names: Mapping[str, int]) -> LocalMotion:
    """Copies the rotations of equal joints; the path of the hips is in proportion to the legs."""
    count = len(motion.positions)
    positions = np.repeat(target.skeleton.bind_positions[None], count, axis=0)
    orientations = np.repeat(target.skeleton.bind_orientations[None], count, axis=0)
    for joint, name in enumerate(source.skeleton.names):
        if name in names:
            orientations[:, names[name]] = motion.orientations[:, joint]
    hips = source.bones["hips"]
    positions[:, names[source.skeleton.names[hips]]] = motion.positions[:, hips] * (target.leg / source.leg)
    return LocalMotion(positions, orientations, motion.step)
