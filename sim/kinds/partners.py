"""Nodes that act on one another, see `Kind.pairs`; they are simulated together and have one key of cached steps."""

from collections.abc import Mapping

from sinew.sim.kinds import KINDS
from sinew.sim.scene.scene import NodeId, Scene


def partners(scene: Scene) -> Mapping[NodeId, tuple[NodeId, ...]]:
    """Returns, for each node that acts on others, all that are linked with it by pairs, itself included, by id."""
    found: dict[NodeId, tuple[NodeId, ...]] = {}
    for kind in KINDS.values():
        for one, other in kind.pairs(scene) if kind.pairs is not None else ():
            linked = tuple(sorted({*found.get(one, (one,)), *found.get(other, (other,))}))
            found |= dict.fromkeys(linked, linked)
    return found
