"""Layouts of hair on the GPU."""

import functools

import numpy as np
import numpy.typing as npt

from sim.characters.skinning import SKINNED
from sim.gl.record import Record, record
from sim.gl.transform_feedback import padded_count
from sim.kinds.hair.roots import Roots, RootSurface

ROOT = record("HairRoot", start=(4, "f4"), turn_start=(4, "f4"), end=(4, "f4"), turn_end=(4, "f4"))
"""Place, length of a segment [m] | turn | place at the end of the step, 0 | turn; see shaders/hair/root.glsl."""

BOUND = np.dtype([("corners", "u4", 4), ("shares", "f4", 4)])
"""Corners of the triangle of a root, bits of the height above it | shares, length of a segment [m] or its factor."""

CHILD = np.dtype(
    [*BOUND.descr, *((name, "u4" if name == "guides" else "f4", 4) for name in
                     ("guides", "weights", "tint", "tip_tint", "form"))]
)  # fmt: skip
"""The same, then nearest guides, number | their weights, a random number | linear factor of the colour at the root,
share of the dye | that at the tip, 1 where both are the strand's own | factors of clump, curls, noise and thickness."""

SHELL = np.dtype([("rest", "f4", 3), ("density", "f4")])
"""A vertex of a coat: place at rest [m], strands for each square metre."""

MEASURE = record("HairMeasure", measure=(4, "f4"))
"""Largest bend of a joint [rad] and stretch of a segment, kinetic energy by mass [m²/s²], 1 for a broken strand."""


@functools.cache
def strand_record(knots: int) -> Record:
    """The knots of a strand, a vec4 each: place from the root [m]; see shaders/hair/strand.glsl."""
    return record(f"Strand{knots}", **{f"knot{number}": (4, "f4") for number in range(knots)})


def strand_records(offsets: npt.NDArray[np.float64]) -> npt.NDArray[np.void]:
    """Records of strands whose knots are at offsets (N, K, 3) from their roots, at rest; padded with the last one."""
    count, knots, _ = offsets.shape
    texels = np.zeros((padded_count(count), knots, 4), np.float32)
    texels[:count, 1:, :3] = offsets[:, 1:]
    texels[count:] = texels[count - 1]
    return texels.reshape(len(texels), -1).view(strand_record(knots).dtype).ravel()


def strand_texels(records: npt.NDArray[np.void], count: int) -> npt.NDArray[np.float32]:
    """The first records as texels, shape (count, K, 4)."""
    return records[:count].view(np.float32).reshape(count, -1, 4)


def bound_records(roots: Roots, sizes: npt.NDArray[np.float64], dtype: np.dtype = BOUND) -> npt.NDArray[np.void]:
    """Records of roots, padded with the last one; `sizes` (N,) goes beside the shares."""
    out = np.zeros(padded_count(roots.count), dtype)
    out["corners"][: roots.count, :3] = roots.corners
    if roots.heights is not None:
        out["corners"][: roots.count, 3] = roots.heights.astype(np.float32).view(np.uint32)
    out["shares"][: roots.count, :3] = roots.shares
    out["shares"][: roots.count, 3] = sizes
    out[roots.count :] = out[roots.count - 1]
    return out


def surface_records(surface: RootSurface) -> npt.NDArray[np.void]:
    """Records of the vertices of a surface that nobody skins."""
    out = SKINNED.zeros(len(surface.positions))
    out["position"][:, :3] = surface.positions
    out["normal"][:, :3] = surface.normals
    return out
