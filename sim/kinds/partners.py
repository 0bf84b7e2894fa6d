"""Nodes that act on one another, see `Coupling.pairs`; they are simulated together and have one key of cached steps."""

from collections.abc import Iterator, Mapping

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Coupling
from sinew.sim.scene.scene import NodeId, Scene


def all_pairs(scene: Scene) -> Iterator[tuple[NodeId, NodeId]]:
    for kind in KINDS.values():
        coupling = kind.declared.get(Coupling)
        if coupling is not None and coupling.pairs is not None:
            yield from coupling.pairs(scene)


def partners(scene: Scene) -> Mapping[NodeId, tuple[NodeId, ...]]:
    """Returns, for each node that acts on others, all that are linked with it by pairs, itself included, by id."""
    found: dict[NodeId, tuple[NodeId, ...]] = {}
    for one, other in all_pairs(scene):
        linked = tuple(sorted({*found.get(one, (one,)), *found.get(other, (other,))}))
        found |= dict.fromkeys(linked, linked)
    return found
