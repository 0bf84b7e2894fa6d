"""What the head of the inspector says about a node: its icon, its kind, and how its file stands."""

from sim.kinds import KINDS
from sim.scene.scene import Node
from widgets.icons import kind_icon
from widgets.protocols import ModelState, ModelStatus

_STATES = {
    ModelState.LOADING: ", being read",
    ModelState.WITHHELD: ", not allowed to be read",
    ModelState.MISSING: ", file missing",
    ModelState.FAILED: ", not readable",
}


def gist(status: ModelStatus | None) -> tuple[ModelState | None, int]:
    """What of a status decides which rows there are; a model has them before it is drawn."""
    if status is None:
        return None, 0
    return ModelState.READY if status.state is ModelState.UPLOADING else status.state, id(status.model)


def icon_of(node: Node, status: ModelStatus | None) -> str:
    if status is not None and status.state in (ModelState.WITHHELD, ModelState.MISSING, ModelState.FAILED):
        return "missing"
    static = status is not None and status.model is not None and status.model.skeleton is None
    return "model-static" if static else kind_icon(node.kind)


def kind_text(node: Node, status: ModelStatus | None) -> str:
    return f"{KINDS[node.kind].label}{_STATES.get(status.state, '') if status is not None else ''}"
