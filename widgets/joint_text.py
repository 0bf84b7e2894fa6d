"""Facts of one joint as text: whose child it is, how much it moves, and where it is in the current frame."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.maths import quaternion, transform
from widgets.protocols import PoseLike

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JointPlacement:
    """A transform in parts."""

    position: Float64  # shape (3,)
    orientation: Float64  # Unit quaternion (x, y, z, w), shape (4,)
    scale: Float64  # shape (3,)

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Label and text of each part."""
        return (
            ("Position", vector_text(self.position, unit=" m")),
            ("Rotation", vector_text(quaternion.to_euler_degrees(self.orientation), digits=2, unit="°")),
            ("Quaternion", vector_text(self.orientation, digits=3)),
            ("Scale", vector_text(self.scale)),
        )


def local_placement(pose: PoseLike, joint: int, unit_scale: float = 1.0) -> JointPlacement:
    """Transform of a joint relative to its parent, of a model in units of so many metres."""
    local = pose.local
    return JointPlacement(unit_scale * local.positions[joint], local.orientations[joint], local.scales[joint])


def world_placement(pose: PoseLike, joint: int, world_from_model: Float64 | None) -> JointPlacement:
    """Transform of a joint in the world, or in model space where the model's placement is not given."""
    matrix = pose.model_from_joint[joint]
    placed = matrix if world_from_model is None else world_from_model @ matrix
    return JointPlacement(*transform.decompose(placed))


def vector_text(values: Float64, digits: int = 4, unit: str = "") -> str:
    """Components with a fixed number of digits; no negative zeros."""
    rounded = np.round(values, digits) + 0.0
    if unit.startswith(" "):  # once, after all
        return "  ".join(f"{value:.{digits}f}" for value in rounded) + unit
    return "  ".join(f"{value:.{digits}f}{unit}" for value in rounded)


def joint_index(model: CharacterModel, bone: str) -> int | None:
    """Index of a joint by name, or None where the model has none of that name."""
    names = model.skeleton.names if model.skeleton is not None else ()
    return names.index(bone) if bone in names else None
