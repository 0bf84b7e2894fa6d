import math

import msgspec
from pyglm import glm

from sinew.sim.animation.evaluate import assembled
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel, LocalPose, Skeleton
from sinew.sim.maths.arrays import Float64

SMALLEST = 1e-9
"""Minimum length of a vector with a direction, relative to the values that it is compared with."""

NO_TURN = glm.dquat(1.0, 0.0, 0.0, 0.0)


def quat(values: Float64) -> glm.dquat:
    """Returns a quaternion of an array (x, y, z, w)."""
    x, y, z, w = values.tolist()
    return glm.dquat(w, x, y, z)


def vec(values: Float64) -> glm.dvec3:
    return glm.dvec3(*values.tolist())


def unit(vector: glm.dvec3, fallback: glm.dvec3) -> glm.dvec3:
    length = glm.length(vector)
    return vector / length if length > 1e-150 else fallback


def across(direction: glm.dvec3) -> glm.dvec3:
    """Returns a unit vector perpendicular to another one."""
    axis = glm.dvec3(1.0, 0.0, 0.0) if abs(direction.x) < 0.6 else glm.dvec3(0.0, 1.0, 0.0)
    return glm.normalize(glm.cross(direction, axis))


def arc(one: glm.dvec3, other: glm.dvec3) -> glm.dquat:
    """Returns the shortest rotation from a unit vector to another one."""
    w = 1.0 + glm.dot(one, other)
    axis = glm.cross(one, other) if w > 1e-14 else across(one)
    return glm.normalize(glm.dquat(max(w, 0.0), axis.x, axis.y, axis.z))


def twist_angle(turn: glm.dquat, axis: glm.dvec3) -> float:
    """Returns the rotation of a quaternion about a unit axis [rad], -π to π."""
    along = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z
    return math.remainder(2.0 * math.atan2(along, turn.w), math.tau)


class PosedJoints:
    """Local rotations and positions of joints, and their places in the model, computed on demand.

    Orientations are products of local rotations, without the shear that uneven scales of parents cause.
    """

    def __init__(self, skeleton: Skeleton, local: LocalPose) -> None:
        self.skeleton, self._local = skeleton, local
        self._turns: dict[int, glm.dquat] = {}
        self._positions: dict[int, glm.dvec3] = {}
        self._frames: dict[int, tuple[glm.dmat4, glm.dquat]] = {}
        self._unchanged: dict[int, tuple[glm.dvec3, glm.dquat, glm.dvec3]] = {}

    def copy(self) -> "PosedJoints":
        twin = PosedJoints(self.skeleton, self._local)
        twin._turns, twin._positions, twin._frames = self._turns.copy(), self._positions.copy(), self._frames.copy()
        twin._unchanged = self._unchanged
        return twin

    def _before(self, joint: int) -> tuple[glm.dvec3, glm.dquat, glm.dvec3]:
        """Returns local position, rotation and scale without changes."""
        found, local = self._unchanged.get(joint), self._local
        if found is None:
            found = vec(local.positions[joint]), quat(local.orientations[joint]), vec(local.scales[joint])
            self._unchanged[joint] = found
        return found

    def parent(self, joint: int) -> int:
        return int(self.skeleton.parents[joint])

    def turn(self, joint: int) -> glm.dquat:
        """Returns the rotation relative to the parent."""
        return self._turns.get(joint) or self._before(joint)[1]

    def _frame(self, joint: int) -> tuple[glm.dmat4, glm.dquat]:
        chain = []
        while joint >= 0 and joint not in self._frames:
            chain.append(joint)
            joint = self.parent(joint)
        matrix, orientation = self._frames[joint] if joint >= 0 else (glm.dmat4(1.0), NO_TURN)
        for one in reversed(chain):
            position, turn, scale = self._before(one)
            position, turn = self._positions.get(one, position), self._turns.get(one, turn)
            matrix = glm.scale(glm.translate(matrix, position) * glm.mat4_cast(turn), scale)
            orientation = glm.normalize(orientation * turn)
            self._frames[one] = matrix, orientation
        return matrix, orientation

    def position(self, joint: int) -> glm.dvec3:
        """Returns the position in the model, in units of the file."""
        return glm.dvec3(self._frame(joint)[0][3])

    def orientation(self, joint: int) -> glm.dquat:
        """Returns the orientation in the model; none for the parent of a root, -1."""
        return self._frame(joint)[1]

    def set_turn(self, joint: int, turn: glm.dquat) -> None:
        self._turns[joint] = glm.normalize(turn)
        self._frames.clear()

    def rotate(self, joint: int, turn: glm.dquat) -> None:
        """Rotates a joint in the frame of the model, about itself."""
        above = self.orientation(self.parent(joint))
        self.set_turn(joint, glm.conjugate(above) * turn * above * self.turn(joint))

    def move(self, joint: int, offset: glm.dvec3) -> None:
        """Moves a joint in the frame of the model."""
        parent = self.parent(joint)
        linear = glm.dmat3(self._frame(parent)[0]) if parent >= 0 else glm.dmat3(1.0)
        if abs(glm.determinant(linear)) > 0.0:
            position = self._positions.get(joint) or self._before(joint)[0]
            self._positions[joint] = position + glm.inverse(linear) * offset
            self._frames.clear()

    def take(self, changed: "PosedJoints", weight: float) -> None:
        """Blends the joints with a changed copy; values that are not finite change nothing."""
        turns = [(joint, turn) for joint, turn in changed._turns.items() if turn is not self._turns.get(joint)]
        positions = [(joint, at) for joint, at in changed._positions.items() if at is not self._positions.get(joint)]
        if not all(math.isfinite(part) for _, value in (*turns, *positions) for part in value.to_tuple()):
            return
        for joint, turn in turns:
            self._turns[joint] = glm.normalize(glm.slerp(self.turn(joint), turn, weight)) if weight < 1.0 else turn
        for joint, at in positions:
            before = self._positions.get(joint) or self._before(joint)[0]
            self._positions[joint] = glm.mix(before, at, weight)
        self._frames.clear()

    def pose(self, model: CharacterModel, pose: Pose) -> Pose:
        """Returns the whole pose; the same object if nothing has changed."""
        if not self._turns and not self._positions:
            return pose
        orientations, positions = pose.local.orientations.copy(), pose.local.positions.copy()
        for joint, turn in self._turns.items():
            orientations[joint] = turn.x, turn.y, turn.z, turn.w
        for joint, at in self._positions.items():
            positions[joint] = at.to_tuple()
        return assembled(model, msgspec.structs.replace(pose.local, orientations=orientations, positions=positions))


class RestPose:
    """The bind pose of a skeleton, for modifiers."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales)
        self._joints = PosedJoints(skeleton, local)
        self._along: dict[int, glm.dvec3] = {}

    def turn(self, joint: int) -> glm.dquat:
        return self._joints.turn(joint)

    def orientation(self, joint: int) -> glm.dquat:
        return self._joints.orientation(joint)

    def position(self, joint: int) -> glm.dvec3:
        """Returns the position relative to the parent."""
        return vec(self.skeleton.bind_positions[joint])

    def limb(self, end: int) -> tuple[int, int, int] | None:
        """Returns the joints of a limb by its end, the first one first; None without two bones above it."""
        middle = int(self.skeleton.parents[end])
        root = int(self.skeleton.parents[middle]) if middle >= 0 else -1
        return (root, middle, end) if root >= 0 else None

    def children(self, joint: int) -> list[int]:
        return [one for one, parent in enumerate(self.skeleton.parents.tolist()) if parent == joint]

    def next(self, joint: int) -> int:
        """Returns the child most in the direction from the parent to the joint; -1 for a leaf."""
        incoming = glm.conjugate(self.turn(joint)) * self.position(joint)
        return max(self.children(joint), key=lambda one: glm.dot(self.position(one), incoming), default=-1)

    def along(self, joint: int) -> glm.dvec3:
        """Returns the direction of a bone in its own frame: to its child; for a leaf, on from its parent."""
        if joint not in self._along:
            child, incoming = self.next(joint), glm.conjugate(self.turn(joint)) * self.position(joint)
            way = self.position(child) if child >= 0 else incoming
            self._along[joint] = unit(way, unit(incoming, glm.dvec3(0.0, 1.0, 0.0)))
        return self._along[joint]
