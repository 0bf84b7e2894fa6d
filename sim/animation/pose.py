"""The result of evaluating a clip: what skinning, drawing and picking read."""

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.model import LocalPose

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Warps:
    """What deformers do to the bind pose at one moment, before joints move it.

    Attributes:
        functions: Names of D functions, in order.
        values: What each takes, shape (D, 12).
        bones: Joint whose weights say where each acts, or -1 for everywhere; length D.
        light: What the surface gives off by itself, linear RGB, shape (3,).
    """

    functions: tuple[str, ...]
    values: Float64
    bones: tuple[int, ...]
    light: Float64

    def same(self, other: "Warps") -> bool:
        names = (self.functions, self.bones) == (other.functions, other.bones)
        values = np.array_equal(self.values, other.values) and np.array_equal(self.light, other.light)
        return names and values


class Pose(msgspec.Struct, frozen=True, eq=False):
    """All joints at one moment, in file space, and how the bind pose is deformed before they move it.

    A record of msgspec is made eight times as fast as a frozen dataclass, and poses are made by the thousand.

    Attributes:
        local: Local transforms of the joints.
        model_from_joint: Where each joint is, shape (B, 4, 4).
        palette: What each entry of the skin's palette, as a rule each joint, does to a vertex of the bind pose,
            `model_from_joint @ bind_from_model`, shape (P, 4, 4).
        centres: Where their joints were in the bind pose, shape (P, 3): the points that their scale keeps.
        warps: What deformers do; None where there are none.
    """

    local: LocalPose
    model_from_joint: Float64
    palette: Float64
    centres: Float64
    warps: Warps | None = None

    def same_shape(self, other: "Pose") -> bool:
        """Whether morph targets and deformers act alike in both."""
        mine, theirs = self.warps, other.warps
        alike = mine is theirs or (mine is not None and theirs is not None and mine.same(theirs))
        return alike and np.array_equal(self.local.weights, other.local.weights)
