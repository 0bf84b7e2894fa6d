"""View state, which is saved with a project but not undone."""

from collections.abc import Iterable

import msgspec

from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import NodeId


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    node: NodeId | None = None  # Of several, the one that was chosen last
    bone: str | None = None  # Joint of that node; None if the node itself is selected
    view: bool = False  # The viewport settings are selected; `node` is None then
    others: tuple[NodeId, ...] = ()  # Without `node`; empty if a part of it is selected
    material: str | None = None  # Of that node, as `bone`

    @property
    def is_part(self) -> bool:
        return self.bone is not None or self.material is not None

    @property
    def all_nodes(self) -> tuple[NodeId, ...]:
        return () if self.node is None else (self.node, *self.others)

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """Nodes that are selected as a whole, the one chosen last first; empty if a part is selected."""
        return () if self.is_part else self.all_nodes


def selection_of(nodes: Iterable[NodeId]) -> Selection:
    """Returns a selection of nodes; the one chosen last comes first, without duplicates."""
    first, *others = dict.fromkeys(nodes) or (None,)
    return Selection(node=first, others=tuple(others))


def toggled(selection: Selection, node_id: NodeId) -> Selection:
    """Returns a selection with a node added as the last one chosen, or removed."""
    chosen = selection.nodes
    if node_id in chosen:
        return selection_of(other for other in chosen if other != node_id)
    return selection_of((node_id, *chosen))


OutputValue = bool | int | float | str | tuple[str, ...]


class ViewState(msgspec.Struct, frozen=True, kw_only=True):
    camera: Camera = Camera()
    time: float = 0.0
    selection: Selection = Selection()
    # Values of the pages "render" and "export" that the user has changed
    output: dict[str, dict[str, OutputValue]] = {}
