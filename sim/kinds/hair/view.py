"""What is seen of hair: its ribbons, where it stands now."""

import numpy as np

from sim.assets.model import Bounds
from sim.figures.character import Character
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.contract import NOTHING, Counts, View, World
from sim.kinds.hair.marked import GuideMarks
from sim.kinds.hair.ribbons import Ribbons
from sim.kinds.hair.settings import HairSettings, HairSource
from sim.kinds.hair.strands import Strands
from sim.kinds.hair.system import HairSystem
from sim.render.items import Item
from sim.render.shot import Look
from sim.scene.scene import Node


class HairView(View):
    """Draws the hair of one node, as soon as there is some."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._marks = GuideMarks(context, library)
        self._node = Node(id="", settings=HairSettings())
        self._system: HairSystem | None = None
        self._world: World | None = None
        self._box: tuple[tuple[object, ...], Bounds] | None = None
        self._item: tuple[tuple[object, ...], Ribbons] | None = None

    def apply(self, node: Node, subject: HairSystem | None, world: World) -> None:
        """Takes the node; its place is looked up when asked."""
        self._node, self._system, self._world = node, subject, world

    def parts(self, look: Look) -> tuple[Item, ...]:
        """Its strands, and marks of guides."""
        strands, box = self._strands, self.bounds()
        if strands is None or box is None or not strands.shown.version:
            return ()
        key = (strands, strands.settings, self._node)
        if self._item is None or any(a is not b for a, b in zip(self._item[0], key, strict=True)):
            item = Ribbons(node=self._node, strands=strands, settings=strands.settings, box=box)
            self._item = (key, item)
        self._item[1].box = box
        return (self._item[1], *self._marks.items(self._node, strands, look.overlay))

    def bounds(self) -> Bounds | None:
        """Box in the world [m] that holds the hair: around what it grows on, by its length."""
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
        """Knots of the strands that are drawn."""
        strands = self._strands
        return NOTHING if strands is None else Counts(vertices=strands.shown.count * strands.settings.knots)

    def release(self) -> None:
        """Deletes the marks; the strands stay."""
        self._marks.release()

    @property
    def _strands(self) -> Strands | None:
        return self._system.strands if self._system is not None else None

    def _rooted(self, strands: Strands, world: World) -> Bounds | None:
        """Box of what the hair grows on."""
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
        figure = world.figures.get(self._node.attachment.node)
        return figure.bounds() if isinstance(figure, Character) else None
