"""Which force fields act on which nodes; a kind that feels them has the setting `field_weight`."""

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import ForceSource, World
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node, Scene


def weight_of(settings: Settings | None) -> float:
    """Returns the factor of all fields; 0 for kinds that no field acts on."""
    weight: float = getattr(settings, "field_weight", 0.0)
    return weight


def fields_on(world: World, node: Node) -> tuple[Node, ...]:
    """Returns the force fields that act on a node, in the order of the scene."""
    settings = world.active_settings.get(node.id, node.settings)
    return acting_fields(world.scene, node) if weight_of(settings) != 0.0 else ()


def acting_fields(scene: Scene, node: Node) -> tuple[Node, ...]:
    """Returns the fields that act on a node with a weight."""
    return tuple(
        field
        for kind in KINDS.values()
        if ForceSource in kind.declared
        for field in scene.simulated_of_kind(kind.name)
        if kind.part(ForceSource).acts_on(field, node, scene)
    )
