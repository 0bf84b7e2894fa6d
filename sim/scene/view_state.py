"""What is saved with a project but not undone: camera, playhead and selection."""

from collections.abc import Iterable

import msgspec

from sim.scene.camera import Camera
from sim.scene.scene import NodeId


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one selection shared by tree, viewport and inspector.

    Attributes:
        node: Selected node, or None; of several the one that was chosen last.
        bone: Name of the selected joint of that node, or None when the node itself is meant.
        material: Name of the selected material of that node, likewise.
        view: The view settings are selected; `node` is None then.
        others: Nodes that are selected beside `node`, which is none of them; empty where a part of it is meant.
    """

    node: NodeId | None = None
    bone: str | None = None
    view: bool = False
    others: tuple[NodeId, ...] = ()
    material: str | None = None

    @property
    def is_part(self) -> bool:
        return self.bone is not None or self.material is not None

    @property
    def all_nodes(self) -> tuple[NodeId, ...]:
        return () if self.node is None else (self.node, *self.others)

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """The nodes that are meant as a whole, the one that was chosen last first; none where it is a part of one."""
        return () if self.is_part else self.all_nodes


def selection_of(nodes: Iterable[NodeId]) -> Selection:
    """Several nodes, the one that was chosen last first; none twice."""
    first, *others = dict.fromkeys(nodes) or (None,)
    return Selection(node=first, others=tuple(others))


def toggled(selection: Selection, node_id: NodeId) -> Selection:
    """The selection with one node more, as the last one chosen, or without it if it was in."""
    chosen = selection.nodes
    if node_id in chosen:
        return selection_of(other for other in chosen if other != node_id)
    return selection_of((node_id, *chosen))


class ViewState(msgspec.Struct, frozen=True, kw_only=True):
    """Camera, playhead [s], selection and expanded state that reopen with the project."""

    camera: Camera = Camera()
    time: float = 0.0
    selection: Selection = Selection()
