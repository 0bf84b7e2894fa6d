"""Nodes that act on one another, see `Kind.pairs`; they are simulated together and have one key of cached steps."""

from collections.abc import Mapping

from sinew.sim.kinds import KINDS
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import NodeId, Scene

_known = Memo[Mapping[NodeId, tuple[NodeId, ...]]]()


def partners(scene: Scene) -> Mapping[NodeId, tuple[NodeId, ...]]:
    """Returns, for each node that acts on others, all that are linked with it by pairs, itself included, by id."""
    return _known.get((scene,), lambda: _partners(scene))


def _partners(scene: Scene) -> Mapping[NodeId, tuple[NodeId, ...]]:
    found: dict[NodeId, tuple[NodeId, ...]] = {}
    for kind in KINDS.values():
        for one, other in kind.pairs(scene):
            linked = tuple(sorted({*found.get(one, (one,)), *found.get(other, (other,))}))
            found |= dict.fromkeys(linked, linked)
    return found
