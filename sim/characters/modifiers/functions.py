import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from pyglm import glm

from sinew.sim.assets.humanoid import SIDES, SPINE
from sinew.sim.assets.rig import Constraint, ConstraintType
from sinew.sim.characters.modifiers.joints import (
    NO_TURN,
    SMALLEST,
    PosedJoints,
    RestPose,
    across,
    arc,
    twist_angle,
    unit,
)
from sinew.sim.characters.modifiers.settings import (
    UNIT,
    Aim,
    ArmSpace,
    BoneAxis,
    CopyRoll,
    CopyRotation,
    Follower,
    LimitRotation,
    LookAt,
    Modifier,
    TwistDistribution,
    TwoBoneIK,
)

Targets = Mapping[str, glm.dmat4]
"""Transforms of nodes relative to the model, by id."""


@dataclasses.dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings of the modifiers of one model besides the pose."""

    rest: RestPose
    targets: Targets
    # Unit vectors in the space of the file
    up: glm.dvec3
    front: glm.dvec3


# --- two bones ------------------------------------------------------------------------------------------------------


def softened(distance: float, reach: float, softness: float) -> float:
    """Returns the distance of the end of a limb for a target's: never beyond the reach, without a jolt."""
    start = softness * reach
    room = reach - start
    if distance <= start:
        return distance
    return start + room * -math.expm1((start - distance) / room) if room > SMALLEST * reach else min(distance, reach)


def two_bones(
    root: glm.dvec3,
    middle: glm.dvec3,
    end: glm.dvec3,
    target: glm.dvec3,
    pole: glm.dvec3 | None = None,
    softness: float = 1.0,
    hint: glm.dvec3 | None = None,
) -> tuple[glm.dvec3, glm.dvec3]:
    """Returns new positions of the middle and the end of two bones.

    Args:
        pole: Point that the middle bends to; without one it bends as it does now.
        hint: Direction of the bend if that is not determined.
    """
    upper, lower = glm.length(middle - root), glm.length(end - middle)
    reach = upper + lower
    now = unit(end - root, unit(middle - root, glm.dvec3(0.0, 1.0, 0.0)))
    distance = glm.length(target - root)
    along = (target - root) / distance if distance > SMALLEST * reach and distance > 0.0 else now
    length = max(softened(distance, reach, softness), abs(upper - lower))
    bent = arc(now, along) * (middle - root) if pole is None else pole - root
    for side in (bent, hint, across(along)):
        if side is None:
            continue
        bend = side - along * glm.dot(side, along)
        if glm.length(bend) > SMALLEST * max(glm.length(side), reach if side is bent else 0.0):
            break
    reached = (upper * upper + length * length - lower * lower) / (2.0 * length) if length > SMALLEST * reach else 0.0
    reached = min(max(reached, -upper), upper)
    height = math.sqrt(max(upper * upper - reached * reached, 0.0))
    return root + along * reached + unit(bend, across(along)) * height, root + along * length


def bend_limb(
    joints: PosedJoints,
    limb: tuple[int, int, int],
    target: glm.dvec3,
    pole: glm.dvec3 | None = None,
    softness: float = 1.0,
    hint: glm.dvec3 | None = None,
) -> None:
    """Rotates the first two joints of a limb so that the third one reaches a target; see `two_bones`."""
    root, middle, end = (joints.position(joint) for joint in limb)
    new_middle, new_end = two_bones(root, middle, end, target, pole, softness, hint)
    joints.rotate(limb[0], _plane_turn((middle - root, end - root), (new_middle - root, new_end - root)))
    middle, end = joints.position(limb[1]), joints.position(limb[2])
    joints.rotate(limb[1], arc(unit(end - middle, glm.dvec3(0, 1, 0)), unit(new_end - middle, glm.dvec3(0, 1, 0))))


def _plane_turn(before: tuple[glm.dvec3, glm.dvec3], after: tuple[glm.dvec3, glm.dvec3]) -> glm.dquat:
    """Returns the rotation of a bone and its plane with the end of the limb, so that hinges stay hinges."""
    frames = []
    for bone, end in (before, after):
        normal, size = glm.cross(bone, end), glm.length(bone) * glm.length(end)
        if glm.length(normal) <= 1e-6 * size or size == 0.0:
            return arc(unit(before[0], glm.dvec3(0, 1, 0)), unit(after[0], glm.dvec3(0, 1, 0)))
        normal, bone = glm.normalize(normal), glm.normalize(bone)
        frames.append(glm.dmat3(bone, normal, glm.cross(bone, normal)))
    return glm.normalize(glm.quat_cast(frames[1] * glm.transpose(frames[0])))


def two_bone_ik(modifier: TwoBoneIK, joints: PosedJoints, around: Surroundings) -> None:
    limb = around.rest.limb(joints.skeleton.index(modifier.bone))
    if limb is not None:
        target = glm.dvec3(around.targets[modifier.target][3])
        pole = glm.dvec3(around.targets[modifier.pole][3]) if modifier.pole else None
        bend_limb(joints, limb, target, pole, modifier.softness, around.front)


# --- looking --------------------------------------------------------------------------------------------------------


def look_at(modifier: LookAt, joints: PosedJoints, around: Surroundings) -> None:
    bone = joints.skeleton.index(modifier.bone)
    rest, target = around.rest, glm.dvec3(around.targets[modifier.target][3])
    front = (
        glm.dvec3(*UNIT[modifier.axis])
        if modifier.axis in UNIT
        else glm.conjugate(rest.orientation(bone)) * around.front
    )
    chain = [bone]
    while len(chain) < modifier.chain and joints.parent(chain[-1]) >= 0:
        chain.append(joints.parent(chain[-1]))
    above = joints.parent(chain[-1])
    base = joints.orientation(above) * glm.conjugate(rest.orientation(above)) if above >= 0 else NO_TURN
    ahead = base * rest.orientation(bone) * front
    upward = base * around.up
    upward = unit(upward - ahead * glm.dot(upward, ahead), across(ahead))
    frame = glm.dmat3(glm.cross(upward, ahead), upward, ahead)
    limits = math.radians(modifier.yaw), math.radians(modifier.pitch)
    whole = _look(joints, bone, target, front, glm.dvec3(*modifier.eye), frame, limits)
    for joint in reversed(chain[1:]):
        joints.rotate(joint, glm.slerp(NO_TURN, whole, (1.0 - modifier.share) / (len(chain) - 1)))
    joints.rotate(bone, _look(joints, bone, target, front, glm.dvec3(*modifier.eye), frame, limits))


def _look(
    joints: PosedJoints, bone: int, target: glm.dvec3, front: glm.dvec3, eye: glm.dvec3, frame: glm.dmat3,
    limits: tuple[float, float],
) -> glm.dquat:  # fmt: skip
    """Returns the rotation of a bone that turns the ray from the eye along `front` to a target, within limits."""
    ahead, offset = joints.orientation(bone) * front, joints.orientation(bone) * eye
    way = target - joints.position(bone)
    # The point of the ray that is as far from the bone as the target
    depth = glm.dot(offset, ahead)
    square = depth * depth + glm.dot(way, way) - glm.dot(offset, offset)
    point = offset + ahead * (math.sqrt(max(square, 0.0)) - depth)
    turn = arc(unit(point, ahead), unit(way, ahead))
    seen = glm.transpose(frame) * (turn * ahead)
    yaw, pitch = math.atan2(seen.x, seen.z), math.asin(min(max(seen.y, -1.0), 1.0))
    held = min(max(yaw, -limits[0]), limits[0]), min(max(pitch, -limits[1]), limits[1])
    if held == (yaw, pitch):
        return turn
    level = math.cos(held[1])
    limited = frame * glm.dvec3(level * math.sin(held[0]), math.sin(held[1]), level * math.cos(held[0]))
    return arc(ahead, glm.normalize(limited))


# --- following another bone or a target -----------------------------------------------------------------------------


def rolled(rest: glm.dquat, change: glm.dquat, axis: glm.dvec3) -> glm.dquat:
    """Returns a local rotation with the part of a change, in the frame of the joint, that is about an axis.

    Source: VRMC_node_constraint 1.0, roll constraint.
    """
    return rest * glm.conjugate(arc(axis, glm.normalize(change * axis))) * change


def aimed(above: glm.dquat, rest: glm.dquat, axis: glm.dvec3, direction: glm.dvec3) -> glm.dquat:
    """Returns a local rotation that points an axis in a direction; `above` is the orientation of the parent.

    Source: VRMC_node_constraint 1.0, aim constraint.
    """
    return glm.conjugate(above) * arc(glm.normalize(above * rest * axis), direction) * above * rest


def _changes(joints: PosedJoints, rest: RestPose, joint: int, source: int) -> tuple[glm.dquat, glm.dquat]:
    """Returns the rotation of a source from its bind pose, in its own frame and in the frame of another joint."""
    own = glm.conjugate(rest.turn(source)) * joints.turn(source)
    into = glm.conjugate(rest.turn(joint)) * rest.turn(source)
    return own, into * own * glm.conjugate(into)


def _axis(rest: RestPose, joint: int, axis: BoneAxis) -> glm.dvec3:
    return rest.along(joint) if axis is BoneAxis.AUTO else glm.dvec3(*UNIT[axis])


def _change(modifier: Follower, joints: PosedJoints, around: Surroundings, joint: int) -> glm.dquat:
    rest = around.rest
    if not modifier.target:
        return _changes(joints, rest, joint, joints.skeleton.index(modifier.source))[isinstance(modifier, CopyRoll)]
    wanted = orientation_of(around.targets[modifier.target]) * rest.orientation(joint)
    return glm.conjugate(joints.orientation(joints.parent(joint)) * rest.turn(joint)) * wanted


def orientation_of(matrix: glm.dmat4) -> glm.dquat:
    """Returns the rotation of an affine matrix without shear."""
    x, y, z = (unit(glm.dvec3(matrix[column]), glm.dvec3(0.0)) for column in range(3))
    is_rotation = glm.dot(glm.cross(x, y), z) > 0.5
    return glm.normalize(glm.quat_cast(glm.dmat3(x, y, z))) if is_rotation else NO_TURN


def copy_rotation(modifier: CopyRotation, joints: PosedJoints, around: Surroundings) -> None:
    joint = joints.skeleton.index(modifier.bone)
    joints.set_turn(joint, around.rest.turn(joint) * _change(modifier, joints, around, joint))


def copy_roll(modifier: CopyRoll, joints: PosedJoints, around: Surroundings) -> None:
    joint = joints.skeleton.index(modifier.bone)
    change = _change(modifier, joints, around, joint)
    joints.set_turn(joint, rolled(around.rest.turn(joint), change, _axis(around.rest, joint, modifier.axis)))


def aim(modifier: Aim, joints: PosedJoints, around: Surroundings) -> None:
    joint, rest = joints.skeleton.index(modifier.bone), around.rest
    at = (
        glm.dvec3(around.targets[modifier.target][3])
        if modifier.target
        else joints.position(joints.skeleton.index(modifier.source))
    )
    way, above = at - joints.position(joint), joints.orientation(joints.parent(joint))
    if glm.length(way) > 0.0:
        axis = _axis(rest, joint, modifier.axis)
        joints.set_turn(joint, aimed(above, rest.turn(joint), axis, unit(way, axis)))


def constrain(constraint: Constraint, joints: PosedJoints, rest: RestPose) -> None:
    """Applies a constraint of a file."""
    joint, bind = constraint.joint, rest.turn(constraint.joint)
    axis = unit(glm.dvec3(*constraint.axis), glm.dvec3(1.0, 0.0, 0.0))
    own, into = _changes(joints, rest, joint, constraint.source)
    if constraint.type is ConstraintType.ROTATION:
        turn = bind * own
    elif constraint.type is ConstraintType.ROLL:
        turn = rolled(bind, into, axis)
    else:
        above, way = (
            joints.orientation(joints.parent(joint)),
            joints.position(constraint.source) - joints.position(joint),
        )
        turn = aimed(above, bind, axis, unit(way, glm.normalize(above * bind * axis)))
    joints.set_turn(joint, glm.slerp(bind, glm.normalize(turn), min(max(constraint.weight, 0.0), 1.0)))


# --- limits and twist -----------------------------------------------------------------------------------------------


def limit_rotation(modifier: LimitRotation, joints: PosedJoints, around: Surroundings) -> None:
    joint = joints.skeleton.index(modifier.bone)
    axis, bind = _axis(around.rest, joint, modifier.axis), around.rest.turn(joint)
    change = glm.conjugate(bind) * joints.turn(joint)
    twist = twist_angle(change, axis)
    swing = arc(axis, glm.normalize(change * axis))
    angle = 2.0 * math.atan2(math.hypot(swing.x, swing.y, swing.z), swing.w)
    largest = math.radians(modifier.swing)
    lowest, highest = sorted((math.radians(modifier.twist_min), math.radians(modifier.twist_max)))
    if angle > largest:
        swing = glm.slerp(NO_TURN, swing, largest / angle)
    if angle > largest or not lowest <= twist <= highest:
        joints.set_turn(joint, bind * swing * glm.angleAxis(min(max(twist, lowest), highest), axis))


def twist_distribution(modifier: TwistDistribution, joints: PosedJoints, around: Surroundings) -> None:
    rest = around.rest
    bone = joints.skeleton.index(modifier.bone)
    limb = rest.next(bone)
    for joint in twist_bones(modifier, rest):
        parent = joints.parent(joint)
        if parent == bone and limb >= 0:
            span, change = rest.position(limb), glm.conjugate(rest.turn(bone)) * joints.turn(bone)
        elif parent >= 0 and parent == joints.parent(bone):
            span, change = rest.position(bone), joints.turn(bone) * glm.conjugate(rest.turn(bone))
        else:
            continue
        size = glm.dot(span, span)
        if size > 0.0:
            share = min(max(glm.dot(rest.position(joint), span) / size, 0.0), 1.0)
            axis = glm.normalize(span)
            # Bones below the twisting one undo the part that the limb before them does not have.
            angle = twist_angle(change, axis) * (share - 1.0 if parent == bone else share)
            joints.set_turn(joint, glm.angleAxis(angle, axis) * rest.turn(joint))


def twist_bones(modifier: TwistDistribution, rest: RestPose) -> list[int]:
    names, find = rest.skeleton.names, rest.skeleton.find
    bone = rest.skeleton.index(modifier.bone)
    if modifier.twist_bones.strip():
        named = (find(name.strip()) for name in modifier.twist_bones.split(";"))
        return [joint for joint in named if joint is not None and joint != bone]
    near = [
        *rest.children(bone),
        *(rest.children(int(rest.skeleton.parents[bone])) if rest.skeleton.parents[bone] >= 0 else []),
    ]
    return [one for one in near if one != bone and any(word in names[one].lower() for word in ("twist", "roll"))]


def arm_space(modifier: ArmSpace, joints: PosedJoints, around: Surroundings, body: Mapping[str, int]) -> None:
    """Turns the arms of a human body, whose joints are `body`; arms that it does not have stay."""
    chest = next((body[bone] for bone in (*reversed(SPINE), "hips") if bone in body), -1)
    front = joints.orientation(chest) * glm.conjugate(around.rest.orientation(chest)) * around.front
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        arm = body.get(f"{side}UpperArm")
        if arm is not None:
            joints.rotate(arm, glm.angleAxis(sign * math.radians(modifier.angle), front))


Function = Callable[[Any, PosedJoints, Surroundings], None]

FUNCTIONS: Mapping[type[Modifier], Function] = {
    TwoBoneIK: two_bone_ik,
    LookAt: look_at,
    CopyRotation: copy_rotation,
    CopyRoll: copy_roll,
    Aim: aim,
    LimitRotation: limit_rotation,
    TwistDistribution: twist_distribution,
}
"""Functions of modifiers that need no human body; foot planting has its own module."""
