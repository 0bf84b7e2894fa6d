from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import Mark, View, World
from sinew.sim.scene.scene import Node
from sinew.sim.scene.world_transforms import vector

_COLOUR, _SELECTED = (0.35, 0.85, 0.75, 0.95), (1.0, 0.62, 0.2, 1.0)
_RADIUS = 7.0


class GroupView(View):
    """Marks groups without content, such as targets of modifiers."""

    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._marks: tuple[Mark, ...] = ()

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        is_empty = node.id not in world.scene.holders
        place = vector(world.places.world_from_node(node)[:3, 3])
        self._marks = (Mark(node.id, place, _COLOUR, _RADIUS, _SELECTED),) if is_empty else ()

    def marks(self) -> tuple[Mark, ...]:
        return self._marks
