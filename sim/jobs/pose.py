"""The result of evaluating a clip: what skinning, drawing and picking read."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import LocalPose

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pose:
    """All joints at one moment, in file space.

    Attributes:
        local: Local transforms of the joints.
        model_from_joint: Where each joint is, shape (B, 4, 4).
        palette: What each entry of the skin's palette, as a rule each joint, does to a vertex of the bind pose,
            `model_from_joint @ bind_from_model`, shape (P, 4, 4).
        centres: Where their joints were in the bind pose, shape (P, 3): the points that their scale keeps.
    """

    local: LocalPose
    model_from_joint: Float64
    palette: Float64
    centres: Float64
