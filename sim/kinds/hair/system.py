"""HairSystem: the hair of a node, grown, placed and stepped as the scene has it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.figures.character import Character
from sim.figures.placement import texture_origin_bottom
from sim.figures.settings import ModelSettings
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.kinds.contract import Array, Grab, Services, StepInputs, System, World
from sim.kinds.hair.groom import Groom
from sim.kinds.hair.growth import NO_MAPS, Maps, growth_on_ellipsoid, growth_on_model
from sim.kinds.hair.guide_looks import guide_colours, guide_widths
from sim.kinds.hair.rival import Rival, rival_settings
from sim.kinds.hair.settings import HairSettings, HairSource
from sim.kinds.hair.shaping import edited
from sim.kinds.hair.solver import Pulled
from sim.kinds.hair.stability import stability
from sim.kinds.hair.strands import Strands, SurfaceTexels
from sim.kinds.packing import State, unpacked_state
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect, changed_effects
from sim.scene.scene import Node
from sim.scene.vectors import Vec3
from sim.scene.view import Comparison
from sim.skin.tables import SurfaceTables, TableKey

Float64 = npt.NDArray[np.float64]


class HairSystem(System):
    """The simulation of one node.

    Attributes:
        strands: None until they can be grown, and while the model that they grow on is missing.
        rival: The same strands moved by another solver, while one is to be compared with.
        grown: The guides as the settings describe them, without what was edited by hand.
        problems: Lines that the user should know; the reader clears it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.strands: Strands | None = None
        self.rival: Rival | None = None
        self.grown: Groom | None = None
        self._shows_groom = False
        self.problems: list[str] = []
        self._node: Node | None = None
        self._world: World | None = None
        self._services: Services | None = None
        self._key: tuple[object, ...] = ()
        self._grown: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        self._told = ""

    @property
    def is_ready(self) -> bool:
        """Whether there is hair."""
        return self.strands is not None

    @property
    def halted(self) -> str:
        """Why it stands still, or "" while it can move."""
        return self.strands.halted if self.strands is not None else ""

    @property
    def warning(self) -> str:
        """That the substeps are too long, or ""."""
        if self.strands is None:
            return ""
        found = stability(self.strands.settings)
        if found.ratio <= 1.0:
            return ""
        mend = f"{found.substeps} substeps are stable" if found.substeps else "no number of substeps is enough"
        return f"the hair blows up with these settings: {mend}"

    def apply(self, node: Node, world: World) -> None:
        """Takes the node; hair on a model waits for it."""
        figure, carrier = world.figures.get(node.attachment.node), world.scene.by_id.get(node.attachment.node)
        settings = node.settings
        assert isinstance(settings, HairSettings)
        assert isinstance(figure, Character | None)
        names = (settings.density_texture, settings.length_texture, settings.colour_texture)
        pixels, *images = [world.images.get(Path(name)) if name else None for name in names]
        self._world, self._services = world, world.services
        key = (node, figure, carrier, pixels, *images)
        if len(self._key) == len(key) and all(one is other for one, other in zip(key, self._key, strict=True)):
            return
        self._node, self._key = node, key
        self._tell(_missing(node, world, figure))
        if settings.source is HairSource.ELLIPSOID:
            world.services.get(SurfaceTables).forget(self)
            self._take(settings, None, None, world)
        elif figure is None or carrier is None or not figure.model.mesh.vertex_count:
            self._drop()
        else:
            assert isinstance(carrier.settings, ModelSettings)
            bottom_up = texture_origin_bottom(carrier.settings, figure.model)
            wanted = TableKey(
                figure.model,
                settings.source is HairSource.VERTICES,
                settings.density_bone,
                pixels,
                bottom_up,
                settings.density_section,
            )
            table = world.services.get(SurfaceTables).table(self, wanted)
            self._take(settings, figure, table, world, Maps(images[0], images[1], bottom_up))

    def step(self, inputs: StepInputs) -> None:
        """Advances by one step, at whose end the figures stand as they do now."""
        assert self.strands is not None
        self._world = inputs.world
        time, placement, pulled = (inputs.moment - 1) * STEP_TIME, self._placement(inputs.world), None
        if inputs.grab is not None:
            pulled = self._pulled(inputs.grab)
        self.strands.step(placement, inputs.solids, time, pulled)
        if self.rival is not None:
            with self._context.timers.scope("rival", self._name):
                self.rival.strands.step(placement, inputs.solids, time, pulled)

    def rest(self) -> None:
        """Silent hair goes along with what it grows on."""
        self.reset()

    def reset(self) -> None:
        """Back to the groom."""
        for strands in self._all():
            strands.reset()

    def jump(self, world: World) -> None:
        """Shape and swing are carried along to where the figures stand now."""
        for strands in self._all():
            self._world = world
            strands.jump(self._placement(world))

    def poll(self, now: float) -> None:
        """Makes what is drawn, and looks whether strands broke; waits for nothing."""
        strands, world, node = self.strands, self._world, self._node
        if strands is None or world is None or node is None:
            return
        placement = self._placement(world)
        shown = (strands, self._skinned(world), placement.tobytes(), self._shows_rival(world))
        with self._context.timers.scope("children", self._name):
            drawn = self._all() if self._shows_rival(world) else [strands]
            if any(one.is_stale for one in drawn) or shown != self._shown:
                for one in drawn:
                    one.refresh(placement)
                self._shown = shown
            strands.poll(now)
            if self.rival is not None:
                self.rival.strands.poll(now)
                self.rival.poll(strands, now)

    def show_groom(self, shown: bool) -> None:
        """Shows the groom at rest, where the figures stand, in place of what is simulated; or that again."""
        self._shows_groom = shown
        if self.strands is not None:
            self.strands.preview(self.strands.growth.guides if shown else None)

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:
        """The knot nearest to a ray, of the guide that carries a strand; guide by guide, so many knots each."""
        strands = self.strands
        if strands is None or not 0 <= element < strands.shown.count:
            return None
        knots = strands.shown.positions_of(element)[1:].astype(np.float64) - origin
        along = np.array(direction) / np.linalg.norm(direction)
        away = np.linalg.norm(knots - np.outer(knots @ along, along), axis=1)
        guide = element if strands.shows_guides else strands.growth.children.carriers[element]
        return int(guide) * strands.settings.knots + int(np.argmin(away)) + 1

    def place_of(self, particle: int) -> Vec3 | None:
        """Where a knot was at the last step."""
        if self.strands is None or not 0 <= particle < self.strands.growth.guides.count * self.strands.settings.knots:
            return None
        x, y, z = self.strands.place_of(*divmod(particle, self.strands.settings.knots)).tolist()
        return x, y, z

    def check(self) -> None:
        """Halts if strands broke; waits for the GPU."""
        for strands in self._all():
            strands.check()

    def resume(self) -> None:
        """Goes on from the last sound state."""
        for strands in self._all():
            if strands.halted:
                strands.resume()

    def arrays(self) -> Mapping[str, Array]:
        """Knots of the guides, strand by strand, and how many each has."""
        if self.strands is None:
            return {}
        strands = self.strands
        count, knots = strands.growth.guides.count, strands.settings.knots
        shape = (count * knots, 3)
        return {
            "positions": Array(lambda: strands.positions().reshape(-1, 3), shape, np.float32, "points"),
            "velocities": Array(lambda: strands.velocities().reshape(-1, 3), shape, np.float32, "velocities"),
            "knots": Array(lambda: np.full(count, knots, np.uint32), (count,), np.uint32, "counts"),
        }

    def looks(self) -> Mapping[str, Array]:
        """Colours and widths of the knots of the guides."""
        if self.strands is None:
            return {}
        strands = self.strands
        settings, growth = strands.settings, strands.growth
        count = growth.guides.count
        shape = (count * settings.knots,)
        colours, widths = guide_colours(settings, growth.children, count), guide_widths(settings, count)
        return {
            "colours": Array(lambda: colours, (*shape, 4), np.float32, "colours", is_still=True),
            "widths": Array(lambda: widths, shape, np.float32, "widths", is_still=True),
        }

    def measures(self) -> Mapping[str, float]:
        """Largest bend [rad] and stretch, kinetic energy by mass [J/kg]; where it is compared, distances [m]."""
        if self.strands is None:
            return {}
        found = self.strands.check()
        values = {"bend": found.bend, "stretch": found.stretch, "energy": found.energy}
        if self.rival is not None:
            apart = self.rival.read(self.strands)
            values |= {"apart": apart.most, "apart_mean": apart.mean}
        return values

    def snapshot(self) -> State:
        """Strands and roots, of the other solver too where there is one."""
        assert self.strands is not None
        if self.rival is None:
            return self.strands.snapshot()
        return State({"strands": self.strands.snapshot(), "rival": self.rival.strands.snapshot()})

    def restore(self, state: bytes, world: World) -> None:
        """Goes back to a step."""
        assert self.strands is not None
        self._world = world
        head, _ = unpacked_state(state)
        self.strands.go_back(head.get("strands", state))
        if self.rival is not None and "rival" in head:
            self.rival.strands.go_back(head["rival"])

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        self._drop()

    @property
    def _name(self) -> str:
        assert self._node is not None
        return self._node.name or self._node.id

    def _pulled(self, grab: Grab) -> Pulled | None:
        assert self._node is not None
        if grab.node != self._node.id or self.place_of(grab.particle) is None:
            return None
        assert self.strands is not None
        guide, knot = divmod(grab.particle, self.strands.settings.knots)
        return Pulled(guide, max(knot, 1), grab.hand, grab.reach)

    def _placement(self, world: World) -> Float64:
        """World from the surface that the hair grows on."""
        assert self._node is not None
        if self.strands is not None and self.strands.growth.is_own:
            return world.places.world_from_node(self._node)
        placement: Float64 = world.figures[self._node.attachment.node].world_from_model
        return placement

    def _skinned(self, world: World) -> int:
        """Another number where the skin that the hair grows on was written anew."""
        assert self._node is not None
        figure = world.figures.get(self._node.attachment.node)
        return figure.primary.write_count if isinstance(figure, Character) else 0

    def _take(
        self,
        settings: HairSettings,
        figure: Character | None,
        table: npt.NDArray[np.uint32] | None,
        world: World,
        maps: Maps = NO_MAPS,
    ) -> None:
        assert self._node is not None
        grown = (figure, table, settings.source, maps.length, maps.colour)
        same = len(self._grown) == len(grown) and all(a is b for a, b in zip(grown, self._grown, strict=True))
        if self.strands is not None and same:
            effects = changed_effects(self.strands.settings, settings)
            if Effect.REBUILD not in effects:
                self._regroom(settings)
                self.strands.apply(settings)
                self._take_rival(settings, figure)
                return
        skin, former = None, self.strands.growth if self.strands is not None and same else None
        if figure is None or table is None:
            growth = growth_on_ellipsoid(settings, world.places.world_from_node(self._node), former)
        else:
            growth = growth_on_model(settings, figure.model, table, figure.world_from_model, maps, former)
            skin = self._skin(figure)
        self.grown = growth.guides
        growth = replace(growth, guides=edited(growth.guides, growth.surface, settings.groom))
        made = Strands(self._context, self._library, settings, growth, skin)
        made.preview(growth.guides if self._shows_groom else None)
        if self.strands is not None:
            self.strands.release()
        self.strands, self._grown = made, grown
        self._drop_rival()
        self._take_rival(settings, figure)

    def _skin(self, figure: Character) -> SurfaceTexels:
        vertices = figure.primary.vertices
        texels = BufferTexture(self._context, vertices, "rgba32f", label="hairy skin")
        return SurfaceTexels(texels, vertices.dtype.itemsize // 16)

    def _take_rival(self, settings: HairSettings, figure: Character | None) -> None:
        """The other solver begins where the strands are now."""
        wanted, strands = rival_settings(settings), self.strands
        assert strands is not None
        if wanted is None:
            self._drop_rival()
        elif self.rival is not None:
            if self.rival.strands.growth.guides is not strands.growth.guides:
                self.rival.strands.regroom(strands.growth.guides)
            self.rival.strands.apply(wanted)
        else:
            skin = self._skin(figure) if figure is not None else None
            self.rival = Rival(self._context, self._library, wanted, strands.growth, skin)
            self.rival.strands.go_back(strands.snapshot().packed())

    def _drop_rival(self) -> None:
        if self.rival is not None:
            self.rival.release()
        self.rival = None

    def _shows_rival(self, world: World) -> bool:
        """Whether the strands of the other solver are drawn."""
        return self.rival is not None and world.scene.view.comparison is Comparison.SPLIT

    def _all(self) -> list[Strands]:
        found = [self.strands] if self.strands is not None else []
        return found + ([self.rival.strands] if self.rival is not None else [])

    def _regroom(self, settings: HairSettings) -> None:
        assert self.strands is not None
        assert self.grown is not None
        if settings.groom != self.strands.settings.groom:
            self.strands.regroom(edited(self.grown, self.strands.growth.surface, settings.groom))

    def _tell(self, line: str) -> None:
        """Tells once what the hair lacks, and again when it lacks it anew."""
        if line and line != self._told:
            self.problems.append(line)
        self._told = line

    def _drop(self) -> None:
        if self._services is not None:
            self._services.get(SurfaceTables).forget(self)
        if self.strands is not None:
            self.strands.release()
            self.strands = None
        self._drop_rival()
        self._grown = ()


def _missing(node: Node, world: World, figure: Character | None) -> str:
    """What the hair lacks that its settings name, as one line; "" for nothing, or while a model is being read."""
    settings, label, carrier = node.settings, node.name or node.id, world.scene.by_id.get(node.attachment.node)
    assert isinstance(settings, HairSettings)
    if settings.source is HairSource.ELLIPSOID:
        return world.places.missing(node)
    if carrier is None or not carrier.settings.is_figure:
        return f"{label}: the model that it grows on is not in the scene; nothing grows"
    if figure is None:
        return ""
    name, mesh = carrier.name or carrier.id, figure.model.mesh
    if not (mesh.vertex_count if settings.source is HairSource.VERTICES else mesh.triangle_count):
        return f"{label}: {name} has no surface to grow on; nothing grows"
    skeleton = figure.model.skeleton
    if settings.density_bone and (skeleton is None or settings.density_bone not in skeleton.names):
        return f"{label}: {name} has no bone {settings.density_bone!r} to say where it grows; it grows everywhere"
    if settings.density_section and settings.density_section not in [part.name for part in mesh.sections]:
        return f"{label}: {name} has no section {settings.density_section!r}; it grows everywhere"
    return ""
