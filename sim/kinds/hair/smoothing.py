"""Strands of files in two parts: curves that guides can follow, and the finer detail of what is drawn along them.

Joints that are bent sharply at rest do not come to rest where strands are stiff or substeps are few.
"""

import numpy as np
import numpy.typing as npt

from sim.assets.strands import resampled
from sim.kinds.hair.groom import TURN_MAX
from sim.kinds.hair.roots import unit

Float64 = npt.NDArray[np.float64]

_TRIED = 0.6
_ROUNDS, _PASSES = 60, 4
"""So many times so many bring sixteen knots onto a line."""


def smooth_curves(knots: Float64) -> tuple[Float64, Float64]:
    """Curves (N, K, 3) near strands (N, K, 3), in equal chords no joint of which turns by more than `TURN_MAX`.

    Root and tip stay.  Strands that do not turn more are their own curves.

    Returns:
        The curves, and the lengths of their chords, shape (N,).
    """
    curves = knots.copy()
    chords = np.linalg.norm(knots[:, 1] - knots[:, 0], axis=1)
    rows = np.flatnonzero(largest_turns(curves) > TURN_MAX)
    for _ in range(_ROUNDS):
        if not len(rows):
            break
        inside = curves[rows]
        for _ in range(_PASSES):
            inside[:, 1:-1] += 0.25 * (inside[:, 2:] - 2.0 * inside[:, 1:-1] + inside[:, :-2])
        curves[rows] = inside
        # Joints turn more once the chords are equal.
        tried = np.flatnonzero(largest_turns(inside) <= _TRIED * TURN_MAX)
        equal, sizes = resampled(inside[tried], knots.shape[1] - 1)
        settled = largest_turns(equal) <= TURN_MAX
        curves[rows[tried[settled]]], chords[rows[tried[settled]]] = equal[settled], sizes[settled]
        rows = np.delete(rows, tried[settled])
    # A strand that ends where it begins has no line to come to: straight on from its root it has.
    curves[rows], chords[rows] = _straight(knots[rows])
    return curves, chords


def largest_turns(knots: Float64) -> Float64:
    """Largest turn at a joint of strands (N, K, 3) [rad], shape (N,)."""
    edges = unit(np.diff(knots, axis=1))
    cosines = np.sum(edges[:, 1:] * edges[:, :-1], axis=2)
    found: Float64 = np.arccos(np.clip(cosines, -1.0, 1.0)).max(axis=1, initial=0.0)
    return found


def details(knots: Float64, curves: Float64, tangents: Float64, normals: Float64) -> Float64:
    """What strands have beside their curves, both (N, K, 3), shape (N, K, 3) [m]: along, to the side, and across these.

    Args:
        knots, curves: Strands and their curves, at rest.
        tangents, normals: Of the frames of their roots, shape (N, 3); the sides are those of shaders/hair/expand.glsl.
    """
    along = unit(np.diff(curves, axis=1, prepend=2.0 * curves[:, :1] - curves[:, 1:2]), normals[:, None])
    side = unit(np.cross(along, tangents[:, None]), np.broadcast_to(normals[:, None], along.shape))
    away = knots - curves
    return np.stack([np.sum(away * one, axis=2) for one in (along, side, np.cross(along, side))], axis=2)


def _straight(knots: Float64) -> tuple[Float64, Float64]:
    """Straight strands as long as the ways of these, from root towards tip, or upwards."""
    count = knots.shape[1] - 1
    chords = np.linalg.norm(np.diff(knots, axis=1), axis=2).mean(axis=1)
    ahead = unit(knots[:, -1] - knots[:, 0], np.array([0.0, 1.0, 0.0]))
    return knots[:, :1] + np.arange(count + 1)[:, None] * (chords[:, None] * ahead)[:, None], chords
