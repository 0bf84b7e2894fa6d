import enum
from collections.abc import Callable

from PySide6.QtCore import QItemSelection, QPoint, Signal
from PySide6.QtWidgets import QMenu, QStackedLayout, QVBoxLayout, QWidget

from sinew.sim.characters.settings import MATERIAL_PART
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.scene import NodeId, ParamRef
from sinew.sim.scene.view_state import Selection, selection_of
from sinew.widgets.icons import icon
from sinew.widgets.outliner_entries import Entry, EntryKind, Key
from sinew.widgets.outliner_model import Badge, OutlinerModel
from sinew.widgets.outliner_view import OutlinerView
from sinew.widgets.parts import EmptyState, SearchField, packed
from sinew.widgets.protocols import EditTarget, ModelProvider, ModelState
from sinew.widgets.theme import SPACE

_NODES = (EntryKind.NODE, EntryKind.FOLD)


class OutlinerAction(enum.Enum):
    FRAME = "Frame in view"
    DUPLICATE = "Duplicate"
    DELETE = "Delete"
    RELOAD = "Reload file"
    LOCATE = "Locate file…"


class Outliner(QWidget):
    """A tree of nodes below their parents, with the parts of their files; emits edits as signals.

    Attributes:
        extend_menu: Called with the context menu and entry of a row before the menu opens.
    """

    selected = Signal(object)  # The new `Selection`
    switch_requested = Signal(str, str, bool)  # Node, "visible", "muted" or "locked", and its new state
    reset_requested = Signal(str)  # A stopped node
    resume_requested = Signal(str)  # A stopped node
    action_requested = Signal(object, object)  # An `OutlinerAction` and a `Selection`

    def __init__(self, target: EditTarget, model_of: ModelProvider, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target = target
        self._model_of = model_of
        self._selection = Selection()
        self._is_syncing = False
        self.extend_menu: Callable[[QMenu, Entry], None] = lambda _menu, _entry: None
        self.model = OutlinerModel(model_of, self)
        self.view = OutlinerView(self.model, self)
        self.filter_line = SearchField("Filter by name", self)
        self.nothing_found = EmptyState("filter", "No matches", "No name contains all of these words.", self)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.nothing_found)
        packed(QVBoxLayout(self), packed(QVBoxLayout(), self.filter_line, margins=SPACE), (self._stack, 1))
        self._target.changed.connect(self._changed)
        self.filter_line.textChanged.connect(self._filter)
        self.model.modelReset.connect(self._restore)
        self.model.rowsInserted.connect(self._restore)
        self.view.selectionModel().selectionChanged.connect(self._selected)
        self.view.badge_clicked.connect(self._badge_clicked)
        self.view.deselected.connect(lambda: self.selected.emit(Selection()))
        self.view.delete_pressed.connect(self._delete_pressed)
        self.view.menu_requested.connect(self._open_menu)
        self.model.set_scene(target.scene)
        self._show_selection()

    def set_selection(self, selection: Selection) -> None:
        """Selects rows without emitting a signal."""
        if selection != self._selection:
            self._selection = selection
            self._show_selection()

    def rename_selected(self) -> None:
        entry = self.view.selected_entry()
        if entry is not None and entry.kind is EntryKind.NODE:
            self.view.rename(entry)

    def model_changed(self, node_id: NodeId) -> None:
        """Shows the model of a node; call this when it was loaded, failed or made progress."""
        status = self._model_of(node_id)
        if status is not None and status.state is ModelState.LOADING:
            self.model.set_scene(self._target.scene)
        else:
            self.model.refresh_node(node_id)
            self._show_selection()

    def _selected(self, _now: QItemSelection, _before: QItemSelection) -> None:
        entries = self.view.selected_entries()
        chosen = list(dict.fromkeys(node for e in entries if e.kind in _NODES for node in e.selection.nodes))
        if self._is_syncing or not entries:
            return
        # Only nodes can be selected together.
        selection = selection_of(chosen) if len(entries) > 1 else entries[0].selection
        is_same = set(chosen) == set(self._selection.nodes) if len(entries) > 1 else selection == self._selection
        if not is_same and (chosen or len(entries) == 1):
            self._selection = selection
            self.selected.emit(selection)

    def _delete_pressed(self) -> None:
        entry = next((e for e in self.view.selected_entries() if e.kind in _NODES), None)
        if entry is not None:
            self.action_requested.emit(OutlinerAction.DELETE, entry.selection)

    def _badge_clicked(self, entry: Entry, badge: Badge) -> None:
        node_id = entry.selection.node
        if badge is Badge.EYE:
            self.switch_requested.emit(node_id, "visible", not entry.visible)
        elif badge is Badge.SPEAKER:
            self.switch_requested.emit(node_id, "muted", not entry.muted)
        elif badge is Badge.LOCK:
            self.switch_requested.emit(node_id, "locked", False)
        else:
            (self.reset_requested if badge is Badge.RESET else self.resume_requested).emit(node_id)

    def _open_menu(self, entry: Entry, place: QPoint) -> None:
        menu = self.menu_for(entry)
        if not menu.isEmpty():
            menu.popup(place)

    def menu_for(self, entry: Entry) -> QMenu:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if entry.kind is EntryKind.VIEW:
            return menu
        self._add_action(menu, "frame", OutlinerAction.FRAME, entry)
        if entry.kind is EntryKind.NODE:
            self._fill_node_menu(menu, entry)
        elif entry.kind is EntryKind.FOLD:
            self._add_action(menu, "delete", OutlinerAction.DELETE, entry)
        elif entry.kind is EntryKind.BONE:
            menu.addAction(icon("copy"), "Copy name").triggered.connect(lambda: self.view.copy_name(entry))
        self.extend_menu(menu, entry)
        return menu

    def _fill_node_menu(self, menu: QMenu, entry: Entry) -> None:
        node_id, shown, locked = entry.selection.node, bool(entry.visible), entry.locked
        assert node_id is not None
        menu.addAction(icon("rename"), "Rename").triggered.connect(lambda: self.view.rename(entry))
        menu.addAction(icon("hidden" if shown else "visible"), "Hide" if shown else "Show").triggered.connect(
            lambda: self.switch_requested.emit(node_id, "visible", not shown)
        )
        menu.addAction(icon("locked"), "Unlock" if locked else "Lock").triggered.connect(
            lambda: self.switch_requested.emit(node_id, "locked", not locked)
        )
        self._add_action(menu, "duplicate", OutlinerAction.DUPLICATE, entry)
        if self._target.scene.node(node_id).settings.is_character:
            menu.addSeparator()
            self._add_action(menu, "reload", OutlinerAction.RELOAD, entry)
            self._add_action(menu, "locate", OutlinerAction.LOCATE, entry)
        menu.addSeparator()
        self._add_action(menu, "delete", OutlinerAction.DELETE, entry)

    def _add_action(self, menu: QMenu, icon_name: str, action: OutlinerAction, entry: Entry) -> None:
        menu.addAction(icon(icon_name), action.value).triggered.connect(
            lambda: self.action_requested.emit(action, entry.selection)
        )

    def _changed(self, change: Change) -> None:
        # Most edits, and all frequent ones, are of values that no row shows.
        if change.kind is not ChangeKind.VALUE or change.ref is None or _is_shown(change.ref):
            grows = change.kind in (ChangeKind.ADDED, ChangeKind.NODES)
            is_new = grows and any(self.model.entry_of((node_id,)) is None for node_id in self._target.scene.by_id)
            self.model.set_scene(self._target.scene)
            if is_new:  # the filter might hide it
                self.filter_line.clear()

    def _filter(self, text: str) -> None:
        self._is_syncing = True
        self.view.set_filter(text)
        self._is_syncing = False
        self._stack.setCurrentWidget(self.nothing_found if self.view.finds_nothing else self.view)
        self._show_selection()

    def _restore(self) -> None:
        self.view.restore_expansion()
        self._show_selection()

    def _show_selection(self) -> None:
        self._is_syncing = True
        shown = self.view.selected_entries()
        # A row of a part may select its node.
        if [entry.selection for entry in shown] != [self._selection] and (
            {entry.key for entry in shown} != set(_keys_of(self._selection))
        ):
            rows = [self.model.entry_of(key) for key in _keys_of(self._selection)]
            self.view.select([entry for entry in rows if entry is not None])
        self._is_syncing = False


def _is_shown(ref: ParamRef) -> bool:
    if ref.part.startswith("modifiers."):
        return ref.name in ("bone", "target")
    is_listed = ref.name in ("path", "materials", "modifiers")
    return is_listed or ref.part in ("node", "attachment") or ref.part.startswith(MATERIAL_PART)


def _keys_of(selection: Selection) -> list[Key]:
    if selection.view:
        return [("view",)]
    if selection.bone is not None:
        return [(selection.node or "", "bone", selection.bone)]
    if selection.material is not None:
        return [(selection.node or "", "material", selection.material)]
    return [(node_id,) for node_id in selection.nodes]
