"""Transfer of a motion between humanoid skeletons of any proportions, axes and rest poses.

Both skeletons are brought into the same reference pose, arms sideways and legs down.  The rotation of each bone away
from it is transferred; the hips move in proportion to the legs; feet that stand still are pinned by two-bone IK.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.clip import MorphingClip, UniformClip, renamed
from sinew.sim.assets.humanoid import REQUIRED, bones_of
from sinew.sim.assets.model import NO_WEIGHTS, CharacterModel, Clip, Interpolation, Skeleton
from sinew.sim.characters.expressions import expression_weights
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

Edits = Sequence[tuple[str, str]]

SIDES = ("left", "right")
FLOOR_PERCENTILE = 2.0
"""Percentile of the height of the lower ball that counts as the floor of a clip [%]."""

FLOOR_OFFSET = 0.25
"""Difference of a floor from the reference, in legs, above which the heights of the clip are moved."""

CONTACT_SPEED, CONTACT_HEIGHT, CONTACT_TIME = 0.25, 0.06, 0.1
"""Contact: a ball is below this speed [legs/s] and height over its lowest [legs], for at least this time [s]."""

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
        locals_ = quaternion.to_matrix(skeleton.bind_orientations)
        rotations = _rotations(skeleton, locals_[None])[0]
        points, frame = skeleton.model_from_bind[:, :3, 3].copy(), self.frame()
        rest = rotations.copy()
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            for bone, child, target in (
                ("UpperArm", "LowerArm", sign * frame[:, 0]),
                ("LowerArm", "Hand", sign * frame[:, 0]),
                ("UpperLeg", "LowerLeg", -frame[:, 1]),
                ("LowerLeg", "Foot", -frame[:, 1]),
            ):
                joint = bones[f"{side}{bone}"]
                turn = _arc(points[bones[f"{side}{child}"]] - points[joint], target)
                below = _descendants(skeleton, joint)
                points[below] = points[joint] + (points[below] - points[joint]) @ turn.T
                rotations[below] = turn @ rotations[below]
            foot = _descendants(skeleton, bones[f"{side}Foot"])
            rotations[foot] = rest[foot]
        found: Float64 = rotations
        return found


@dataclass(frozen=True, slots=True)
class LocalMotion:
    """Local poses of all joints at equal intervals: (F, B, 3) and quaternions (F, B, 4)."""

    positions: Float64
    orientations: Float64
    step: float


def retarget(motion: LocalMotion, source: Body, target: Body, *, pin: bool = True) -> LocalMotion:
    """Retargets a motion; joints of one body alone keep their reference pose, `pin` keeps standing feet in place."""
    reference, own_reference = source.reference(), target.reference()
    turned = target.frame() @ source.frame().T
    common = [bone for bone in source.bones if bone in target.bones]
    rotations, points = _world(source.skeleton, motion)
    wanted: dict[int, Float64] = {}
    for bone in common:
        joint = source.bones[bone]
        away = rotations[:, joint] @ reference[joint].T
        wanted[target.bones[bone]] = turned @ away @ turned.T @ own_reference[target.bones[bone]]
    hips = _hips(points, source, target, turned)
    result = _posed(target, own_reference, wanted, hips, motion.step)
    return _pinned(result, motion.step, points, source, target, own_reference, wanted, hips) if pin else result


def transferred(motion: LocalMotion, source: Body, target: Body) -> LocalMotion:
    """Returns the motion of `source` on `target`, whose rest poses are the same T-pose.

    With W and L the world and local rest rotations of a bone, q its rotation and N = W inv(L) q inv(W), the bone of
    the target gets L' inv(W') N W'; N of a bone that the target does not have acts on the bones below it.

    Source: VRM Consortium, VRMC_vrm_animation 1.0, how to transform human poses.
    """
    rest, own_rest = source.skeleton.model_from_bind, target.skeleton.model_from_bind
    reference, own_reference = (
        _rotations(body.skeleton, quaternion.to_matrix(body.skeleton.bind_orientations)[None])[0]
        for body in (source, target)
    )
    rotations, points = _world(source.skeleton, motion)
    wanted = {
        target.bones[bone]: rotations[:, joint] @ reference[joint].T @ own_reference[target.bones[bone]]
        for bone, joint in source.bones.items()
        if bone in target.bones
    }
    hips, own_hips = source.bones["hips"], target.bones["hips"]
    height, own_height = rest[hips, 1, 3], own_rest[own_hips, 1, 3]
    ratio = own_height / height if height > SMALLEST_HEIGHT else 1.0
    moved = own_rest[own_hips, :3, 3] + ratio * (points[:, hips] - rest[hips, :3, 3])
    return _posed(target, own_reference, wanted, moved, motion.step)


def _hips(points: Float64, source: Body, target: Body, turned: Float64) -> Float64:
    """Returns world positions of the hips (F, 3)."""
    rest, own_rest = source.skeleton.model_from_bind[:, :3, 3], target.skeleton.model_from_bind[:, :3, 3]
    hips, own_hips = source.bones["hips"], target.bones["hips"]
    scale = target.leg / source.leg
    moved = points[:, hips] - rest[hips]
    floor = np.percentile(_lower_ball(points, source), FLOOR_PERCENTILE)
    rest_floor = float(_lower_ball(rest[None], source)[0])
    if abs(floor - rest_floor) > FLOOR_OFFSET * source.leg:
        moved[:, source.up] -= floor - rest_floor
    placed: Float64 = own_rest[own_hips] + scale * moved @ turned.T
    return placed


def _lower_ball(points: Float64, body: Body) -> Float64:
    return np.minimum(*(points[:, _ball(body, side), body.up] for side in SIDES))


def _ball(body: Body, side: str) -> int:
    return body.bones.get(f"{side}Toes", body.bones[f"{side}Foot"])


# --- poses ------------------------------------------------------------------------------------------------


def _world(skeleton: Skeleton, motion: LocalMotion) -> tuple[Float64, Float64]:
    """Returns world rotations (F, B, 3, 3) and positions (F, B, 3)."""
    rotations = _rotations(skeleton, quaternion.to_matrix(motion.orientations))
    return rotations, _points(skeleton, rotations, motion.positions)


def _rotations(skeleton: Skeleton, locals_: Float64) -> Float64:
    world = np.empty_like(locals_)
    for joint in _order(skeleton):
        parent = skeleton.parents[joint]
        world[:, joint] = locals_[:, joint] if parent < 0 else world[:, parent] @ locals_[:, joint]
    return world


def _points(skeleton: Skeleton, rotations: Float64, positions: Float64) -> Float64:
    """Returns positions of joints; scales of the bind pose apply to everything below a joint."""
    points, scales = np.empty_like(positions), np.ones((len(skeleton.parents), 3))
    for joint in _order(skeleton):
        parent = skeleton.parents[joint]
        if parent < 0:
            points[:, joint] = positions[:, joint]
            scales[joint] = skeleton.bind_scales[joint]
        else:
            offset = (rotations[:, parent] @ (positions[:, joint] * scales[parent])[..., None])[..., 0]
            points[:, joint] = points[:, parent] + offset
            scales[joint] = scales[parent] * skeleton.bind_scales[joint]
    return points


def _order(skeleton: Skeleton) -> list[int]:
    return list(map(int, skeleton.hierarchy.order))


def _descendants(skeleton: Skeleton, joint: int) -> list[int]:
    found = {joint}
    for other in _order(skeleton):
        if skeleton.parents[other] in found:
            found.add(other)
    return sorted(found)


def _posed(body: Body, reference: Float64, wanted: Mapping[int, Float64], hips: Float64, step: float) -> LocalMotion:
    """Returns local poses from the world rotations `wanted` and the world positions of the hips."""
    skeleton = body.skeleton
    count = len(hips)
    world = np.empty((count, skeleton.joint_count, 3, 3))
    locals_ = np.empty_like(world)
    for joint in _order(skeleton):
        parent = skeleton.parents[joint]
        above = np.broadcast_to(np.eye(3), (count, 3, 3)) if parent < 0 else world[:, parent]
        if joint in wanted:
            world[:, joint] = wanted[joint]
            locals_[:, joint] = np.swapaxes(above, 1, 2) @ wanted[joint]
        else:
            rest = reference[joint] if parent < 0 else reference[parent].T @ reference[joint]
            locals_[:, joint] = rest
            world[:, joint] = above @ rest
    positions = np.repeat(skeleton.bind_positions[None], count, axis=0)
    own = body.bones["hips"]
    parent = skeleton.parents[own]
    if parent < 0:
        positions[:, own] = hips
    else:
        points = _points(skeleton, world, positions)
        scale = _scale_of(skeleton, parent)
        relative = (np.swapaxes(world[:, parent], 1, 2) @ (hips - points[:, parent])[..., None])[..., 0]
        positions[:, own] = relative / scale
    return LocalMotion(positions, quaternion.from_matrix(locals_), step)


def _scale_of(skeleton: Skeleton, joint: int) -> Float64:
    scale = np.ones(3)
    while joint >= 0:
        scale = scale * skeleton.bind_scales[joint]
        joint = int(skeleton.parents[joint])
    return scale


def _arc(one: Float64, other: Float64) -> Float64:
    a, b = one / np.linalg.norm(one), other / np.linalg.norm(other)
    turn: Float64 = _arcs(a[None], b[None])[0]
    return turn


def _arcs(a: Float64, b: Float64) -> Float64:
    """Returns the shortest rotations (F, 3, 3) between unit vectors (F, 3)."""
    axis, cosine = np.cross(a, b), np.sum(a * b, axis=-1)
    quaternions = np.concatenate([axis, 1.0 + cosine[:, None]], axis=-1)
    opposite = cosine < -1.0 + 1e-12
    if opposite.any():  # any axis across
        across = np.cross(a[opposite], np.eye(3)[np.argmin(np.abs(a[opposite]), axis=-1)])
        quaternions[opposite, :3], quaternions[opposite, 3] = across, 0.0
    return quaternion.to_matrix(quaternion.normalised(quaternions))


# --- feet -------------------------------------------------------------------------------------------------


def contacts(points: Float64, step: float, leg: float, up: int) -> list[tuple[int, int]]:
    """Returns first and last frame of each time that a ball, (F, 3), stands on the floor."""
    if len(points) < 2:
        return []
    speed = np.linalg.norm(np.gradient(points, step, axis=0), axis=-1)
    height = points[:, up] - np.percentile(points[:, up], FLOOR_PERCENTILE)
    stands = np.concatenate([[False], (speed < CONTACT_SPEED * leg) & (height < CONTACT_HEIGHT * leg), [False]])
    edges = np.flatnonzero(stands[1:] != stands[:-1])
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2) if (b - a - 1) * step >= CONTACT_TIME]


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
    result: LocalMotion,
    step: float,
    points: Float64,
    source: Body,
    target: Body,
    reference: Float64,
    wanted: Mapping[int, Float64],
    hips: Float64,
) -> LocalMotion:
    bones, up = target.bones, np.eye(3)[target.up]
    rotations, placed = _world(target.skeleton, result)
    ankles: dict[str, Float64] = {}
    drop = np.zeros(len(hips))
    for side in SIDES:
        stands = contacts(points[:, _ball(source, side)], step, source.leg, source.up)
        shift = _shifts(placed[:, _ball(target, side)], stands, step, target.up)
        upper, lower, foot = (bones[f"{side}{bone}"] for bone in ("UpperLeg", "LowerLeg", "Foot"))
        ankles[side] = placed[:, foot] + shift
        lengths = np.linalg.norm(placed[0, lower] - placed[0, upper]) + np.linalg.norm(
            placed[0, foot] - placed[0, lower]
        )
        leg = placed[:, upper] - ankles[side]
        height = leg @ up
        across = np.linalg.norm(leg - height[:, None] * up, axis=-1)
        allowed = np.sqrt(np.maximum(np.square(REACH * lengths) - np.square(across), 0.0))
        drop = np.maximum(drop, height - allowed)
    drop = _smoothed(np.maximum(drop, 0.0), step)
    lowered = hips - drop[:, None] * up
    changed = dict(wanted)
    for side in SIDES:
        upper, lower, foot = (bones[f"{side}{bone}"] for bone in ("UpperLeg", "LowerLeg", "Foot"))
        hip, knee, ankle = (placed[:, joint] - drop[:, None] * up for joint in (upper, lower, foot))
        turned = _two_bone(hip, knee, ankle, ankles[side])
        changed[upper], changed[lower] = turned[0] @ rotations[:, upper], turned[1] @ rotations[:, lower]
        changed[foot] = rotations[:, foot]
    return _posed(target, reference, changed, lowered, step)


def _smoothed(drop: Float64, step: float) -> Float64:
    half = round(FADE / step)
    if half < 1 or not drop.any():
        return drop
    padded = np.pad(drop, half, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=-1)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(highest, half, mode="edge"), window / window.sum(), mode="valid")


def _two_bone(hip: Float64, knee: Float64, ankle: Float64, aim: Float64) -> tuple[Float64, Float64]:
    """Returns world rotations (F, 3, 3) of the two bones that move the ankle to `aim`; the knee stays in its plane."""
    first, second = np.linalg.norm(knee - hip, axis=-1), np.linalg.norm(ankle - knee, axis=-1)
    leg = aim - hip
    distance = np.clip(np.linalg.norm(leg, axis=-1), np.abs(first - second) + 1e-9, first + second)
    along = leg / np.linalg.norm(leg, axis=-1, keepdims=True)
    was = (ankle - hip) / np.linalg.norm(ankle - hip, axis=-1, keepdims=True)
    bent = (_arcs(was, along) @ (knee - hip)[..., None])[..., 0]
    across = bent - np.sum(bent * along, axis=-1, keepdims=True) * along
    across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-300)
    cosine = np.clip((first**2 + distance**2 - second**2) / (2.0 * first * distance), -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine**2)
    thigh = cosine[:, None] * along + sine[:, None] * across
    shin = hip + distance[:, None] * along - (hip + first[:, None] * thigh)
    return (
        _arcs((knee - hip) / first[:, None], thigh),
        _arcs((ankle - knee) / second[:, None], shin / np.linalg.norm(shin, axis=-1, keepdims=True)),
    )


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
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0 / 30.0
    poses = clip.sample_many(times.tolist(), Interpolation.LINEAR)
    motion = LocalMotion(poses.positions, poses.orientations, step)
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
    if targets is None or targets.are_frames:
        return UniformClip(name, step, result.positions, result.orientations, scales)
    values = {expression: poses.positions[:, joint, 0] for expression, joint in source.rig.expression_joints.items()}
    weights = [
        rest_weights
        + expression_weights(target.rig, targets, {known: float(value[frame]) for known, value in values.items()})
        for frame in range(len(times))
    ]
    return MorphingClip(name, step, result.positions, result.orientations, scales, np.array(weights))


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
