from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import world_from_model
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderShape, ColliderState
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import node_matrix

Float64 = npt.NDArray[np.float64]

SIZES: dict[ColliderShape, tuple[float, float, float]] = {
    ColliderShape.PLANE: (0.0, 0.0, 0.0),
    ColliderShape.SPHERE: (0.7, 0.0, 0.0),
    ColliderShape.ELLIPSOID: (1.3, 0.4, 0.7),
    ColliderShape.CAPSULE: (0.3, 0.8, 0.0),
    ColliderShape.BOX: (0.9, 0.2, 0.5),
}
SOLIDS = [shape for shape in RIGID_SHAPES if shape is not ColliderShape.PLANE]


@dataclass
class Posed:
    model: CharacterModel
    animated_pose: Pose | None
    world_from_model: Float64

    @property
    def pose(self) -> Pose | None:
        return self.animated_pose

    def model_from(self, joints: npt.NDArray[np.intp]) -> Float64:
        assert self.animated_pose is not None
        return self.animated_pose.model_from_joint.take(joints, 0)

    def is_turned(self, _joint: int) -> bool:
        return False


def posed(node: Node, model: CharacterModel, time: float) -> Posed:
    pose = evaluate_pose(model, model.clips[0], time)
    return Posed(model, pose, world_from_model(node.settings, model, node_matrix(node.transform)))


def placed(position: npt.ArrayLike, axis: npt.ArrayLike = (0.0, 1.0, 0.0), angle: float = 0.0) -> Float64:
    """A rigid placement (4, 4), turned by `angle` [rad]."""
    return compose(np.asarray(position, dtype=np.float64), quaternion.from_axis_angle(axis, angle), np.ones(3))


def collider(
    shape: ColliderShape, start: Float64 | None = None, end: Float64 | None = None, **surface: float
) -> ColliderState:
    first = np.eye(4) if start is None else start
    return ColliderState(shape, np.array(SIZES[shape]), first, first if end is None else end, **surface)
