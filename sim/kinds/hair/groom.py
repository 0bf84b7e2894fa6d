from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.hair.roots import Roots, RootSurface, root_frames, unit
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.hash import birth_numbers

TURN_MAX = 0.3
"""Largest bend of a joint at rest [rad]; curlier detail belongs to the children."""

SHORTEST = 1e-4
"""Least length of a strand [m]."""

STRAIGHT = 1e-6
"""Largest difference between the edges of a straight strand."""

LENGTHS, DIRECTIONS, OFFSETS = 16, 17, 18
"""Random channels of a strand, in addition to `sinew.sim.maths.hash.RandomStream`."""


@dataclass(frozen=True, slots=True, eq=False)
class Groom:
    """Strands at rest."""

    roots: Roots
    places: Float64  # World positions of the roots on the resting surface [m], shape (N, 3)
    frames: Float64  # Frames of the roots there, shape (N, 3, 3)
    lengths: Float64  # In m, shape (N,)
    edges: Float64  # Unit edges in the frames of the roots, shape (N, n, 3)

    @property
    def count(self) -> int:
        return len(self.lengths)

    @property
    def segments(self) -> int:
        return int(self.edges.shape[1])

    @property
    def is_straight(self) -> bool:
        return self.segments < 2 or float(np.abs(np.diff(self.edges, axis=1)).max(initial=0.0)) < STRAIGHT

    def offsets(self, frames: Float64) -> Float64:
        """Returns knots relative to the roots [m], shape (N, n + 1, 3), with the roots in frames (N, 3, 3)."""
        segment = self.lengths / self.segments
        turned = np.einsum("nxy,nky->nkx", frames, self.edges) * segment[:, None, None]
        out = np.zeros((self.count, self.segments + 1, 3))
        np.cumsum(turned, axis=1, out=out[:, 1:])
        return out


def grow(settings: HairSettings, surface: RootSurface, roots: Roots) -> Groom:
    places, frames = root_frames(surface, roots)
    numbers = np.arange(roots.count)
    random = birth_numbers(settings.seed, numbers, LENGTHS)[:, 0]
    lengths = np.maximum(settings.length * (1.0 - settings.length_spread * random), SHORTEST)
    edges = _edges(settings, surface, places, frames, numbers)
    return Groom(roots, places, frames, lengths, np.einsum("nxy,nkx->nky", frames, edges))


def part_distances(settings: HairSettings, surface: RootSurface, places: Float64) -> tuple[Float64, Float64]:
    """Returns the direction (3,) across the part line, and signed distances of places (N, 3) beyond it [m]."""
    across = unit(surface.world_from_model[:3, :3] @ np.array(settings.part_across))
    return across, (places - surface.world_from_model[:3, 3]) @ across - settings.part_place


def _edges(
    settings: HairSettings, surface: RootSurface, places: Float64, frames: Float64, numbers: npt.NDArray[np.intp]
) -> Float64:
    up = frames[:, :, 2]
    linear = surface.world_from_model[:3, :3]
    comb = unit(linear @ np.array(settings.comb))
    flat = unit(comb - np.sum(up * comb, axis=1, keepdims=True) * up)
    if settings.part_strength > 0.0:
        across, beyond = part_distances(settings, surface, places)
        aside = np.where(beyond < 0.0, -1.0, 1.0)[:, None] * unit(across - (up @ across)[:, None] * up)
        # A part ends where the head goes down.
        near = np.clip(1.0 - np.abs(beyond) / settings.part_width, 0.0, 1.0) * np.clip(2.0 * up[:, 1], 0.0, 1.0)
        share = settings.part_strength * near[:, None]
        flat = unit((1.0 - share) * flat + share * aside)
    # In the frame of the model, so that it is the same wherever that stands.
    scatter = (2.0 * birth_numbers(settings.seed, numbers, DIRECTIONS) - 1.0) @ unit(linear.T)
    first = unit((1.0 - settings.lean) * up + settings.lean * flat + settings.disorder * scatter, up)
    axis = unit(np.cross(first, comb))
    between = np.arctan2(np.linalg.norm(np.cross(first, comb), axis=1), first @ comb)
    joints = max(settings.segments - 1, 1)
    step = np.minimum(settings.bow * between / joints, TURN_MAX)
    angle = step[:, None] * np.arange(settings.segments)
    # The axis is at right angles to the first edge, or nothing where that lies along the comb.
    sine, cosine = np.sin(angle)[..., None], np.cos(angle)[..., None]
    has_axis = np.any(axis != 0.0, axis=1)[:, None, None]
    turned = cosine * first[:, None] + sine * np.cross(axis, first)[:, None]
    return np.where(has_axis, turned, first[:, None])


def carried_loads(groom: Groom, gravity: tuple[float, float, float], carried: float) -> Float64:
    """Returns accelerations of the knots after the root [m/s²], in the frames of the roots, shape (N, n, 3).

    They compensate the part of the weight that would bend the groom; the pull along it stays.  With `carried` = 1 the
    groom is an equilibrium.
    """
    force = np.einsum("nxy,x->ny", groom.frames, np.array(gravity))
    masses = np.ones(groom.segments)
    masses[-1] = 0.5
    below = np.cumsum(masses[::-1])[::-1]
    weight = below[None, :, None] * force[:, None]
    along = np.maximum(np.sum(weight * groom.edges, axis=2, keepdims=True), 0.0)
    shear = weight - along * groom.edges
    following = np.concatenate([shear[:, 1:], np.zeros((groom.count, 1, 3))], axis=1)
    loads: Float64 = carried * (following - shear) / masses[None, :, None]
    return loads


def rest_texels(groom: Groom, settings: HairSettings) -> Float32:
    """Returns two texels a segment: edge, 0 | load, share of the hold; shape (N, n, 2, 4)."""
    out = np.zeros((groom.count, groom.segments, 2, 4), np.float32)
    out[:, :, 0, :3] = groom.edges
    out[:, :, 1, :3] = carried_loads(groom, settings.gravity, settings.carried)
    arc = np.arange(1, groom.segments + 1) / groom.segments
    out[:, :, 1, 3] = np.clip(1.0 - arc / max(settings.hold_fade, 1e-9), 0.0, 1.0)
    return out
