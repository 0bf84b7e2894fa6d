"""Strands as the GPU takes them: packed on any thread, and brought there in small steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer, upload_buffer
from sim.gl.context import Context
from sim.gl.task import Task
from sim.kinds.hair.groom import Groom, rest_texels
from sim.kinds.hair.growth import Children, Growth
from sim.kinds.hair.records import CHILD, bound_records, strand_record, strand_records, surface_records
from sim.kinds.hair.settings import HairSettings
from sim.kinds.hair.surface_coverage import SurfaceCoverage

Records = npt.NDArray[np.void]
Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class PackedChildren:
    """Strands that are drawn.

    Attributes:
        records: Of `CHILD`.
        details: As texels; None for nothing.
        count: How many, without what pads them.
    """

    records: Records
    details: Float32 | None
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class PackedGuides:
    """Guides.

    Attributes:
        surface: Of a surface of their own; None for that of a figure.
        roots: Of the guides.
        rest: Their groom, as texels.
        state: Their knots in it.
    """

    surface: Records | None
    roots: Records
    rest: Float32
    state: Records


@dataclass(frozen=True, slots=True, eq=False)
class PackedStrands:
    """All of some hair: guides, and what is drawn."""

    guides: PackedGuides
    children: PackedChildren


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedStrands:
    """Hair that has grown, with all that takes long to make of it.

    Attributes:
        settings: By which it grew.
        as_grown: The guides as these describe them.
        growth: The same with what was edited by hand.
        packed: As the GPU takes it.
        coverage: Gives what shells are copies of.
    """

    settings: HairSettings
    as_grown: Groom
    growth: Growth
    packed: PackedStrands
    coverage: Callable[[], SurfaceCoverage | None]


@dataclass(frozen=True, slots=True, eq=False)
class ChildBuffers:
    """Strands that are drawn, on the GPU.

    Attributes:
        table: Of `PackedChildren`.
        details: As texels; None for nothing.
        strands: Room for their knots.
        count: How many.
        is_borrowed: Whether all but that room is released by somebody else.
    """

    table: Buffer
    details: Buffer | None
    strands: Buffer
    count: int
    is_borrowed: bool = False

    def shared(self, context: Context) -> "ChildBuffers":
        """The same strands with room of their own, for as long as these are there."""
        room = self.strands
        strands = Buffer(context, room.size, dtype=room.dtype, usage="copy", label="hair strands")
        return ChildBuffers(self.table, self.details, strands, self.count, is_borrowed=True)


@dataclass(frozen=True, slots=True, eq=False)
class StrandBuffers:
    """What is large of some hair, on the GPU, and its guides."""

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
    """Brings strands that are drawn to the GPU, with room for their knots."""
    table = yield from upload_buffer(context, packed.records, label="hair children")
    details: Buffer | None = None
    if packed.details is not None:
        details = yield from upload_buffer(context, packed.details.reshape(-1, 4), label="hair details")
    record = strand_record(knots).dtype
    strands = Buffer(context, table.count * record.itemsize, dtype=record, usage="copy", label="hair strands")
    yield
    return ChildBuffers(table, details, strands, packed.count)


def upload_strands(context: Context, packed: PackedStrands, knots: int) -> Task[StrandBuffers]:
    """Brings some hair to the GPU."""
    surface: Buffer | None = None
    if packed.guides.surface is not None:
        surface = yield from upload_buffer(context, packed.guides.surface, label="hair surface")
    children = yield from upload_children(context, packed.children, knots)
    return StrandBuffers(packed.guides, surface, children)


def shared_buffers(context: Context, settings: HairSettings, growth: Growth, drawn: ChildBuffers) -> StrandBuffers:
    """Guides of their own that move strands which are on the GPU already, for as long as those are there."""
    guides = packed_guides(settings, growth)
    surface = None if guides.surface is None else Buffer(context, guides.surface, label="hair surface")
    return StrandBuffers(guides, surface, drawn.shared(context))
