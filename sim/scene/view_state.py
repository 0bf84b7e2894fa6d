"""What is saved with a project but not undone: camera, playhead and selection."""

import msgspec

from sim.scene.camera import Camera
from sim.scene.scene import NodeId


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one selection shared by tree, viewport and inspector.

    Attributes:
        node: Selected node, or None.
        bone: Name of the selected joint of that node, or None when the node itself is meant.
        view: The view settings are selected; `node` is None then.
    """

    node: NodeId | None = None
    bone: str | None = None
    view: bool = False


class ViewState(msgspec.Struct, frozen=True, kw_only=True):
    """Camera, playhead [s], selection and expanded state that reopen with the project."""

    camera: Camera = Camera()
    time: float = 0.0
    selection: Selection = Selection()
