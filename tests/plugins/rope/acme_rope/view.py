from acme_rope.system import RopeSystem
from sinew.sim.render.particle_view import ParticleView
from sinew.sim.render.point_surface import PointSurfaceItem
from sinew.sim.scene.scene import Node


class RopeView(ParticleView):
    def item(self, node: Node, system: RopeSystem) -> PointSurfaceItem:
        return system.surface.item(node, node.settings.colour, system.scale * node.settings.radius)
