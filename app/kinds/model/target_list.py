"""List of morph targets; only visible rows are widgets, so that hundreds of targets cost no more than ten."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QScrollBar, QVBoxLayout, QWidget

from sinew.sim.scene.params import Declaration, Param
from sinew.widgets.inspector.number_editors import NumberEditor
from sinew.widgets.parts import ElidedLabel, packed, tool_button
from sinew.widgets.theme import SPACE, dress

ROWS_MAX = 10


class TargetRow(QWidget):
    def __init__(self, record: Param, *, has_solo: bool) -> None:
        super().__init__()
        self.name = ""
        self.solo = tool_button("solo", tip="Solo: isolate this target.", checkable=True)
        self.label = ElidedLabel(parent=self)
        self.label.setMinimumWidth(40)
        self.editor = NumberEditor(record, self)
        self.solo.setVisible(has_solo)
        self.reset = tool_button("reset", tip="Reset to the clip's weight.")
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        packed(QHBoxLayout(self), self.solo, (self.label, 2), (self.editor, 3), self.reset, spacing=SPACE)

    def show_target(self, name: str, weight: float, solo: str) -> None:
        self.name = name
        self.label.set_text(name)
        self.editor.setAccessibleName(name)
        slider = self.editor.slider
        if slider is None or not slider.is_held:
            self.editor.set_value(weight)
        self.reset.setVisible(weight != 0.0)
        self.solo.setChecked(name == solo)
        self.label.setEnabled(solo in ("", name))


class TargetList(QWidget):
    edit_started = Signal(str)  # Name; begins a gesture on its weight
    edited = Signal(str, float)  # Name and new weight
    edit_finished = Signal()
    edit_cancelled = Signal()
    reset_requested = Signal()  # Reset all weights to the clip
    solo_requested = Signal(str)  # Name of the target to isolate, or "" for all

    def __init__(self, names: Sequence[str], limits: tuple[float, float], noun: str, *, has_solo: bool = True) -> None:
        super().__init__()
        self._names, self._shown = tuple(names), tuple(names)
        self._weights: Mapping[str, float] = {}
        self._solo = ""
        self.search = QLineEdit(self, placeholderText=f"Search {len(names)} {noun}", clearButtonEnabled=True)
        self.search.textChanged.connect(self._filter)
        self.reset_all = tool_button("reset", "Reset all", "Reset all weights to the clip.", act=self.reset_requested)
        declared = Declaration(doc="Weight", lo=limits[0], hi=limits[1], soft=(0.0, 1.0), step=0.01)
        record = Param("weight", float, 1, optional=False, default=0.0, declared=declared)
        self.rows = [self._make_row(record, has_solo) for _ in range(min(len(names), ROWS_MAX))]
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        dress(self.bar)
        self.bar.valueChanged.connect(self._show)
        self.none = QLabel(f"No matching {noun}.", self)
        self.none.setEnabled(False)
        column = packed(QVBoxLayout(), *self.rows, self.none, spacing=2)
        column.addStretch(1)
        head = packed(QHBoxLayout(), (self.search, 1), self.reset_all, spacing=SPACE)
        packed(QVBoxLayout(self), head, packed(QHBoxLayout(), (column, 1), self.bar, spacing=SPACE), spacing=SPACE)
        self.setMinimumHeight(self.sizeHint().height())
        self._filter("")

    def show_weights(self, weights: Mapping[str, float], solo: str) -> None:
        if (weights, solo) != (self._weights, self._solo):
            self._weights, self._solo = weights, solo
            self._show()

    def wheelEvent(self, event: QWheelEvent) -> None:
        step = -1 if event.angleDelta().y() > 0 else 1
        place = self.bar.value()
        self.bar.setValue(place + step)
        event.setAccepted(self.bar.value() != place)

    def _make_row(self, record: Param, has_solo: bool) -> TargetRow:
        row = TargetRow(record, has_solo=has_solo)
        row.editor.edit_started.connect(lambda: self.edit_started.emit(row.name))
        row.editor.edited.connect(lambda value: self.edited.emit(row.name, float(value)))
        row.editor.edit_finished.connect(self.edit_finished)
        row.editor.edit_cancelled.connect(self.edit_cancelled)
        row.reset.clicked.connect(lambda: self.edited.emit(row.name, 0.0))
        row.solo.clicked.connect(lambda on: self.solo_requested.emit(row.name if on else ""))
        return row

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        self._shown = tuple(name for name in self._names if all(word in name.casefold() for word in words))
        self.bar.setRange(0, max(len(self._shown) - len(self.rows), 0))
        self.bar.setPageStep(len(self.rows))
        self.bar.setVisible(len(self._shown) > len(self.rows))
        self._show()

    def _show(self) -> None:
        first = self.bar.value()
        self.reset_all.setEnabled(bool(self._weights) or bool(self._solo))
        self.none.setVisible(not self._shown)
        for place, row in enumerate(self.rows, start=first):
            row.setVisible(place < len(self._shown))
            if place < len(self._shown):
                name = self._shown[place]
                row.show_target(name, self._weights.get(name, 0.0), self._solo)
