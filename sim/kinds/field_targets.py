"""Which force fields act on which nodes."""

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import World
from sinew.sim.scene.scene import Node, Scene


def fields_on(world: World, node: Node) -> tuple[Node, ...]:
    """The force fields that act on a node, in the order of the scene."""
    return acting_fields(world.scene, node) if field_weight(world, node) != 0.0 else ()


def field_weight(world: World, node: Node) -> float:
    """Of the active settings; 1 for kinds without such a setting."""
    weight: float = getattr(world.active_settings.get(node.id, node.settings), "field_weight", 1.0)
    return weight


def acting_fields(scene: Scene, node: Node) -> tuple[Node, ...]:
    """Ignores the weight of the node."""
    return tuple(
        field
        for kind in KINDS.values()
        if kind.fields
        for field in scene.simulated_of_kind(kind.name)
        if kind.acts_on(field, node, scene)
    )
