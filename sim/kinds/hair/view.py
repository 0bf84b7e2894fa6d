"""HairView: draws the hair of a node."""

import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.characters.character import Character, SkinPart
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import NOTHING, Counts, View, World
from sinew.sim.kinds.hair.highlights import DistanceView, GuideHighlights
from sinew.sim.kinds.hair.ribbons import Ribbons
from sinew.sim.kinds.hair.roots import RootSurface
from sinew.sim.kinds.hair.settings import HairDisplay, HairSettings, HairSource
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.render.detail_pass import PointsItem
from sinew.sim.render.items import Item
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import Node

MASS, MASS_PIXELS = (0.93, 0.86, 0.70), 3.0
"""Colour (sRGB) and width [px] of points."""


class HairView(View):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._marks = self.owns(GuideHighlights(context, library))
        self._heat = self.owns(DistanceView(context, library))
        self._node = Node(id="", settings=HairSettings())
        self._system: HairSystem | None = None
        self._world: World | None = None
        self._part: tuple[RootSurface, Character, SkinPart] | None = None
        self._box: tuple[tuple[object, ...], Bounds] | None = None
        self._items: dict[bool, tuple[tuple[object, ...], Ribbons, tuple[Item, ...]]] = {}

    def apply(self, node: Node, subject: HairSystem | None, world: World) -> None:
        self._node, self._system, self._world = node, subject, world

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        box, system = self.bounds(), self._system
        rival = system.rival if system is not None and display.second else None
        strands = self._strands if rival is None else rival.strands
        if strands is None or box is None or not strands.shown.version:
            return ()
        key = (strands, strands.settings, self._node)
        cached = self._items.get(display.second)
        if cached is None or any(a is not b for a, b in zip(cached[0], key, strict=True)):
            item = Ribbons(node=self._node, strands=strands, settings=strands.settings, box=box)
            cached = self._items[display.second] = key, item, self._masses(strands)
        _, ribbons, masses = cached
        ribbons.box = box
        marks = self._marks.items(self._node, strands, display.overlay)
        other = system.rival if system is not None and strands.settings.show is HairDisplay.DISTANCE else None
        if other is not None and not display.second:
            ribbons.stages = ("pick",)
            return (ribbons, self._heat.item(self._node, strands, other), *marks)
        return (ribbons, *masses, *marks)

    def bounds(self) -> Bounds | None:
        strands, world = self._strands, self._world
        if strands is None or world is None:
            return None
        own = self._rooted(strands, world)
        if own is None:
            return None
        reach = strands.reach
        key = (strands, reach, *own.lo.tolist(), *own.hi.tolist())
        if self._box is None or self._box[0] != key:
            self._box = (key, Bounds(own.lo - reach, own.hi + reach))
        return self._box[1]

    def counts(self) -> Counts:
        strands = self._strands
        return NOTHING if strands is None else Counts(vertices=strands.shown.count * strands.settings.knots)

    def _masses(self, strands: Strands) -> tuple[Item, ...]:
        if strands.settings.show is not HairDisplay.MASSES:
            return ()
        shown = strands.shown
        return (PointsItem(node=self._node, stages=("detail",), vertices=shown.points, colour=MASS, size=MASS_PIXELS,
                       count=shown.count * shown.knots),)  # fmt: skip

    @property
    def _strands(self) -> Strands | None:
        return self._system.strands if self._system is not None else None

    def _rooted(self, strands: Strands, world: World) -> Bounds | None:
        settings = strands.settings
        if strands.growth.is_own:
            placement = world.places.world_from_node(self._node)
            if settings.source is HairSource.ELLIPSOID:
                reach = np.linalg.norm(placement[:3, :3] * np.array(settings.radii), axis=1)
                return Bounds(placement[:3, 3] - reach, placement[:3, 3] + reach)
            own = strands.growth.box
            middle, half = (own.lo + own.hi) / 2.0, (own.hi - own.lo) / 2.0
            middle, half = placement[:3, :3] @ middle + placement[:3, 3], np.abs(placement[:3, :3]) @ half
            return Bounds(middle - half, middle + half)
        character = world.characters.get(self._node.attachment.node)
        if not isinstance(character, Character):
            return None
        if self._part is None or self._part[0] is not strands.growth.surface or self._part[1] is not character:
            self._part = strands.growth.surface, character, character.part_of(strands.growth.rooted)
        return character.part_bounds(self._part[2])
