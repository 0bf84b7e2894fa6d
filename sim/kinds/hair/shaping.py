from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.hair.groom import SHORTEST, TURN_MAX, Groom
from sinew.sim.kinds.hair.groom_edits import FACTOR_MAX, EditedGuides, GroomEdits, packed, unpacked
from sinew.sim.kinds.hair.roots import RootSurface, nearest_guides, root_places, unit
from sinew.sim.maths.arrays import Float64

RISE = 0.02
"""Least normal component of the first edge of a shaped strand."""

_SAME = 1e-6
"""Fraction of the extent; roots closer than this are the same."""


def chained(targets: Float64, former: Float64, segments: Float64) -> Float64:
    """Returns unit edges of strands whose points approach targets; joints turn by no more than `TURN_MAX`.

    Args:
        targets: Relative to the roots, in their frames [m], shape (N, n + 1, 3).
        former: Edges to keep where a target is undefined, shape (N, n, 3).
        segments: Lengths [m], shape (N,).
    """
    out = np.empty_like(former)
    knot = np.zeros((len(former), 3))
    for j in range(former.shape[1]):
        along = unit(targets[:, j + 1] - knot, former[:, j])
        out[:, j] = _turned(along, out[:, j - 1]) if j else lifted(along)
        knot += segments[:, None] * out[:, j]
    return out


def lifted(edges: Float64) -> Float64:
    """Turns first edges (N, 3) away from the skin, whose normal is z."""
    low = edges[:, 2] < RISE
    level = unit(edges * (1.0, 1.0, 0.0), np.array([1.0, 0.0, 0.0]))
    up = level * np.sqrt(1.0 - RISE**2) + np.array([0.0, 0.0, RISE])
    return np.where(low[:, None], up, edges)


def bounded(edges: Float64) -> Float64:
    """Limits edges (N, n, 3) so that joints turn by `TURN_MAX` at most."""
    out = edges.copy()
    for j in range(1, edges.shape[1]):
        out[:, j] = _turned(edges[:, j], out[:, j - 1])
    return out


def _turned(edges: Float64, before: Float64) -> Float64:
    cosine = np.sum(edges * before, axis=1)
    far = cosine < np.cos(TURN_MAX) - 1e-12
    if not far.any():
        return edges
    aside = edges - cosine[:, None] * before
    other = np.where(np.abs(before[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    other = unit(other - np.sum(other * before, axis=1, keepdims=True) * before)
    most = np.cos(TURN_MAX) * before + np.sin(TURN_MAX) * unit(aside, other)
    return np.where(far[:, None], most, edges)


def resampled(edges: Float64, count: int, share: npt.ArrayLike = 1.0) -> Float64:
    """Returns unit edges (N, count, 3) along the first share, (N,) or one for all, of strands (N, n, 3)."""
    strands, n, _ = edges.shape
    knots = np.zeros((strands, n + 1, 3))
    np.cumsum(edges, axis=1, out=knots[:, 1:])
    arc = np.broadcast_to(share, strands)[:, None] * n * np.arange(count + 1) / count
    first = np.minimum(arc.astype(np.intp), n - 1)
    part, rows = (arc - first)[..., None], np.arange(strands)[:, None]
    places = knots[rows, first] + part * edges[rows, first]
    return unit(np.diff(places, axis=1), edges[:, :1])


# --- edits ----------------------------------------------------------------------------------------------------------


def edited(groom: Groom, surface: RootSurface, edits: tuple[GroomEdits, ...]) -> Groom:
    if not edits:
        return groom
    cached = unpacked(edits[0])
    places = _own_places(groom, surface)
    frames, linear = groom.frames, surface.world_from_model[:3, :3]
    if cached.edges.shape[1] != groom.segments:
        cached = replace(cached, edges=bounded(resampled(cached.edges, groom.segments)))
    stored = unit(cached.edges @ linear.T)
    row_of = np.full(len(cached.places), -1)
    row_of[cached.numbers] = np.arange(len(cached.numbers))
    guides, weights = _nearest_cached(places, cached)
    rows = row_of[guides]
    touched = np.flatnonzero(((rows >= 0) & (weights > 0.0)).any(axis=1))
    guides, weights, rows = guides[touched], weights[touched], rows[touched]
    grown = np.einsum("nxy,nky->nkx", frames[touched], groom.edges[touched])
    mean, factor = np.zeros_like(grown), np.zeros(len(touched))
    for rank in range(rows.shape[1]):
        is_cached, share = rows[:, rank] >= 0, weights[:, rank]
        mean += share[:, None, None] * np.where(is_cached[:, None, None], stored[rows[:, rank]], grown)
        factor += share * np.where(is_cached, cached.factors[rows[:, rank]], 1.0)
    shaped = np.einsum("nyx,nky->nkx", frames[touched], unit(mean, grown))
    edges, lengths = groom.edges.copy(), groom.lengths.copy()
    edges[touched] = bounded(shaped)
    lengths[touched] = np.maximum(lengths[touched] * factor, SHORTEST)
    return replace(groom, edges=edges, lengths=lengths)


def edits_of(grown: Groom, shaped: Groom, surface: RootSurface) -> tuple[GroomEdits, ...]:
    differs = (grown.edges != shaped.edges).any(axis=(1, 2)) | (grown.lengths != shaped.lengths)
    numbers = np.flatnonzero(differs)
    if not len(numbers):
        return ()
    model_from_world = np.linalg.inv(surface.world_from_model[:3, :3])
    world = np.einsum("nxy,nky->nkx", shaped.frames[numbers], shaped.edges[numbers])
    factors = np.clip(shaped.lengths[numbers] / grown.lengths[numbers], 1e-6, FACTOR_MAX)
    edges = unit(world @ model_from_world.T)
    return (packed(EditedGuides(_own_places(shaped, surface), numbers, factors, edges)),)


def _own_places(groom: Groom, surface: RootSurface) -> Float64:
    return root_places(replace(surface, world_from_model=np.eye(4)), groom.roots)


def _nearest_cached(places: Float64, cached: EditedGuides) -> tuple[npt.NDArray[np.intp], Float64]:
    """Returns numbers (G, k) and weights of stored guides around points (G, 3); only one for the same root."""
    near = _SAME * max(float(np.ptp(cached.places, axis=0).max()), 1e-9)
    if len(places) == len(cached.places) and (np.abs(places - cached.places) <= near).all():
        return np.arange(len(places))[:, None], np.ones((len(places), 1))
    guides, weights = nearest_guides(places, cached.places)
    same = np.linalg.norm(places - cached.places[guides[:, 0]], axis=1) <= near
    weights[same] = (1.0, 0.0, 0.0)
    return guides, weights
