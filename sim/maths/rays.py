"""Points near rays."""

import numpy as np
import numpy.typing as npt


def nearest_to_ray(points: npt.ArrayLike, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
    """Index of the point (N, 3) nearest to the line through `origin` along `direction`, shape (3,) each."""
    along = np.asarray(direction) / np.linalg.norm(direction)
    offsets = np.asarray(points, np.float64) - np.asarray(origin)
    return int(np.argmin(np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)))
