from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.document.keys import KeyEdits
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.files.model_store import ModelStore
from sinew.app.project.project_paths import relocated_paths
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.kinds.contract import Command
from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import Attachment, NodeId, ParamRef
from sinew.sim.scene.view_state import Selection, ViewState
from sinew.widgets.inspector.inspector import Inspector
from sinew.widgets.messages import Message, Messages, Severity
from sinew.widgets.outliner import Outliner, OutlinerAction
from sinew.widgets.outliner_model import ListPlace
from sinew.widgets.protocols import PoseLike


class Panels(QObject):
    """Connections of outliner, inspector and messages with document, models and engine.

    Attributes:
        remedies: Functions from an unreadable file to a command that helps, or None.
    """

    failed = Signal()  # An error was listed
    frame_requested = Signal()  # The user frames the selection
    locate_requested = Signal(str)  # The user locates the missing file of this node

    def __init__(self, document: Document, store: ModelStore, client: ViewportRenderer, edits: SceneEdits) -> None:
        super().__init__()
        self._document, self._store, self._client, self._edits = document, store, client, edits
        self.outliner = Outliner(document, store.status)
        self.inspector = Inspector(document, store.status)
        self.messages = Messages()
        self._key_time = document.view_state.time
        self.remedies: list[Callable[[str], Command | None]] = []
        self.inspector.set_links = edits.set_links
        self.inspector.set_pose(self._pose, self._world)
        self.keys = KeyEdits(document)
        self.inspector.set_keys(self.keys)
        self._connect()
        self._show_selection(document.selection)

    # --- messages -------------------------------------------------------------------------------------

    def warn(self, file: str, text: str, action: Command | None = None) -> None:
        self.messages.add(Message(Severity.WARNING, without_prefix(text, file), file, action=action))

    def fail(self, file: str, text: str) -> None:
        """Reports an error with a command that helps, if any, and shows the messages."""
        self.failed.emit()
        action = next((command for remedy in self.remedies if (command := remedy(file))), None)
        self.messages.add(Message(Severity.ERROR, without_prefix(text, file), file, action=action))

    def inform(self, file: str, text: str) -> None:
        self.messages.add(Message(Severity.INFO, text, file))

    # --- relocation -----------------------------------------------------------------------------------

    def relocate(self, node_id: NodeId, path: Path) -> None:
        """Sets the file of a model, and the files of other missing models in the same folder."""
        self._edits.relocate(relocated_paths(self._document.scene, node_id, path))

    # --- wiring ---------------------------------------------------------------------------------------

    def _connect(self) -> None:
        outliner, document, store = self.outliner, self._document, self._store
        document.selection_changed.connect(self._show_selection)
        document.view_state_changed.connect(self._show_keys)
        store.changed.connect(outliner.model_changed)
        store.changed.connect(self.inspector.model_changed)
        store.warned.connect(self.warn)
        store.failed.connect(self.fail)
        outliner.selected.connect(document.select)
        self.inspector.link_followed.connect(document.select)
        outliner.model.rename_requested.connect(self._rename)
        outliner.switch_requested.connect(self._switch)
        outliner.model.place_requested.connect(self._place)
        outliner.action_requested.connect(self._act)
        self.inspector.refused.connect(lambda text: self.fail("", text))

    def _show_selection(self, selection: Selection) -> None:
        self.outliner.set_selection(selection)
        self.inspector.set_selection(selection)

    def _show_keys(self, state: ViewState) -> None:
        if state.time != self._key_time:
            self._key_time = state.time
            self.inspector.refresh_keys()

    def _rename(self, node_id: NodeId, name: str) -> None:
        try:
            self._document.rename(node_id, name)
        except ParamError as error:
            self.fail("", str(error))

    def _switch(self, node_id: NodeId, name: str, on: bool) -> None:
        if name == "locked":
            self._edits.set_of_nodes([node_id], name, on, "Lock" if on else "Unlock")
        else:
            self._document.set_value(ParamRef(node_id, "node", name), on)

    def _place(self, nodes: Sequence[NodeId], place: ListPlace) -> None:
        attachment = Attachment(node=place.parent, bone=place.bone)
        try:
            self._edits.place_nodes(nodes, attachment, before=place.before or None, order=place.order)
        except ParamError as error:
            self.fail("", str(error))

    def _act(self, action: OutlinerAction, selection: Selection) -> None:
        if selection.node not in self._document.selection.nodes or selection.is_part:
            self._document.select(selection)
        if action is OutlinerAction.FRAME:
            self.frame_requested.emit()
        elif action is OutlinerAction.DUPLICATE:
            self._edits.duplicate_selected()
        elif action is OutlinerAction.DELETE:
            self._edits.delete_selected()
        elif action is OutlinerAction.RELOAD and selection.node is not None:
            self._store.reload(selection.node)
        elif action is OutlinerAction.LOCATE and selection.node is not None:
            self.locate_requested.emit(selection.node)

    def _pose(self, node_id: NodeId) -> PoseLike | None:
        character = self._client.engine.views.characters.get(node_id) if self._client.engine else None
        return character.pose if character else None

    def _world(self, node_id: NodeId) -> npt.NDArray[np.float64] | None:
        character = self._client.engine.views.characters.get(node_id) if self._client.engine else None
        return character.world_from_model if character else None


def without_prefix(text: str, file: str) -> str:
    """Returns the text without the file name, which has its own column."""
    return text.removeprefix(f"{file}: ") if file else text
