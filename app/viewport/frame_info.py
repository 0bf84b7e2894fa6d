"""What a picture of the viewport showed, and numbers that belong to it."""

import math
from dataclasses import dataclass

import numpy as np

from sim.assets.model import Bounds
from sim.characters.comparison import ComparisonStatistics
from sim.scene.clock import FrameRate
from sim.scene.vectors import Vec3


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """What the last picture showed, for the overlays and the timeline.

    Attributes:
        rate: How drawing goes.
        comparison: Statistics of the compared model, if any.
        difference_scale: Upper end of the difference ramp [m].
        unit_scale: Metres per unit of the compared model.
        frame: Number of the sample that tells its cost, once that is known; None where it is not measured.
    """

    rate: FrameRate
    comparison: ComparisonStatistics | None
    difference_scale: float
    frame: int | None = None
    unit_scale: float = 1.0


def with_point(box: Bounds | None, point: Vec3) -> Bounds:
    """Smallest box that also holds a point."""
    if box is None:
        return Bounds(np.array(point), np.array(point))
    return Bounds(np.minimum(box.lo, point), np.maximum(box.hi, point))


def nice_ceiling(value: float) -> float:
    """Smallest of 1, 2, 5 times a power of ten that is not below a positive value; a scale people can read."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value)
