import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer, upload_buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.task import Task
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.hair.groom import Groom, rest_texels
from sinew.sim.kinds.hair.growth import Children, Growth, SurfaceCoverage
from sinew.sim.kinds.hair.roots import Roots, RootSurface
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.maths.arrays import Float32, Float64

ROOT = record("HairRoot", start=(4, "f4"), turn_start=(4, "f4"), end=(4, "f4"), turn_end=(4, "f4"))
"""Root: position, segment length [m] | rotation | position at the end of the step, 0 | rotation; see hair/root.glsl."""

BOUND = np.dtype([("corners", "u4", 4), ("shares", "f4", 4)])
"""Bound root: corners of the triangle, bits of the height above it | barycentric weights, segment [m] or its factor."""

CHILD = np.dtype(
    [*BOUND.descr, *((name, "u4" if name == "guides" else "f4", 4) for name in
                     ("guides", "weights", "tint", "tip_tint", "form"))]
)  # fmt: skip
"""Child: `BOUND`, then nearest guides, number | their weights, a random number | linear colour factor at the root, dye
fraction | colour factor at the tip, 1 if both are own colours | factors of clump, curls, noise and thickness."""

SHELL = np.dtype([("rest", "f4", 3), ("density", "f4")])
"""A vertex of a surface coverage: rest position [m], strands per square metre."""

MEASURE = record("HairMeasure", measure=(4, "f4"))
"""Measures: largest bend [rad], stretch of a segment, kinetic energy per mass [m²/s²], 1 for a broken strand."""


@functools.cache
def strand_record(knots: int) -> Record:
    """Returns the record of a strand: points as vec4, relative to the root [m]; see shaders/hair/strand.glsl."""
    return record(f"Strand{knots}", **{f"knot{number}": (4, "f4") for number in range(knots)})


def strand_records(offsets: npt.NDArray[np.float64]) -> npt.NDArray[np.void]:
    """Returns resting strands with points at offsets (N, K, 3) from their roots; the last one pads the buffer."""
    count, knots, _ = offsets.shape
    texels = np.zeros((padded_count(count), knots, 4), np.float32)
    texels[:count, 1:, :3] = offsets[:, 1:]
    texels[count:] = texels[count - 1]
    return texels.reshape(len(texels), -1).view(strand_record(knots).dtype).ravel()


def strand_texels(records: npt.NDArray[np.void], count: int) -> npt.NDArray[np.float32]:
    """Returns a view of records as texels, shape (count, K, 4)."""
    return records[:count].view(np.float32).reshape(count, -1, 4)


def bound_records(roots: Roots, sizes: npt.NDArray[np.float64], dtype: np.dtype = BOUND) -> npt.NDArray[np.void]:
    """Returns records of roots; `sizes` (N,) become the fourth weight."""
    out = np.zeros(padded_count(roots.count), dtype)
    out["corners"][: roots.count, :3] = roots.corners
    if roots.heights is not None:
        out["corners"][: roots.count, 3] = roots.heights.astype(np.float32).view(np.uint32)
    out["shares"][: roots.count, :3] = roots.shares
    out["shares"][: roots.count, 3] = sizes
    out[roots.count :] = out[roots.count - 1]
    return out


def surface_records(surface: RootSurface) -> npt.NDArray[np.void]:
    out = SKINNED.zeros(len(surface.positions))
    out["position"][:, :3] = surface.positions
    out["normal"][:, :3] = surface.normals
    return out


Records = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, eq=False)
class PackedChildren:
    """Packed children: records of `CHILD`, texels of details, and the number without padding."""

    records: Records
    details: Float32 | None
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class PackedGuides:
    surface: Records | None  # None on a character
    roots: Records
    rest: Float32  # Texels of the groom
    state: Records  # Points at rest


@dataclass(frozen=True, slots=True, eq=False)
class PackedStrands:
    guides: PackedGuides
    children: PackedChildren


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedStrands:
    settings: HairSettings
    as_grown: Groom  # The guides without edits
    growth: Growth  # With edits
    packed: PackedStrands
    coverage: Callable[[], SurfaceCoverage | None]  # Creates the surface that shells copy
    root_cover: Float64 | None  # See `growth.root_cover`


@dataclass(frozen=True, slots=True, eq=False)
class ChildBuffers:
    """Buffers of rendered strands on the GPU."""

    table: Buffer  # Records of `PackedChildren`
    details: Buffer | None
    strands: Buffer  # Space for their points
    count: int
    is_borrowed: bool = False  # Another object owns `table` and `details`

    def shared(self, context: Context) -> "ChildBuffers":
        """Returns buffers with space of their own for the same children; this object must outlive them."""
        room = self.strands
        strands = Buffer(context, room.size, dtype=room.dtype, usage="copy", label="hair strands")
        return ChildBuffers(self.table, self.details, strands, self.count, is_borrowed=True)


@dataclass(frozen=True, slots=True, eq=False)
class StrandBuffers:
    guides: PackedGuides
    surface: Buffer | None
    children: ChildBuffers


def packed_children(children: Children) -> PackedChildren:
    records = bound_records(children.roots, children.factors, CHILD)
    count = children.count
    records["guides"][:count, :3], records["guides"][:count, 3] = children.guides, np.arange(count)
    records["weights"][:count, :3], records["weights"][:count, 3] = children.weights, children.random
    records["tint"][:count, :3], records["tip_tint"][:count, :3] = children.tints[:, 0], children.tints[:, 1]
    records["tint"][:count, 3], records["tip_tint"][:count, 3] = children.dyes, children.has_colours
    records["form"][:count] = children.forms
    records[count:] = records[count - 1]
    details: Float32 | None = None
    if children.details is not None:
        details = np.zeros((*children.details.shape[:2], 4), np.float32)
        details[..., :3] = children.details
    return PackedChildren(records, details, count)


def packed_strands(settings: HairSettings, growth: Growth) -> PackedStrands:
    return PackedStrands(packed_guides(settings, growth), packed_children(growth.children))


def packed_guides(settings: HairSettings, growth: Growth) -> PackedGuides:
    guides = growth.guides
    return PackedGuides(
        surface_records(growth.surface) if growth.is_own else None,
        bound_records(guides.roots, guides.lengths / guides.segments),
        rest_texels(guides, settings).reshape(-1, 4),
        strand_records(guides.offsets(guides.frames)),
    )


def upload_children(context: Context, packed: PackedChildren, knots: int) -> Task[ChildBuffers]:
    table = yield from upload_buffer(context, packed.records, label="hair children")
    details: Buffer | None = None
    if packed.details is not None:
        details = yield from upload_buffer(context, packed.details.reshape(-1, 4), label="hair details")
    record = strand_record(knots).dtype
    strands = Buffer(context, table.count * record.itemsize, dtype=record, usage="copy", label="hair strands")
    yield
    return ChildBuffers(table, details, strands, packed.count)


def upload_strands(context: Context, packed: PackedStrands, knots: int) -> Task[StrandBuffers]:
    surface: Buffer | None = None
    if packed.guides.surface is not None:
        surface = yield from upload_buffer(context, packed.guides.surface, label="hair surface")
    children = yield from upload_children(context, packed.children, knots)
    return StrandBuffers(packed.guides, surface, children)


def shared_buffers(context: Context, settings: HairSettings, growth: Growth, drawn: ChildBuffers) -> StrandBuffers:
    """Returns new guides for rendered strands on the GPU; `drawn` must outlive them."""
    guides = packed_guides(settings, growth)
    surface = None if guides.surface is None else Buffer(context, guides.surface, label="hair surface")
    return StrandBuffers(guides, surface, drawn.shared(context))
