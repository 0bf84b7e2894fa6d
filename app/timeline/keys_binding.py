from collections.abc import Mapping

from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.document.history import Gesture
from sinew.app.document.keys import KeyEdits
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.params import param_of
from sinew.sim.scene.scene import Node, Scene, node_part
from sinew.sim.scene.view_state import Selection
from sinew.widgets.timeline.key_sheet import KeyId, KeyRow
from sinew.widgets.timeline.timeline import Timeline


def key_rows(scene: Scene, selected: tuple[str, ...]) -> list[KeyRow]:
    """A row for each node with keys, and below the selected nodes one for each of their animated settings."""
    rows = []
    for node in scene.nodes:
        if node.curves:
            rows.append(KeyRow(node.id, node.name, node.curves, is_summary=True))
            rows += _field_rows(node) if node.id in selected else ()
    return rows


def _field_rows(node: Node) -> list[KeyRow]:
    fields: dict[tuple[str, str], list[Curve]] = {}
    for curve in node.curves:
        fields.setdefault((curve.part, curve.field), []).append(curve)
    rows = []
    for (part, field), curves in fields.items():
        holder = node_part(node, part)
        label = param_of(type(holder), field).label
        prefix = part.partition(":")[2] or (str(getattr(holder, "label", "")) if "." in part else "")
        rows.append(KeyRow(node.id, f"{prefix}: {label}" if prefix else label, tuple(curves)))
    return rows


class KeysBinding(QObject):
    """Shows and edits the keys of the scene; one undo entry per gesture."""

    def __init__(self, timeline: Timeline, document: Document, keys: KeyEdits) -> None:
        super().__init__(timeline)
        self._timeline, self._document, self._keys = timeline, document, keys
        self._gesture: Gesture | None = None
        self._base = document.scene
        self._text = ""
        for source in (timeline.sheet, timeline.curves):
            source.edit_started.connect(self._start)
            source.edited.connect(self._edit)
            source.edit_finished.connect(self._end)
            source.edit_cancelled.connect(lambda: self._end(cancel=True))
        timeline.sheet.chosen.connect(self._choose)
        timeline.auto_key_button.toggled.connect(keys.set_auto)
        keys.auto_changed.connect(timeline.auto_key_button.setChecked)
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        selection, sheet = self._document.selection, self._timeline.sheet
        sheet.set_rows(key_rows(self._document.scene, selection.all_nodes))
        sheet.activate(selection.node or "")

    def _choose(self, node_id: str) -> None:
        if node_id not in self._document.selection.all_nodes:
            self._document.select(Selection(node=node_id))

    def _start(self, text: str) -> None:
        self._base, self._text, self._gesture = self._document.scene, text, None

    def _edit(self, keys: Mapping[KeyId, Key | None]) -> None:
        if self._gesture is None:
            names = self._document.nodes_text(list(dict.fromkeys(node for node, _, _ in keys)))
            self._gesture = self._document.new_gesture(f"{self._text} of {names}")
        self._keys.change(keys, self._text, base=self._base, gesture=self._gesture)

    def _end(self, *, cancel: bool = False) -> None:
        self._document.end_gesture(self._gesture, cancel=cancel)
        self._gesture = None
