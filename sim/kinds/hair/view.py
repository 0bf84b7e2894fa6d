import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.characters.character import Character, SkinPart
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import NOTHING, Counts, View, World
from sinew.sim.kinds.hair.highlights import GuideHighlights
from sinew.sim.kinds.hair.ribbons import Ribbons
from sinew.sim.kinds.hair.settings import HairDisplay, HairSettings, HairSource
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.memo import Memo
from sinew.sim.render.detail_pass import PointsItem
from sinew.sim.render.items import Item
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import Node

MASS, MASS_PIXELS = (0.93, 0.86, 0.70), 3.0


class HairView(View):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._guides = self.owns(GuideHighlights(context, library))
        self._node = Node(id="", settings=HairSettings())
        self._system: HairSystem | None = None
        self._world: World | None = None
        self._part = Memo[SkinPart]()
        self._box = Memo[Bounds]()
        self._items = {False: Memo[tuple[Ribbons, tuple[Item, ...]]](), True: Memo[tuple[Ribbons, tuple[Item, ...]]]()}

    def apply(self, node: Node, subject: object, world: World) -> None:
        assert isinstance(subject, HairSystem | None)
        self._node, self._system, self._world = node, subject, world

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        box, system = self.bounds(), self._system
        rival = system.rival if system is not None and display.second else None
        strands = self._strands if rival is None else rival.strands
        if strands is None or box is None or not strands.shown.version:
            return ()

        def make() -> tuple[Ribbons, tuple[Item, ...]]:
            item = Ribbons(node=self._node, strands=strands, settings=strands.settings, box=box)
            return item, self._masses(strands)

        ribbons, masses = self._items[display.second].get((strands, strands.settings, self._node), make)
        ribbons.box = box
        highlights = self._guides.items(self._node, strands, display.overlay)
        compared = system.rival if system is not None and strands.settings.show is HairDisplay.DISTANCE else None
        if compared is not None and not display.second:
            ribbons.stages = ("pick",)
            return (ribbons, self._guides.distances(self._node, strands, compared), *highlights)
        return (ribbons, *masses, *highlights)

    def bounds(self) -> Bounds | None:
        strands, world = self._strands, self._world
        if strands is None or world is None:
            return None
        roots = self._root_bounds(strands, world)
        if roots is None:
            return None
        reach = strands.reach
        key = (strands, reach, *roots.lo.tolist(), *roots.hi.tolist())
        return self._box.get(key, lambda: Bounds(roots.lo - reach, roots.hi + reach))

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

    def _root_bounds(self, strands: Strands, world: World) -> Bounds | None:
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
        growth = strands.growth
        part = self._part.get((growth.surface, character), lambda: character.part_of(growth.rooted))
        return character.part_bounds(part)
