"""Hair of the sample figure as a distance function: a short cut, swept up from a parting."""

import numpy as np

from resources.samples.figure_body import HEAD_SCALE, head_from_model
from resources.samples.sdf import (
    Distances,
    Points,
    capsule,
    ellipsoid,
    mirrored,
    plane,
    smooth_cut,
    smooth_intersection,
    smooth_union,
)


def hair(points: Points) -> Distances:
    """Closed cap around the skull, its lower side inside the head."""
    p = head_from_model(points)
    shape = ellipsoid(p, (0.0, 1.676, -0.014), (0.0865, 0.0965, 0.1055))
    quiff = capsule(p, (-0.030, 1.742, 0.050), (0.040, 1.752, 0.046), 0.026, 0.031)
    shape = smooth_union(shape, quiff, 0.045)
    shape = shape + _locks(p)
    return _trimmed(mirrored(p), shape) * HEAD_SCALE


def strand(p: Points) -> Distances:
    """Angle about the crown's whorl [rad], constant along a strand; points in the frame of the head."""
    offset = p - np.array([0.0, 1.672, -0.012])
    whorl = np.array([0.10, 0.62, -0.78])
    ahead = np.array([0.0, 0.78, 0.62])
    side = np.array([0.99, -0.06, 0.08])
    angle: Distances = np.arctan2((offset * side).sum(axis=1), (offset * ahead).sum(axis=1))
    along = (offset * whorl).sum(axis=1)
    spiral: Distances = angle + 2.2 * along
    return spiral


def _locks(p: Points) -> Distances:
    """Ridges along the strands over the top, fading towards the neck."""
    across = strand(p)
    height = np.clip((p[:, 1] - 1.67) / 0.06, 0.0, 1.0) * np.clip((p[:, 2] + 0.065) / 0.06, 0.0, 1.0)
    ridges: Distances = height * (0.0024 * np.sin(11.0 * across) + 0.0012 * np.sin(23.0 * across + 1.0))
    return ridges


def _trimmed(q: Points, shape: Distances) -> Distances:
    """Hairline: forehead, temples, around the ears, neck."""
    forehead = plane(q, (0.0, 1.696, 0.060), (0.0, -0.85, 0.53))
    shape = smooth_intersection(shape, forehead, 0.012)
    temple = plane(q, (0.060, 1.665, 0.034), (0.10, -0.30, 0.94))
    top = plane(q, (0.0, 1.706, 0.0), (0.0, -1.0, 0.0))
    shape = smooth_intersection(shape, smooth_union(temple, top, 0.02), 0.012)
    sideburn = plane(q, (0.07, 1.622, 0.0), (0.0, -1.0, 0.0))
    neck = plane(q, (0.0, 1.583, -0.060), (0.0, -0.86, -0.50))
    behind = plane(q, (0.0, 1.583, -0.034), (0.0, 0.0, 1.0))
    low = smooth_union(np.maximum(neck, behind), sideburn, 0.012)
    shape = smooth_intersection(shape, low, 0.012)
    ear = ellipsoid(q, (0.088, 1.626, -0.010), (0.030, 0.034, 0.026))
    return smooth_cut(shape, ear, 0.010)
