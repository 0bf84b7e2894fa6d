from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import Mark, View, World
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.frame import PointLight
from sinew.sim.scene.scene import Node
from sinew.sim.scene.world_transforms import vector

RADIUS, ALPHA = 8.0, 0.95


class LightView(View):
    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._light: PointLight | None = None
        self._marks: tuple[Mark, ...] = ()

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        settings = node.settings
        assert isinstance(settings, LightSettings)
        place = vector(world.places.world_from_node(node)[:3, 3])
        self._light = PointLight(place, settings.reach, settings.colour, settings.intensity, settings.shadow)
        colour = (*settings.colour, ALPHA)
        self._marks = (Mark(node.id, place, colour, RADIUS, colour),)

    def light(self) -> PointLight | None:
        return self._light

    def marks(self) -> tuple[Mark, ...]:
        return self._marks
