import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.model import Material
from sinew.sim.characters.character import Character
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.background import Background
from sinew.sim.kinds.contract import (
    Array,
    Draggable,
    Exports,
    Grab,
    LiveNode,
    Measures,
    Prepares,
    StepInputs,
    Stoppable,
    System,
    World,
)
from sinew.sim.kinds.hair.comparison_solver import ComparisonSolver, rival_settings
from sinew.sim.kinds.hair.generation import GrowthSurfaces, StrandGeneration, missing
from sinew.sim.kinds.hair.groom import SHORTEST, Groom
from sinew.sim.kinds.hair.growth import Growth, GrowthSurface
from sinew.sim.kinds.hair.guide_looks import (
    child_colours,
    drawn_places,
    drawn_rows,
    guide_colours,
    hair_material,
    root_texcoords,
    widths_of,
)
from sinew.sim.kinds.hair.imported import every_of
from sinew.sim.kinds.hair.moving_roots import SurfaceTexels
from sinew.sim.kinds.hair.roots import Roots
from sinew.sim.kinds.hair.settings import HairSettings, HairSource, images_of
from sinew.sim.kinds.hair.shaping import edited
from sinew.sim.kinds.hair.solver import StrandDrag, stability
from sinew.sim.kinds.hair.strands import Strands, check_room, strands_between
from sinew.sim.kinds.packing import State, unpacked_state
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.points import nearest_to_ray
from sinew.sim.memo import Memo, same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, Settings, SettingsError, changed_effects, params_of
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view import SkinningComparison

PAGE_SLIDERS = ("gravity.y", "wind.x", "bending_length", "hold", "damping", "spring_stiffness")


class HairSystem(System, Draggable, Prepares, Stoppable, Exports, Measures):
    """The hair of one node.

    Attributes:
        strands: None before their generation, and while their model is missing.
        rival: The same strands with another solver, while the settings compare two.
        grown: The guides without edits.
        missing_text: A sentence about missing inputs, or "".
    """

    units = {"bend": "rad", "stretch": "", "energy": "J/kg", "apart": "m", "apart_mean": "m"}

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self.strands: Strands | None = None
        self.rival: ComparisonSolver | None = None
        self.grown: Groom | None = None
        self.missing_text = ""
        self._shows_groom = False
        self._key: tuple[object, ...] = ()
        self._sources: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        self._generation: StrandGeneration | None = None
        self._is_cancelled = self._is_asked = False
        self._inputs: tuple[Any, ...] = ()
        self._placed: Float64 | None = None
        self._surfaces = GrowthSurfaces()
        self._root_cover: Float64 | None = None
        self._cover = Memo[Float64]()
        self._shaded: Character | None = None

    @property
    def is_ready(self) -> bool:
        return self.strands is not None

    @property
    def stopped(self) -> str:
        return self.strands.stopped if self.strands is not None else ""

    @property
    def warning(self) -> str:
        if self.strands is None:
            return ""
        found = stability(self.strands.settings)
        if found.ratio <= 1.0:
            return ""
        fix = f"{found.substeps} substeps are stable" if found.substeps else "no number of substeps is enough"
        return f"the hair blows up with these settings: {fix}"

    @property
    def is_preparing(self) -> bool:
        return self._generation is not None or self._is_cancelled

    @property
    def progress(self) -> float | None:
        return self._generation.share if self._generation is not None else None

    @property
    def is_due(self) -> bool:
        return self._is_asked or (self._generation is not None and self._generation.is_done)

    def prepare(self) -> bool:
        return self._generation is not None and self._generation.turn()

    def cancel_preparing(self) -> None:
        if self._generation is not None:
            self._stop()
            self._is_cancelled = True

    def try_again(self) -> None:
        """Restarts a cancelled generation; `apply` must follow."""
        self._is_cancelled, self._is_asked = False, True

    @property
    def active_settings(self) -> HairSettings | None:
        return self.strands.settings if self.strands is not None else None

    def apply(self, node: Node, world: World) -> None:
        character, carrier = world.characters.get(node.attachment.node), world.scene.by_id.get(node.attachment.node)
        settings = node.settings
        assert isinstance(settings, HairSettings)
        assert isinstance(character, Character | None)
        assets = world.assets
        images = {what: assets.images[path] for what, path in images_of(settings).items() if path in assets.images}
        strands = assets.strands.get(Path(settings.file)) if settings.source is HairSource.FILE else None
        super().apply(node, world)
        key = (node, character, carrier, strands, *images.values())
        if not self.is_due and same_objects(self._key, key):
            self._shade_skin()
            return
        self._key = key
        self._report_missing(missing(node, world, character))
        try:
            ground = self._surfaces.find(node, world, character, strands, images)
        except SettingsError as error:
            self._report_missing(f"{self.label}: {error}; nothing grows")
            ground = None
        if ground is None:
            self._drop()
        else:
            self._take(settings, ground, character if ground.model is not None else None, tuple(images.values()))
        self._shade_skin()

    def step(self, inputs: StepInputs) -> None:
        self.world = inputs.world
        time, placement = (inputs.moment - 1) * STEP_TIME, self._placement(inputs.world)
        travel = inputs.air_travel(self.node) if self.node.curves else None
        pulled = self._pulled(inputs.grab) if inputs.grab is not None else None
        fields = inputs.fields.get(self.node.id)
        self._built.step(placement, inputs.colliders, time, pulled, travel, fields)
        if self.rival is not None:
            with self.context.timers.scope("rival", self.label):
                self.rival.strands.step(placement, inputs.colliders, time, pulled, travel, fields)

    def warm_up(self, settings: Sequence[Settings]) -> None:
        self._built.warm_up([one for one in settings if isinstance(one, HairSettings)])

    def mute(self) -> None:
        self.reset()

    def reset(self) -> None:
        for strands in self._all():
            strands.reset()

    def teleport(self, world: World) -> None:
        for strands in self._all():
            self.world = world
            strands.teleport(self._placement(world))

    def poll(self, now: float) -> None:
        strands, world = self._built, self.world
        placement = self._placement(world)
        shown = (strands, self._skinned(world), placement.tobytes(), self._shows_rival(world))
        with self.context.timers.scope("children", self.label):
            drawn = self._all() if self._shows_rival(world) else [strands]
            if any(solved.is_stale for solved in drawn) or shown != self._shown:
                for solved in drawn:
                    solved.refresh(placement)
                self._shown = shown
            strands.poll(now)
            if self.rival is not None:
                self.rival.strands.poll(now)
                self.rival.poll(strands, now)

    def show_groom(self, shown: bool) -> None:
        """Shows the groom at rest instead of the simulated strands, or the strands again."""
        self._shows_groom = shown
        if self.strands is not None:
            self.strands.preview(self.strands.growth.guides if shown else None)

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:
        strands = self._built
        if not 0 <= element < strands.shown.count:
            return None
        knot = nearest_to_ray(strands.shown.positions_of(element)[1:], origin, direction) + 1
        guide = element if strands.shows_guides else strands.growth.children.carriers[element]
        return int(guide) * strands.settings.knots + knot

    def particle_position(self, particle: int) -> Vec3 | None:
        strands = self._built
        if not 0 <= particle < strands.growth.guides.count * strands.settings.knots:
            return None
        x, y, z = strands.place_of(*divmod(particle, strands.settings.knots)).tolist()
        return x, y, z

    def check(self) -> None:
        for strands in self._all():
            strands.check()

    def resume(self) -> None:
        for strands in self._all():
            if strands.stopped:
                strands.resume()

    def arrays(self) -> Mapping[str, Array]:
        if self.strands is None:
            return {}
        strands = self.strands
        count, knots = strands.growth.guides.count, strands.settings.knots
        shape = (count * knots, 3)

        def points(read: Callable[..., Float32], what: str) -> Array:
            return Array(
                lambda: read().reshape(-1, 3), shape, np.float32, what,
                element=lambda point: read(point // knots, 1)[0, point % knots],
            )  # fmt: skip

        return {
            "positions": points(strands.positions, "points"),
            "velocities": points(strands.velocities, "velocities"),
            "counts": Array(lambda: np.full(count, knots, np.int32), (count,), np.int32, "counts"),
        }

    def looks(self) -> Mapping[str, Array]:
        settings, growth = self._built.settings, self._built.growth
        count = growth.guides.count
        colours = guide_colours(settings, growth.children, count)
        return self._still(growth.guides.roots, colours, widths_of(settings, np.ones(count), settings.knots))

    def drawn(self) -> Mapping[str, Array]:
        strands = self._built
        if strands.growth.is_bare or strands.shows_guides:
            return {}
        settings, children, source = strands.settings, strands.growth.children, strands.drawn
        rows, count = drawn_rows(settings, strands.longest), children.count
        colours, widths = child_colours(settings, children, rows), widths_of(settings, children.forms[:, 3], rows)
        shape = (count * rows, 3)
        return {
            "positions": Array(lambda: drawn_places(settings, source.knot_texels(), rows), shape, np.float32, "points"),
            "counts": Array(lambda: np.full(count, rows, np.int32), (count,), np.int32, "counts"),
            "closest": Array(lambda: children.guides.astype(np.int32), (count, 3), np.int32, "closest"),
            "shares": Array(lambda: children.weights.astype(np.float32), (count, 3), np.float32, "shares"),
            **self._still(children.roots, colours, widths),
        }

    @property
    def material(self) -> Material:
        return hair_material(self._built.settings, self.label)

    def _still(self, roots: Roots, colours: Float32, widths: Float32) -> dict[str, Array]:
        looks = {"colours": colours, "widths": widths}
        character = self.world.characters.get(self.node.attachment.node)
        if isinstance(character, Character) and not self._built.growth.is_own:
            looks["texcoords"] = root_texcoords(roots, character)
        return {
            what: Array(functools.partial(np.asarray, values), values.shape, np.float32, what, is_still=True)
            for what, values in looks.items()
        }

    def measures(self) -> Mapping[str, float]:
        statistics = self._built.check()
        values = {"bend": statistics.bend, "stretch": statistics.stretch, "energy": statistics.energy}
        if self.rival is not None:
            apart = self.rival.read(self._built)
            values |= {"apart": apart.most, "apart_mean": apart.mean}
        return values

    def page(self) -> LiveNode | None:
        shown = self._built.shown
        shown.need(shown.count)
        return LiveNode(shown.texels.buffer, shown.count * shown.knots, texels=1, sliders=PAGE_SLIDERS)

    def snapshot(self) -> State:
        snapshot = self._built.snapshot()
        return snapshot if self.rival is None else State({"strands": snapshot, "rival": self.rival.strands.snapshot()})

    def restore(self, state: bytes, world: World) -> None:
        self.world = world
        head, _ = unpacked_state(state)
        self._built.restore(head.get("strands", state))
        if self.rival is not None and "rival" in head:
            self.rival.strands.restore(head["rival"])

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        (before, _), (head, _) = unpacked_state(one), unpacked_state(other)
        if "rival" not in head or "rival" not in before:
            return strands_between(before.get("strands", one), head.get("strands", other), share)
        return State({name: strands_between(before[name], head[name], share) for name in head}).packed()

    def release(self) -> None:
        if hasattr(self, "world"):
            self._drop()

    @property
    def _built(self) -> Strands:
        assert self.strands is not None
        return self.strands

    def _pulled(self, grab: Grab) -> StrandDrag | None:
        if grab.node != self.node.id or self.particle_position(grab.particle) is None:
            return None
        guide, knot = divmod(grab.particle, self._built.settings.knots)
        return StrandDrag(guide, max(knot, 1), grab.hand, grab.reach)

    def _placement(self, world: World) -> Float64:
        if self._built.growth.is_own:
            return world.places.world_from_node(self.node)
        placement: Float64 = world.characters[self.node.attachment.node].world_from_model
        return placement

    def _skinned(self, world: World) -> int:
        character = world.characters.get(self.node.attachment.node)
        return character.primary.write_count if isinstance(character, Character) else 0

    def _take(
        self, settings: HairSettings, ground: GrowthSurface, character: Character | None, images: tuple[Any, ...]
    ) -> None:
        sources = (character, settings.source, ground.table, ground.strands, *images)
        same = same_objects(self._sources, sources)
        if self.strands is not None and same:
            if Effect.REBUILD not in changed_effects(self.strands.settings, settings) and not self._has_moved(ground):
                self._stop()
                self._regroom(settings)
                self.strands.apply(settings)
                self._take_rival(settings, character)
                return
        elif not same_objects(self._sources[:2], sources[:2]):
            self._release()
        inputs, self._is_asked = (*sources, _rebuilt(settings), ground.surface_from_file), False
        is_same = _same_growth(self._inputs, inputs)
        if is_same and self._is_cancelled:
            return
        background = self.world.services.get(Background)
        if self._generation is None or not is_same:
            self._stop()
            check_room(self.context, settings)
            former = self.strands.growth if self.strands is not None and same else None
            self._inputs = inputs
            self._generation = StrandGeneration(self.context, background, settings, ground, former)
        if background.is_on and not self._generation.is_done:
            return
        generation, self._generation = self._generation, None
        try:
            generated, buffers = generation.take()
        except SettingsError as error:
            self._release()
            self._report_missing(f"{self.label}: {error}")
            return
        growth = generated.growth
        self._report_growth(settings, ground, growth)
        skin = self._skin(character) if character is not None else None
        strands = Strands(self.context, self.library, generated.settings, growth, skin, generated.coverage, buffers)
        self._release()
        self.strands = self.owns(strands)
        self._sources, self._placed, self.grown = sources, ground.surface_from_file, generated.as_grown
        self._root_cover = generated.root_cover
        self._regroom(settings)
        strands.apply(settings)
        strands.preview(strands.growth.guides if self._shows_groom else None)
        self._take_rival(settings, character)

    def _shade_skin(self) -> None:
        """Sets `Character.root_covers` of the model that visible strands grow on."""
        character, length, cover = self._sources[0] if self._sources else None, self._root_cover, None
        assert isinstance(character, Character | None)
        if self.strands is not None and length is not None and self.node.id in self.world.scene.shown:
            settings = self.strands.settings
            factor = settings.skin_shade * (settings.root_radius + settings.tip_radius)
            cover = self._cover.get((self.strands, factor), lambda: length * factor) if factor > 0.0 else None
        if self._shaded is not None and (cover is None or self._shaded is not character):
            self._shaded.root_covers.pop(self.node.id, None)
        if cover is not None and character is not None:
            character.root_covers[self.node.id] = cover
        self._shaded = character if cover is not None else None

    def _skin(self, character: Character) -> SurfaceTexels:
        vertices = character.primary.vertices
        texels = BufferTexture(self.context, vertices, "rgba32f", label="skin of hair")
        return SurfaceTexels(texels, vertices.dtype.itemsize // 16)

    def _take_rival(self, settings: HairSettings, character: Character | None) -> None:
        compared, strands = rival_settings(settings), self._built
        if compared is None:
            self.disown(self.rival)
            self.rival = None
        elif self.rival is not None:
            if self.rival.strands.growth.guides is not strands.growth.guides:
                self.rival.strands.regroom(strands.growth.guides)
            self.rival.strands.apply(compared)
        else:
            skin = self._skin(character) if character is not None else None
            self.rival = self.owns(ComparisonSolver(self.context, self.library, compared, strands, skin))
            self.rival.strands.restore(strands.snapshot().packed())

    def _shows_rival(self, world: World) -> bool:
        return self.rival is not None and world.scene.view.comparison is SkinningComparison.SPLIT

    def _all(self) -> list[Strands]:
        strands = [] if self.strands is None else [self.strands]
        return strands if self.rival is None else [*strands, self.rival.strands]

    def _has_moved(self, ground: GrowthSurface) -> bool:
        placed, now = self._placed, ground.surface_from_file
        return placed is not None and now is not None and not np.allclose(placed, now)

    def _report_growth(self, settings: HairSettings, ground: GrowthSurface, growth: Growth) -> None:
        if growth.longest <= SHORTEST:
            self._report_missing(f"{self.label}: none of its strands has a length; nothing is seen of it")
        if ground.strands is not None and (every := every_of(settings, ground.strands)) > settings.file_every:
            name, count = Path(settings.file).name, ground.strands.count
            self._report_missing(f"{self.label}: {name} has {count:,} strands; one in {every} is simulated")

    def _regroom(self, settings: HairSettings) -> None:
        strands = self._built
        assert self.grown is not None
        if settings.groom != strands.settings.groom:
            strands.regroom(edited(self.grown, strands.growth.surface, settings.groom))

    def _report_missing(self, line: str) -> None:
        self.report(line)
        self.missing_text = line.removeprefix(f"{self.label}: ")

    def _drop(self) -> None:
        self._surfaces.forget(self.world.services)
        self._stop()
        self._release()

    def _stop(self) -> None:
        self._is_cancelled = self._is_asked = False
        if self._generation is not None:
            self._generation.cancel()
            self._generation = None

    def _release(self) -> None:
        self.disown(self.rival, self.strands)
        self.strands = self.grown = self.rival = self._root_cover = None
        self._sources = ()
        self._shade_skin()


def _same_growth(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Returns True if inputs are equal: objects by identity, settings by value, placements approximately."""
    if len(one) != len(other) or not same_objects(one[:-2], other[:-2]) or one[-2] != other[-2]:
        return False
    return one[-1] is other[-1] or (one[-1] is not None and other[-1] is not None and np.allclose(one[-1], other[-1]))


def _rebuilt(settings: HairSettings) -> tuple[Any, ...]:
    records = params_of(HairSettings)
    return tuple(getattr(settings, one.name) for one in records if one.declared.effect is Effect.REBUILD)
