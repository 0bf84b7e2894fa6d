"""What the head of the inspector says about a node: its icon, its kind, and how its file stands."""

from sim.scene.scene import Node
from widgets.icons import kind_icon
from widgets.protocols import ModelState, ModelStatus

_STATES = {
    ModelState.LOADING: "Model, being read",
    ModelState.UPLOADING: "Model",
    ModelState.READY: "Model",
    ModelState.MISSING: "Model, file missing",
    ModelState.FAILED: "Model, not readable",
}


def gist(status: ModelStatus | None) -> tuple[ModelState | None, int]:
    """What of a status decides which rows there are; a model has them before it is drawn."""
    if status is None:
        return None, 0
    return ModelState.READY if status.state is ModelState.UPLOADING else status.state, id(status.model)


def icon_of(node: Node, status: ModelStatus | None) -> str:
    """Name of the icon of a node."""
    if node.kind != "model":
        return kind_icon(node.kind)
    if status is not None and status.state in (ModelState.MISSING, ModelState.FAILED):
        return "missing"
    static = status is not None and status.model is not None and status.model.skeleton is None
    return "model-static" if static else "model"


def kind_text(node: Node, status: ModelStatus | None) -> str:
    """The kind of a node in words."""
    if node.kind != "model":
        return node.kind.capitalize()
    return _STATES[status.state if status is not None else ModelState.READY]
