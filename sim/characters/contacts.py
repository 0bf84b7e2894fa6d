import numpy as np

from sinew.sim.maths.arrays import Bool, Float64

FLOOR_PERCENTILE = 2.0
"""Percentile of the height of a foot that counts as its height on the floor [%]."""

CONTACT_SPEED, CONTACT_HEIGHT, CONTACT_TIME = 0.25, 0.06, 0.1
"""Contact: a foot is below this speed [legs/s] and height over the floor [legs], for at least this time [s]."""


def contacts(points: Float64, step: float, leg: float, up: int, floor: float) -> list[tuple[int, int]]:
    """Returns first and last frame of each contact of a foot.

    Args:
        points: Positions of the foot at equal intervals, shape (F, 3).
        step: Time between two frames [s].
        leg: Length of the leg.
        up: Index of the axis that points up.
        floor: Height of the foot on the floor.
    """
    if len(points) < 2:
        return []
    speed = np.linalg.norm(np.gradient(points, step, axis=0), axis=-1)
    stands = (speed < CONTACT_SPEED * leg) & (points[:, up] - floor < CONTACT_HEIGHT * leg)
    return [(first, last) for first, last in spans_of(stands) if (last - first) * step >= CONTACT_TIME]


def spans_of(stands: Bool) -> list[tuple[int, int]]:
    """Returns first and last frame of each row of frames in which a foot stands."""
    edges = np.flatnonzero(np.diff(stands, prepend=False, append=False))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]
