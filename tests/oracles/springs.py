"""Spring bones in double precision, node by node as the text of VRMC_springBone 1.0 describes them.

Every joint is a node with a local transform; the simulation replaces local rotations.  `center` keeps the tips in the
space of a node.  Nothing here shares code with the program but quaternions.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.rig import Spring, SpringCollider, SpringColliderShape, SpringJoint
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose

Float64 = npt.NDArray[np.float64]
STEP = 1.0 / 60.0


def shortest_arc(a: Float64, b: Float64) -> Float64:
    cross, dot = np.cross(a, b), float(a @ b)
    if dot < -1.0 + 1e-12:
        aside = np.cross(a, [1.0, 0.0, 0.0] if abs(a[0]) < 0.6 else [0.0, 1.0, 0.0])
        return np.append(aside / np.linalg.norm(aside), 0.0)
    return quaternion.normalised(np.append(cross, 1.0 + dot))


def unit(v: Float64) -> Float64:
    return v / np.linalg.norm(v)


def orientation_of(matrix: Float64) -> Float64:
    return quaternion.from_matrix(matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0))


class SpringOracle:
    """Simulates the springs of a skeleton.

    Args:
        parents: Parent of each joint, or -1; parents come first.
        springs: The springs; lengths in units of the model.
        scale: Metres per unit of the model, for radii.
        substeps: Number of calls of `step` that make 1/60 s.
    """

    def __init__(
        self, parents: Sequence[int], springs: Sequence[Spring], colliders: Sequence[SpringCollider] = (), scale=1.0,
        substeps=1,
    ) -> None:  # fmt: skip
        self.parents, self.colliders, self.scale, self.substeps = parents, colliders, scale, substeps
        self.joints: list[tuple[SpringJoint, Spring]] = sorted(
            ((joint, spring) for spring in springs for joint in spring.joints), key=lambda pair: pair[0].joint
        )
        self.tips: dict[int, Float64] = {}
        self.previous: dict[int, Float64] = {}
        self.touches = 0

    def _place(self, locals_: list[Float64], placement: Float64) -> list[Float64]:
        world: list[Float64] = []
        for joint, parent in enumerate(self.parents):
            world.append((placement if parent < 0 else world[parent]) @ locals_[joint])
        return world

    def _tip(self, joint: SpringJoint, world: list[Float64]) -> Float64:
        if joint.tail >= 0:
            return world[joint.tail][:3, 3]
        return (world[joint.joint] @ np.append(joint.tail_offset, 1.0))[:3]

    def step(self, positions: Float64, orientations: Float64, scales: Float64, placement: Float64) -> list[Float64]:
        """World matrices of all joints after a step; the first call only puts all at rest."""
        locals_ = list(compose(positions, orientations, scales))
        animated = self._place(locals_, placement)
        if not self.tips:
            for joint, spring in self.joints:
                tip = self.to_center(spring, animated, self._tip(joint, animated))
                self.tips[joint.joint] = self.previous[joint.joint] = tip
            return animated
        for joint, spring in self.joints:
            world = self._place(locals_, placement)
            here, parent = joint.joint, self.parents[joint.joint]
            head = world[here][:3, 3]
            rest_tip = self._tip(joint, animated)
            length = np.linalg.norm(rest_tip - animated[here][:3, 3])
            axis = unit(quaternion.rotate(quaternion.conjugate(orientation_of(animated[here])),
                                          rest_tip - animated[here][:3, 3]))  # fmt: skip
            above = orientation_of(placement if parent < 0 else world[parent])
            carried = quaternion.multiply(above, orientations[here])
            pull = quaternion.rotate(carried, axis)
            tip, previous = (self._to_world(spring, animated, state[here]) for state in (self.tips, self.previous))
            force = pull * joint.stiffness + np.asarray(joint.gravity)
            kept = (1.0 - joint.drag) ** (1.0 / self.substeps)
            following = tip + (tip - previous) * kept + force * (STEP / self.substeps**2)
            following = head + length * unit(following - head)
            for number in spring.colliders:
                normal, distance = self._contact(self.colliders[number], animated, following, joint.radius * self.scale)
                if distance < 0.0:
                    self.touches += 1
                    following = head + length * unit(following - distance * normal - head)
            turned = quaternion.multiply(shortest_arc(pull, unit(following - head)), carried)
            own = quaternion.multiply(quaternion.conjugate(above), turned)
            locals_[here] = compose(positions[here], own, scales[here])
            self.previous[here] = self.to_center(spring, animated, tip)
            self.tips[here] = self.to_center(spring, animated, following)
        return self._place(locals_, placement)

    def _contact(
        self, collider: SpringCollider, world: list[Float64], point: Float64, radius: float
    ) -> tuple[Float64, float]:
        frame = world[collider.joint]
        start = (frame @ np.append(collider.offset, 1.0))[:3]
        size = collider.radius * self.scale
        if collider.shape is SpringColliderShape.PLANE:
            normal = unit(quaternion.rotate(orientation_of(frame), np.asarray(collider.tail)))
            return normal, float((point - start) @ normal) - radius
        nearest = start
        if collider.shape is SpringColliderShape.CAPSULE:
            along = (frame @ np.append(collider.tail, 1.0))[:3] - start
            nearest = start + along * np.clip((point - start) @ along / (along @ along), 0.0, 1.0)
        away = point - nearest
        distance = float(np.linalg.norm(away))
        if collider.is_inside:
            return -away / distance, size - radius - distance
        return away / distance, distance - size - radius

    @staticmethod
    def to_center(spring: Spring, world: list[Float64], point: Float64) -> Float64:
        if spring.center < 0:
            return point
        frame = world[spring.center]
        return quaternion.rotate(quaternion.conjugate(orientation_of(frame)), point - frame[:3, 3])

    @staticmethod
    def _to_world(spring: Spring, world: list[Float64], point: Float64) -> Float64:
        if spring.center < 0:
            return point
        frame = world[spring.center]
        return quaternion.rotate(orientation_of(frame), point) + frame[:3, 3]
