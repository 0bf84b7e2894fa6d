import numpy as np

from sinew.sim.assets.model import Bounds, Material
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import NOTHING, Counts, View, World
from sinew.sim.kinds.particle_system import ParticleSystem
from sinew.sim.maths.transform import transform_points
from sinew.sim.memo import same_objects
from sinew.sim.render.items import Item
from sinew.sim.render.point_surface import PointSurface
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import Node


class ParticleView(View):
    """Draws the `surface` of a `ParticleSystem` with its `material`; a kind overrides `item` for other values."""

    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._items: tuple[Item, ...] = ()
        self._of: tuple[object, ...] = ()
        self._bounds: Bounds | None = None
        self._counts = NOTHING

    def item(self, node: Node, system: ParticleSystem) -> Item:
        assert isinstance(system.surface, PointSurface)
        return system.surface.item_of(node, system.material or Material(node.kind, None, None))

    def apply(self, node: Node, subject: object, world: World) -> None:
        if not isinstance(subject, ParticleSystem) or not subject.is_ready:
            self._items, self._of, self._bounds, self._counts = (), (), None, NOTHING
            return
        if not same_objects((node, subject.surface), self._of):
            self._of = node, subject.surface
            self._items = (self.item(node, subject),) if subject.surface is not None else ()
            count, faces = subject.count, subject.faces
            self._counts = Counts(particles=count) if faces is None else Counts(vertices=count, triangles=len(faces))
        extremes = subject.box().min(axis=0), subject.box().max(axis=0)
        corners = np.array([[extremes[i][0], extremes[j][1], extremes[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
        corners = transform_points(world.places.world_from_node(node), corners)
        lo, hi = corners.min(axis=0), corners.max(axis=0)
        if self._bounds is None or not (np.array_equal(lo, self._bounds.lo) and np.array_equal(hi, self._bounds.hi)):
            self._bounds = Bounds(lo, hi)

    def parts(self, _display: DisplayOptions) -> tuple[Item, ...]:
        return self._items

    def bounds(self) -> Bounds | None:
        return self._bounds

    def counts(self) -> Counts:
        return self._counts
