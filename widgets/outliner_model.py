import enum
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QIcon

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.scene import NodeId, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.icons import icon
from sinew.widgets.outliner_entries import (
    Entry,
    EntryKind,
    Key,
    add_model_entries,
    describe_materials,
    describe_node,
    scene_entries,
    view_entry,
)
from sinew.widgets.protocols import ModelProvider, loaded_model
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import colours

NOTE_ROLE = Qt.ItemDataRole.UserRole
NOTE_COLOUR_ROLE = Qt.ItemDataRole.UserRole + 1
BADGES_ROLE = Qt.ItemDataRole.UserRole + 2
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_NODE = "application/x-sinew-node"
_Role = Qt.ItemDataRole
_Flag = Qt.ItemFlag
_ENABLED = _Flag.ItemIsSelectable | _Flag.ItemIsEnabled
_FLAGS = {
    EntryKind.NODE: _ENABLED | _Flag.ItemIsDropEnabled | _Flag.ItemIsEditable | _Flag.ItemIsDragEnabled,
    EntryKind.BONE: _ENABLED | _Flag.ItemIsDropEnabled,
}


class Badge(enum.Enum):
    """Buttons at the right edge of a row, from the right."""

    EYE = "eye"
    SPEAKER = "speaker"
    LOCK = "lock"
    RESET = "reset"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class ListPlace:
    parent: NodeId  # New parent node, "" for none
    bone: str = ""  # Bone of the parent, or ""
    before: NodeId = ""  # The node below the drop position, "" at the end
    order: bool = False  # The rows were dropped between rows, which sets their order


class OutlinerModel(QAbstractItemModel):
    """Model of the outliner: rows of the scene in one column; note and badges are roles."""

    rename_requested = Signal(str, str)  # Node and new name, edited in place
    place_requested = Signal(object, object)  # Nodes and the `ListPlace` where they were dropped

    def __init__(self, model_of: ModelProvider, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model_of = model_of
        self._scene = Scene()
        self._stop_reports: Mapping[NodeId, str] = {}
        self._outdated: frozenset[NodeId] = frozenset()
        self._roots: list[Entry] = [view_entry()]
        self._entries: dict[int, Entry] = {}  # By their numbers
        self._by_key: dict[Key, Entry] = {}
        self._register(self._roots)

    def set_scene(self, scene: Scene) -> None:
        """Sets the scene; rebuilds the rows only if its structure changed."""
        same = _structure(self._scene) == _structure(scene)
        self._scene = scene
        if not same:
            self._rebuild()
            return
        for node in scene.nodes:
            self._describe(node.id)

    def set_stop_reports(self, stop_reports: Mapping[NodeId, str]) -> None:
        changed = {
            node_id
            for node_id in {**self._stop_reports, **stop_reports}
            if self._stop_reports.get(node_id) != stop_reports.get(node_id)
        }
        self._stop_reports = stop_reports
        self._describe_all(changed)

    def set_outdated(self, nodes: frozenset[NodeId]) -> None:
        changed, self._outdated = self._outdated ^ nodes, nodes
        self._describe_all(changed)

    def _describe_all(self, nodes: Iterable[NodeId]) -> None:
        for node_id in nodes:
            if (node_id,) in self._by_key:
                self._describe(node_id)

    def refresh_node(self, node_id: NodeId) -> None:
        """Updates the row of a node and its parts; call this after its model was loaded, removed or replaced."""
        entry = self._by_key.get((node_id,))
        if entry is None:
            return
        self._describe(node_id)
        model = loaded_model(self._model_of(node_id))
        if model is entry.listed:
            return
        entry.listed = model
        fresh = Entry(entry.kind, entry.key, "", "", entry.selection)
        if model is not None:
            add_model_entries(fresh, self._scene.node(node_id), model)
            entry.looks = fresh.looks
        riders = sum(child.kind in (EntryKind.NODE, EntryKind.FOLD) for child in entry.children)
        if entry.children[riders:]:
            # Removing rows takes seconds for a deep skeleton: Qt queries all ancestors of every expanded row.
            self.beginResetModel()
            self._forget(entry.children[riders:])
            del entry.children[riders:]
            self._add_parts(entry, fresh.children)
            self.endResetModel()
        elif fresh.children:
            self.beginInsertRows(self.index_of(entry), riders, riders + len(fresh.children) - 1)
            self._add_parts(entry, fresh.children)
            self.endInsertRows()

    def _add_parts(self, entry: Entry, parts: list[Entry]) -> None:
        for part in parts:
            entry.add(part)
        self._register(parts)

    def entry(self, index: Index) -> Entry | None:
        """Returns the row of an index; None if it is invalid."""
        return self._entries.get(index.internalId()) if index.isValid() else None

    def entry_of(self, key: Key) -> Entry | None:
        return self._by_key.get(key)

    def entries(self) -> Iterator[Entry]:
        return _walk(self._roots)

    def index_of(self, entry: Entry) -> QModelIndex:
        return self.createIndex(entry.row, 0, entry.number)

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._forget(self._roots)
        self._roots = scene_entries(self._scene, self._model_of, self._stop_reports, self._outdated)
        self._register(self._roots)
        self.endResetModel()

    def _describe(self, node_id: NodeId) -> None:
        entry = self._by_key[(node_id,)]
        node = self._scene.node(node_id)
        before = _shown_of(entry)
        status, is_outdated = self._model_of(node_id), node_id in self._outdated
        describe_node(entry, node, status, self._scene, self._stop_reports.get(node_id, ""), is_outdated=is_outdated)
        if before != _shown_of(entry):
            self.dataChanged.emit(self.index_of(entry), self.index_of(entry))
        settings = node.settings
        if isinstance(settings, ModelSettings) and entry.listed is not None and entry.looks is not settings.materials:
            rows = describe_materials(entry, node)
            if rows:
                self.dataChanged.emit(self.index_of(rows[0]), self.index_of(rows[-1]))

    def _register(self, entries: list[Entry]) -> None:
        for entry in _walk(entries):
            self._entries[entry.number] = entry
            self._by_key[entry.key] = entry

    def _forget(self, entries: list[Entry]) -> None:
        for entry in _walk(entries):
            del self._entries[entry.number]
            self._by_key.pop(entry.key, None)

    def index(self, row: int, column: int, parent: Index = _NO_INDEX) -> QModelIndex:
        above = self.entry(parent)
        siblings = self._roots if above is None else above.children
        if not 0 <= row < len(siblings) or column != 0:
            return QModelIndex()
        return self.index_of(siblings[row])

    def parent(self, index: Index = _NO_INDEX) -> QModelIndex:  # type: ignore[override]
        entry = self.entry(index)
        return QModelIndex() if entry is None or entry.parent is None else self.index_of(entry.parent)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        if not parent.isValid():
            return len(self._roots)
        entry = self.entry(parent)
        return len(entry.children) if entry is not None else 0

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: ARG002
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self.entry(index)
        if entry is None:
            return Qt.ItemFlag.ItemIsDropEnabled
        return _FLAGS.get(entry.kind, _ENABLED)

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.LinkAction

    def mimeTypes(self) -> list[str]:
        return [_NODE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        entries = [entry for index in indexes if (entry := self.entry(index)) and entry.kind is EntryKind.NODE]
        data.setData(_NODE, json.dumps([entry.selection.node for entry in entries]).encode())
        return data

    def canDropMimeData(self, data: QMimeData, _action: Qt.DropAction, row: int, _column: int, parent: Index) -> bool:
        entry = self.entry(parent)
        return data.hasFormat(_NODE) and (row < 0 or entry is None or entry.kind is EntryKind.NODE)

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not self.canDropMimeData(data, action, row, column, parent):
            return False
        entry, nodes = self.entry(parent), tuple(json.loads(bytes(data.data(_NODE).data())))
        chosen = entry.selection if entry is not None else Selection()
        place = ListPlace(chosen.node or "", chosen.bone or "")
        if row >= 0:
            below = [e for e in (entry.children if entry else self._roots)[row:] if e.kind is EntryKind.NODE]
            before = next((e.selection.node for e in below if e.selection.node not in nodes), "")
            place = ListPlace(place.parent, before=before or "", order=True)
        self.place_requested.emit(nodes, place)
        return True

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        entry = self.entry(index)
        if entry is None:
            return None
        if role in (_Role.DisplayRole, _Role.EditRole):
            return label_text(entry.name) if role == _Role.DisplayRole else entry.name
        answer = _ANSWERS.get(role)
        return answer(self, entry) if answer is not None else None

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        entry = self.entry(index)
        if entry is None or role != _Role.EditRole or entry.selection.node is None:
            return False
        name = str(value).strip()
        if name and name != entry.name:
            self.rename_requested.emit(entry.selection.node, name)
        return False

    def _name_icon(self, entry: Entry) -> QIcon:
        return icon(entry.icon, entry.mark or ("dim" if _is_dim(entry) else ""))

    def _badges(self, entry: Entry) -> tuple[tuple[Badge, QIcon], ...]:
        return tuple((badge, icon(name, "dim" if dim else "")) for badge, name, dim in badges_of(entry))


def _walk(entries: list[Entry]) -> Iterator[Entry]:
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting.extend(reversed(entry.children))


def _structure(scene: Scene) -> list[tuple[str, str, str]]:
    return [(node.id, node.kind, scene.parents.get(node.id, "")) for node in scene.nodes]


def badges_of(entry: Entry) -> Iterator[tuple[Badge, str, bool]]:
    """Yields the badges of a row from the right, with icon and True for a dim one."""
    if entry.visible is not None:
        yield Badge.EYE, "visible" if entry.visible else "hidden", not entry.visible
    if entry.speaker:
        yield Badge.SPEAKER, entry.speaker, entry.speaker != "solo"
    if entry.locked:
        yield Badge.LOCK, "locked", False
    if entry.stopped:
        yield Badge.RESET, "reset", False
        yield Badge.RESUME, "resume", False


def _shown_of(entry: Entry) -> tuple[Any, ...]:
    return entry.name, entry.icon, entry.note, entry.tip, entry.mark, entry.dim, *badges_of(entry)


def _is_dim(entry: Entry) -> bool:
    return entry.dim or entry.visible is False


def _name_brush(_model: OutlinerModel, entry: Entry) -> QBrush | None:
    return QBrush(QColor(colours().dim)) if _is_dim(entry) else None


def _note_colour(_model: OutlinerModel, entry: Entry) -> QColor:
    return QColor(getattr(colours(), entry.mark) if entry.mark else colours().dim)


_ANSWERS: dict[int, Callable[[OutlinerModel, Entry], Any]] = {
    int(_Role.DecorationRole): OutlinerModel._name_icon,
    int(_Role.ForegroundRole): _name_brush,
    int(_Role.ToolTipRole): lambda _, entry: tip_text(entry.tip),
    int(NOTE_ROLE): lambda _, entry: entry.note,
    int(NOTE_COLOUR_ROLE): _note_colour,
    int(BADGES_ROLE): OutlinerModel._badges,
}
