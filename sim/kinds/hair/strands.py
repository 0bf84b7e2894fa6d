from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sinew.sim.fields.state import Fields
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import BufferRing
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.air import AirTravel
from sinew.sim.kinds.hair.drawn import DrawnStrands, Shells
from sinew.sim.kinds.hair.groom import Groom, rest_texels
from sinew.sim.kinds.hair.growth import Growth, SurfaceCoverage, as_drawn
from sinew.sim.kinds.hair.monitor import GuideMonitor, HairStatistics, hair_statistics
from sinew.sim.kinds.hair.moving_roots import MovingRoots, SurfaceTexels
from sinew.sim.kinds.hair.records import (
    StrandBuffers,
    bound_records,
    packed_strands,
    strand_record,
    strand_texels,
    upload_strands,
)
from sinew.sim.kinds.hair.settings import HairDisplay, HairForm, HairSettings, HairSource
from sinew.sim.kinds.hair.solver import StrandDrag, StrandSolver, StrandTables
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.owner import Owner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError

TABLE_FIELDS = ("gravity", "carried", "hold_fade")
"""Settings stored in the table of the groom."""


class GroomPreview(Owner):
    """Guides at rest, shown instead of the simulated ones while the user edits the groom.

    Args:
        kernel: Of shaders/hair/groomed.glsl.
        count: Number of records, including padding.

    Attributes:
        texels: `knots` texels per guide: position relative to the root [m], as of the last `pose`.
    """

    def __init__(self, context: Context, kernel: Kernel, count: int, knots: int) -> None:
        self._kernel = kernel
        self._table = np.zeros((count, knots - 1, 2, 4), np.float32)
        self._rest = self.owns(TexelBuffer(context, self._table.reshape(-1, 4), usage="dynamic", label="shown groom"))
        self.texels = self.owns(TexelBuffer(context, strand_record(knots).zeros(count), usage="copy", label="groom"))

    def take(self, groom: Groom, factors: Float64) -> None:
        """Sets the shown groom; `factors` (G,) scale the lengths stored with the roots."""
        self._table[: groom.count, :, 0, :3] = groom.edges * factors[:, None, None]
        self._rest.buffer.write(self._table)

    def pose(self, roots: BufferTexture) -> None:
        uniforms = {"u_roots": roots, "u_rest": self._rest}
        self._kernel.run(None, self.texels.buffer, len(self._table), **uniforms)


class Strands(Owner):
    """The strands of one node: simulated guides on the GPU, their roots, and the strands rendered between them.

    Args:
        skin: The surface, if the growth has none of its own; owned from now on.
        coverage: Creates the surface that shells copy, when they are first drawn.
        buffers: The growth on the GPU, owned from now on; uploaded at once for None.

    Attributes:
        stopped: Why the simulation stopped, or "".
        statistics: None before the first arrive.
        is_stale: The rendered strands are older than the guides.

    Raises:
        SettingsError: If the driver cannot hold that many strands.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: HairSettings,
        growth: Growth,
        skin: SurfaceTexels | None = None,
        coverage: Callable[[], SurfaceCoverage | None] = lambda: None,
        buffers: StrandBuffers | None = None,
    ) -> None:
        check_room(context, settings)
        if buffers is None:
            buffers = finish(upload_strands(context, packed_strands(settings, growth), settings.knots))
        packed = buffers.guides
        self._context, self._library = context, library
        self.settings, self.growth = settings, growth
        knots, count = settings.knots, len(packed.roots)
        if skin is None:
            assert buffers.surface is not None
            skin = SurfaceTexels(BufferTexture(context, self.owns(buffers.surface), "rgba32f"), 2)
        self._roots = self.owns(MovingRoots(context, library, packed.roots, skin, growth.surface.world_from_model))
        self._rest = self.owns(TexelBuffer(context, packed.rest, label="hair groom"))
        record = strand_record(knots)
        self.state = self.owns(BufferRing(context, packed.state, label="hair"))
        self._carry = Kernel(library, "hair/carry.glsl", record, defines={"KNOTS": knots}, records=count)
        self._groomed = Kernel(library, "hair/groomed.glsl", record, defines={"KNOTS": knots}, records=count)
        self._solver = self.owns(StrandSolver(library, knots, count))
        self._tables = self._new_tables()
        self._head: tuple[tuple[float, float, float], Float64, Float64] | None = None
        self.drawn = self.owns(DrawnStrands(context, library, buffers.children, knots))
        self._guides: DrawnStrands | None = None
        self._coverage = coverage
        self._shells: Shells | None = None
        self._monitor = self.owns(GuideMonitor(context, library, "hair/measure.glsl", growth.guides.count, knots))
        self.statistics: HairStatistics | None = None
        self._preview: GroomPreview | None = None
        self.reset()

    # --- simulation -----------------------------------------------------------------------------------

    def reset(self) -> None:
        """Resets the strands to the groom; the next step starts at the then current surface."""
        self.step_count, self._substeps, self.stopped = 0, self.settings.substeps, ""
        self._is_fresh = self._is_quiet = self.is_stale = True

    def step(
        self,
        world_from_model: Float64,
        colliders: Colliders = NO_COLLIDERS,
        time: float = 0.0,
        pulled: StrandDrag | None = None,
        travel: AirTravel | None = None,
        fields: Fields | None = None,
    ) -> None:
        """Advances by a step; `world_from_model` is the transform at its end, `time` its start [s]."""
        if self.stopped:
            return
        self._begin(world_from_model)
        self._roots.advance()
        substeps = self.settings.substeps
        if self._is_quiet or substeps != self._substeps:
            self._turn(self._substeps / substeps, 1.0 / substeps)
        self._is_quiet, self._substeps = False, substeps
        tables = self._current_tables()
        self._solver.step(
            self.state,
            self.settings,
            tables,
            time=time,
            colliders=colliders,
            pulled=pulled,
            travel=travel,
            fields=fields,
        )
        self.step_count += 1
        self.is_stale = True

    def teleport(self, world_from_model: Float64) -> None:
        """Moves the strands rigidly with the surface, which jumped; shape and swing stay."""
        self._begin(world_from_model)
        self._roots.advance(teleport=True)
        self._turn(1.0, 0.0)
        self._is_quiet = self.is_stale = True

    def apply(self, settings: HairSettings) -> None:
        changed = any(getattr(settings, name) != getattr(self.settings, name) for name in TABLE_FIELDS)
        self.settings = settings
        if changed:
            self._write_rest()
        self.is_stale = True

    def warm_up(self, settings: Sequence[HairSettings]) -> None:
        self._solver.pending = settings

    def regroom(self, groom: Groom) -> None:
        """Sets other shapes and lengths of the same guides; scales the swinging strands to the new lengths."""
        ratio = groom.lengths / self.growth.guides.lengths
        self.growth = replace(self.growth, guides=groom)
        self._roots.bind(bound_records(groom.roots, groom.lengths / groom.segments))
        self._write_rest()
        self._tables = self._new_tables()
        if (ratio != 1.0).any():
            self._scale(ratio)
        self.preview(groom if self._preview is not None else None)
        self.is_stale = True

    def preview(self, groom: Groom | None) -> None:
        """Shows a groom of these guides at rest instead of the simulated strands, until None."""
        if groom is None:
            self.disown(self._preview)
            self._preview = None
        else:
            if self._preview is None:
                made = GroomPreview(self._context, self._groomed, self.state.count, self.settings.knots)
                self._preview = self.owns(made)
            self._preview.take(groom, groom.lengths / self.growth.guides.lengths)
        self.is_stale = True

    def refresh(self, world_from_model: Float64) -> None:
        self._roots.world_from_surface = world_from_model
        if self._is_fresh:
            self._comb()
        self._roots.show(teleport=self._preview is not None)
        if self._preview is not None:
            self._preview.pose(self._roots.shown)
        uniforms = self._roots.uniforms
        self.shown.expand(self.shown_state, self._roots.shown, uniforms, self.settings)
        if (shells := self.shells or self.undercoat) is not None:
            own = {} if shells.own is None else {"u_vertices": shells.own, "u_texels": 2}
            shells.strands.expand(self.shown_state, self._roots.shown, uniforms | own, self.settings)
        self.is_stale = False

    def poll(self, now: float) -> None:
        """Polls statistics, and stops if strands broke; `now` is monotonic time [s]."""
        found = self._monitor.poll()
        if found is not None:
            self._note(hair_statistics(found, self._monitor.time))
        if self.step_count:
            self._monitor.request(self._measured(), now, self.step_count * STEP_TIME)

    def check(self) -> HairStatistics:
        """Returns statistics, and stops if strands broke; waits for the GPU."""
        found = hair_statistics(self._monitor.read(self._measured()))
        self._note(found)
        return found

    def resume(self) -> None:
        """Continues broken strands from their last valid positions, at rest."""
        records = self.state.now.read()
        for name in records.dtype.names or ():
            records[name][:, 3] = 0.0
        records["knot0"] = 0.0
        self.state.write(records)
        self.stopped, self._is_quiet = "", True

    def snapshot(self) -> State:
        head = {
            "steps": self.step_count, "fresh": self._is_fresh, "quiet": self._is_quiet, "substeps": self._substeps,
            "halted": self.stopped,
        }  # fmt: skip
        return State(head, BufferSpan(self.state.now), BufferSpan(self.state.before), BufferSpan(self._roots.now))

    def restore(self, state: bytes) -> None:
        """Restores a state; raises SettingsError if it belongs to other strands."""
        head, (now, before, roots) = unpacked_state(state)
        if now.nbytes != self.state.now.size or roots.nbytes != self._roots.now.size:
            raise SettingsError("the state is of other hair")
        self.state.write(now, before)
        self._roots.now.write(roots)
        self.step_count, self.stopped = head["steps"], head["halted"]
        self._is_fresh, self._is_quiet, self._substeps = head["fresh"], head["quiet"], head["substeps"]
        self.is_stale = True

    # --- drawing --------------------------------------------------------------------------------------

    @property
    def shown(self) -> DrawnStrands:
        if not self.shows_guides:
            return self.drawn
        if self._guides is None:
            children = as_drawn(self.growth.guides, self.settings.seed)
            self._guides = self.owns(DrawnStrands.of(self._context, self._library, children, self.settings.knots))
        return self._guides

    @property
    def shells(self) -> Shells | None:
        is_wanted = self.settings.form in (HairForm.SHELLS, HairForm.AUTOMATIC)
        return self._copies() if is_wanted and not self.shows_guides else None

    @property
    def undercoat(self) -> Shells | None:
        return self._copies() if self.settings.undercoat > 0.0 and not self.shows_guides else None

    def _copies(self) -> Shells | None:
        if self._shells is None and (coverage := self._coverage()) is not None:
            self._shells = self.owns(Shells(self._context, self._library, coverage, self.settings.knots))
        return self._shells

    @property
    def reach(self) -> float:
        """Largest distance of a strand at rest from its root [m]."""
        is_read = self.settings.source is HairSource.FILE
        return self.longest if is_read else max(self.settings.length, self.longest)

    @property
    def shows_guides(self) -> bool:
        return self.settings.show is not HairDisplay.HAIR

    @property
    def shown_state(self) -> BufferTexture:
        """Shown guides, `KNOTS` texels each."""
        return self.state.texture if self._preview is None else self._preview.texels

    @property
    def roots(self) -> BufferTexture:
        """Roots of the guides as of the last `refresh`, four texels each."""
        return self._roots.shown

    @property
    def longest(self) -> float:
        return self._tables[0].length

    # --- queries, which wait for the GPU --------------------------------------------------------------

    def offsets(self, first: int = 0, count: int | None = None) -> Float32:
        """Returns points of guides, by default of all, relative to their roots [m], shape (G, K, 3)."""
        texels = self._texels(self.state.now, first, count)[..., :3].copy()
        texels[:, 0] = 0.0
        return texels

    def positions(self, first: int = 0, count: int | None = None) -> Float32:
        """Returns points of guides, by default of all, in the world [m], shape (G, K, 3)."""
        offsets = self.offsets(first, count)
        return self._roots.places(first, len(offsets))[:, None] + offsets

    def _texels(self, buffer: Buffer, first: int, count: int | None) -> Float32:
        count = self.growth.guides.count if count is None else count
        return strand_texels(buffer.read(offset=first * buffer.dtype.itemsize, count=count), count)

    def velocities(self, first: int = 0, count: int | None = None) -> Float32:
        """Returns velocities of points of guides, by default of all [m/s], shape (G, K, 3)."""
        now, before = (self._texels(one, first, count) for one in (self.state.now, self.state.before))
        moved = now[..., :3] - before[..., :3]
        moved[:, 0] = 0.0
        found: Float32 = (moved + now[:, :1, :3]) / np.float32(self.settings.substep_time)
        return found

    def place_of(self, guide: int, knot: int) -> Float64:
        """Returns a world position [m], shape (3,); reads only this guide."""
        place: Float64 = self._roots.places(guide, 1)[0].astype(np.float64)
        return place + self._knots_of(guide)[knot] if knot else place

    def shape_of(self, guide: int) -> tuple[float, float, float]:
        """Returns rest length [m], largest stretch and largest bend [rad] of a guide."""
        edges = np.diff(self._knots_of(guide), axis=0)
        sizes = np.linalg.norm(edges, axis=1)
        length = float(self.growth.guides.lengths[guide])
        along = edges / np.maximum(sizes, 1e-12)[:, None]
        bends = np.arccos(np.clip(np.sum(along[1:] * along[:-1], axis=1), -1.0, 1.0))
        return length, float(sizes.max() * len(sizes) / length - 1.0), float(bends.max())

    def seen(self) -> tuple[Float64, Float64]:
        """Returns shown positions [m] (G, 3) and frames (G, 3, 3) of the roots."""
        return self._roots.seen(self.growth.guides.count)

    def _knots_of(self, guide: int) -> Float64:
        """Returns knots relative to the root [m], shape (K, 3)."""
        record = self.state.now.read(offset=guide * self.state.now.dtype.itemsize, count=1)
        knots: Float64 = strand_texels(record, 1)[0, :, :3].astype(np.float64)
        knots[0] = 0.0
        return knots

    # --- internals ------------------------------------------------------------------------------------

    def _begin(self, world_from_model: Float64) -> None:
        self._roots.world_from_surface = world_from_model
        if self._is_fresh:
            self._comb()
            self._is_fresh = False

    def _comb(self) -> None:
        self._roots.start()
        program = self._groomed.program
        program["u_roots"], program["u_rest"] = self._roots.newest, self._rest
        for target in (self.state.now, self.state.before):
            self._groomed.run(None, target, self.state.count)

    def _scale(self, ratio: Float64) -> None:
        count = len(ratio)
        now, before = self.state.now.read(), self.state.before.read()
        for records in (now, before):
            strand_texels(records, count)[:, 1:, :3] *= ratio[:, None, None].astype(np.float32)
        self.state.write(now, before)
        roots = self._roots.now.read()
        guides = self.growth.guides
        roots["start"][:count, 3] = guides.lengths / guides.segments
        self._roots.now.write(roots)

    def _measured(self) -> dict[str, object]:
        return {
            "u_now": self.state.texture, "u_before": self.state.texture_before, "u_roots": self._roots.newest,
            "u_rate": 1.0 / self.settings.substep_time,
        }  # fmt: skip

    def _note(self, found: HairStatistics) -> None:
        self.statistics = found
        if found.broken and not self.stopped:
            self.stopped = (
                f"stopped at {self.step_count * STEP_TIME:.2f} s: {found.broken} strands left the world;"
                " more substeps or weaker springs keep them in it"
            )

    def _write_rest(self) -> None:
        self._rest.buffer.write(rest_texels(self.growth.guides, self.settings).reshape(-1, 4))

    def _turn(self, ratio: float, share: float) -> None:
        program = self._carry.program
        program["u_roots"], program["u_roots_after"] = self._roots.before, self._roots.newest
        program["u_motion"] = (ratio, share if self._is_quiet else 0.0)
        self.state.turn(self._carry, "u_state", "u_pivot")

    def _new_tables(self) -> tuple[StrandTables, StrandTables]:
        guides = self.growth.guides
        length = float(guides.lengths.max())
        first, second = (
            StrandTables(texels, self._rest, guides.is_straight, length) for texels in self._roots.texels[:2]
        )
        return first, second

    def _current_tables(self) -> StrandTables:
        tables = self._tables[self._roots.side]
        if self.settings.source is not HairSource.ELLIPSOID or self.settings.head_stiffness == 0.0:
            return tables
        radii, placement = self.settings.radii, self._roots.world_from_surface
        if self._head is None or self._head[0] != radii or (self._head[1] != placement).any():
            self._head = radii, placement.copy(), inverse_affine(placement @ np.diag([*radii, 1.0]))
        return StrandTables(tables.roots, tables.rest, tables.is_straight, tables.length, self._head[2])


def strands_between(one: bytes, other: bytes, share: float) -> bytes:
    """Returns the second of two snapshots, with linearly interpolated points."""
    (_, (former, *_)), (head, (now, *rest)) = unpacked_state(one), unpacked_state(other)
    if len(former) != len(now):
        return other
    seen = now.copy()
    offsets, before = (records.view(np.float32).reshape(len(records), -1, 4)[..., :3] for records in (seen, former))
    offsets[:] = blended(before, offsets, share)
    return State(head, seen, *rest).packed()


def check_room(context: Context, settings: HairSettings) -> None:
    """Checks limits; raises SettingsError if the driver cannot hold the guides or children."""
    limit = context.capabilities.max_texture_buffer_size
    for name, count in (("guides", settings.guides), ("children", settings.children)):
        if (count + 3) * max(settings.knots, 4) * (2 if name == "guides" else 1) > limit:
            raise SettingsError(f"{name} = {count}: this driver holds {limit // (2 * settings.knots)} of these knots")
