"""Brushes of hair. Strands are shaped in the frames of their roots. With a mirror, each strand is brushed again at its
mirror image; the sum of both edits applies, so that mirrored strands stay mirrored.
"""

from dataclasses import dataclass, replace

import numpy as np

from sinew.sim.kinds.hair.groom import SHORTEST, Groom
from sinew.sim.kinds.hair.roots import RootSurface, unit
from sinew.sim.kinds.hair.shaping import bounded, chained, lifted, resampled
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.scene.brush import SMOOTHING, BrushStroke, Occlusion, falloff

GROWTH = 0.05
"""Part of its length that a strand gains with a dab of full strength."""

_FINE = 4
"""Samples per segment to find where a cut begins."""


@dataclass(frozen=True, slots=True, eq=False)
class RootFrames:
    """World positions (N, 3) and frames (N, 3, 3) as shown; frames of mirror images are mirrored."""

    places: Float64
    frames: Float64

    def knots(self, offsets: Float64, rows: Intp | slice = slice(None)) -> Float64:
        """Returns world positions [m] of knots at offsets (M, K, 3) in the frames of roots."""
        found: Float64 = self.places[rows, None] + np.einsum("nxy,nky->nkx", self.frames[rows], offsets)
        return found


def mirrored(groom: Groom, surface: RootSurface, seen: RootFrames, at: int) -> RootFrames:
    """Returns mirror images in the plane x = 0 of the surface, placed relative to the shown root at index `at`.

    The surface may have moved since it was at rest: the motion of that root counts for all.
    """
    placement = surface.world_from_model
    normal = np.linalg.inv(placement[:3, :3]).T[:, 0]
    normal = normal / np.linalg.norm(normal)
    turn = seen.frames[at] @ groom.frames[at].T
    flip = np.eye(3) - 2.0 * np.outer(normal, normal)
    places = groom.places - 2.0 * ((groom.places - placement[:3, 3]) @ normal)[:, None] * normal
    return RootFrames(seen.places[at] + (places - groom.places[at]) @ turn.T, turn @ flip @ groom.frames)


class BrushedGroom:
    """A groom under a brush.

    Args:
        longest: Strands do not grow beyond these lengths [m], shape (N,).
        seen: Frames of the roots: the real ones first, then their mirror images.
    """

    def __init__(self, groom: Groom, longest: Float64, *seen: RootFrames) -> None:
        self.groom = replace(groom, edges=groom.edges.copy(), lengths=groom.lengths.copy())
        self._longest = longest
        self._offsets = _offsets(groom.edges, groom.lengths)
        self.look(None, *seen)

    def look(self, cover: Occlusion | None, *seen: RootFrames) -> None:
        """Sets moved roots; without an occlusion roots are hidden whose skin faces away."""
        self._sights = [_ScreenStrands(one, cover) for one in seen]

    def comb(self, dab: BrushStroke) -> None:
        moves = np.zeros_like(self._offsets)
        for sight in self._sights:
            seen = sight.seen
            rows, shares, scale = self._under(dab, sight)
            way = (dab.strength * shares)[..., None] * dab.moved(scale)
            moves[rows] += np.einsum("nyx,nky->nkx", seen.frames[rows], way)
        rows = np.flatnonzero(np.abs(moves).max(axis=(1, 2)) > 0.0)
        self._shape(rows, self._offsets[rows] + _spread(moves[rows]))

    def smooth(self, dab: BrushStroke) -> None:
        changes, most = np.zeros_like(self.groom.edges), np.zeros(self.groom.count)
        for sight in self._sights:
            seen = sight.seen
            rows, shares, _ = self._under(dab, sight)
            if len(rows):
                edges = np.einsum("nxy,nky->nkx", seen.frames[rows], self.groom.edges[rows])
                weights = shares[:, 1:, None]
                change = SMOOTHING * dab.strength * weights * (unit(np.sum(weights * edges, axis=0)) - edges)
                changes[rows] += np.einsum("nyx,nky->nkx", seen.frames[rows], change)
                most[rows] = np.maximum(most[rows], shares.max(axis=1))
        rows = np.flatnonzero(most > 0.0)
        edges = unit(self.groom.edges[rows] + changes[rows], self.groom.edges[rows])
        edges[:, 0] = lifted(edges[:, 0])
        self._take(rows, bounded(edges), self.groom.lengths[rows])

    def cut(self, dab: BrushStroke) -> None:
        """Ends strands where they enter the circle; less strength cuts less."""
        cached = np.ones(self.groom.count)
        for sight in self._sights:
            rows, _, _ = self._under(dab, sight)
            if len(rows):
                found = 1.0 - dab.strength * (1.0 - self._entry(dab, sight.seen, rows))
                cached[rows] = np.minimum(cached[rows], found)
        rows = np.flatnonzero(cached < 1.0)
        if len(rows):
            shares = np.maximum(cached[rows], SHORTEST / self.groom.lengths[rows])
            edges = bounded(resampled(self.groom.edges[rows], self.groom.segments, np.minimum(shares, 1.0)))
            self._take(rows, edges, np.minimum(shares, 1.0) * self.groom.lengths[rows])

    def lengthen(self, dab: BrushStroke) -> None:
        growth = np.zeros(self.groom.count)
        for sight in self._sights:
            rows, shares, _ = self._under(dab, sight)
            growth[rows] = np.maximum(growth[rows], shares.max(axis=1, initial=0.0))
        rows = np.flatnonzero(growth)
        lengths = self.groom.lengths[rows] * (1.0 + GROWTH * dab.strength * growth[rows])
        self._take(rows, self.groom.edges[rows], np.minimum(lengths, self._longest[rows]))

    # --- parts ----------------------------------------------------------------------------------------

    def _under(self, dab: BrushStroke, sight: "_ScreenStrands") -> tuple[Intp, Float64, Float64]:
        """Returns rows of the strands under the brush, shares of their knots (M, K), and pixels per metre (M, K)."""
        pixels, scale = sight.pixels(dab, self._offsets)
        low, high = np.minimum(dab.start, dab.end) - dab.radius, np.maximum(dab.start, dab.end) + dab.radius
        near = np.flatnonzero((sight.low <= high).all(axis=1) & (sight.high >= low).all(axis=1))
        pixels, scale = pixels[near], scale[near]
        part = dab.distances(pixels) / dab.radius
        # A segment may cross the circle without a knot in it.
        part[:, 1:] = np.minimum(part[:, 1:], dab.distances((pixels[:, 1:] + pixels[:, :-1]) / 2.0) / dab.radius)
        shares = np.where(scale > 0.0, falloff(part), 0.0)
        shares[sight.hidden[near]] = 0.0
        shares[:, 0] = 0.0
        under = np.flatnonzero(shares.max(axis=1, initial=0.0) > 0.0)
        return near[under], shares[under], scale[under]

    def _entry(self, dab: BrushStroke, seen: RootFrames, rows: Intp) -> Float64:
        n = self.groom.segments
        arc = np.arange(n * _FINE + 1) / _FINE
        first = np.minimum(arc.astype(np.intp), n - 1)
        knots = self._offsets[rows]
        places = knots[:, first] + (arc - first)[None, :, None] * (knots[:, first + 1] - knots[:, first])
        depth = dab.distances(dab.pixels(seen.knots(places, rows))[0]) - dab.radius
        inside = depth < 0.0
        at, every = np.argmax(inside, axis=1), np.arange(len(rows))
        outer, inner = depth[every, np.maximum(at - 1, 0)], depth[every, at]
        exact = at - 1.0 + outer / np.maximum(outer - inner, 1e-12)
        found = np.where(at > 0, exact, 0.0) / (n * _FINE)
        return np.where(inside.any(axis=1), found, 1.0)

    def _shape(self, rows: Intp, targets: Float64) -> None:
        lengths = self.groom.lengths[rows]
        self._take(rows, chained(targets, self.groom.edges[rows], lengths / self.groom.segments), lengths)

    def _take(self, rows: Intp, edges: Float64, lengths: Float64) -> None:
        self.groom.edges[rows], self.groom.lengths[rows] = edges, lengths
        self._offsets[rows] = _offsets(edges, lengths)
        for sight in self._sights:
            sight.change(rows, self._offsets)


class _ScreenStrands:
    """Image positions of strands, valid until they or the camera move.

    Attributes:
        low, high: Corners of the box around each strand [px], shape (N, 2).
        hidden: Occluded knots, shape (N, K).
    """

    def __init__(self, seen: RootFrames, cover: Occlusion | None) -> None:
        self.seen, self._cover = seen, cover
        self._key: tuple[object, ...] = ()

    def pixels(self, dab: BrushStroke, offsets: Float64) -> tuple[Float64, Float64]:
        """Returns image positions of the knots [px] (N, K, 2), and pixels per metre there (N, K)."""
        if self._key != (dab.camera, dab.size):
            self._key, self._dab = (dab.camera, dab.size), dab
            self._away = ~dab.faces(self.seen.places, self.seen.frames[:, :, 2])
            count, knots, _ = offsets.shape
            self._pixels, self._scale = np.empty((count, knots, 2)), np.empty((count, knots))
            self.hidden = np.zeros((count, knots), np.bool_)
            self.low, self.high = np.empty((count, 2)), np.empty((count, 2))
            self.change(np.arange(count), offsets)
        return self._pixels, self._scale

    def change(self, rows: Intp, offsets: Float64) -> None:
        if self._key:
            pixels, scale, depths = self._dab.pixels(self.seen.knots(offsets[rows], rows))
            self._pixels[rows], self._scale[rows] = pixels, scale
            if self._cover is None:
                self.hidden[rows] = self._away[rows, None]
            else:
                segments = np.linalg.norm(offsets[rows, 1], axis=1)
                slack = 0.5 * segments[:, None] + 2.0 / np.maximum(scale, 1e-9)
                self.hidden[rows] = self._cover.hides(pixels, depths, slack)
            self.low[rows], self.high[rows] = pixels.min(axis=1), pixels.max(axis=1)


def _offsets(edges: Float64, lengths: Float64) -> Float64:
    out = np.zeros((len(edges), edges.shape[1] + 1, 3))
    np.cumsum(edges * (lengths / edges.shape[1])[:, None, None], axis=1, out=out[:, 1:])
    return out


def _spread(moves: Float64) -> Float64:
    """Moves (N, K, 3) all knots by the move of the outermost knot that is well under the brush.

    Knots before it follow in proportion, so that a strand turns about its root; later knots follow in full.
    """
    squares = np.sum(moves**2, axis=2)
    well = squares >= 0.25 * squares.max(axis=1, keepdims=True)
    numbers, rows = np.arange(moves.shape[1]), np.arange(len(moves))
    outermost = moves.shape[1] - 1 - np.argmax(well[:, ::-1], axis=1)
    share = np.minimum(numbers / np.maximum(outermost, 1)[:, None], 1.0)
    spread: Float64 = share[..., None] * moves[rows, outermost, None]
    return spread
