"""The controls above the plots."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QMenu, QToolButton, QWidget

from widgets.parts import FlowRow, tool_button
from widgets.theme import icon
from widgets.timings.choice import Level, PlottedTimes, TimingsOptions, Unit

_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
_NAME_CHARACTERS = 16


class Toolbar(FlowRow):
    """Measure, hold, what is shown, record, compare, files."""

    record_requested = Signal(str)  # Name of a recording to begin
    record_stopped = Signal()  # The recording is to end
    choice_edited = Signal()  # The user chose other times, another unit or another level

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._taken: set[str] = set()
        self.measure_button = tool_button(
            "mdi6.timer-outline", "Measure", "Measure what every frame costs", checkable=True
        )
        self.pause_button = tool_button(
            "pause", "Pause", "Hold the view; measuring and the program go on (Shift+P)", checkable=True
        )
        self.live_button = tool_button("last", "Live", "Back to the newest frames")
        self.shown_box = _box(
            "Times of the graphics card, of the processor, or both", [(s.value, s) for s in PlottedTimes]
        )
        self.unit_box = _box("Milliseconds, or share of the frame", [("ms", Unit.MILLISECONDS), ("%", Unit.SHARE)])
        self.level_box = _box("How far groups of passes are taken apart", [(one.label, one) for one in Level])
        self.name_edit = QLineEdit(self)
        self.record_button = tool_button("mdi6.record", "Record", "", checkable=True)
        self.compare_button = tool_button("compare", "Compare", "Compare two recordings", checkable=True)
        self.more_button = tool_button("mdi6.dots-horizontal", "", "Compare back ends, import, export, clear")
        self.menu = QMenu(self.more_button)
        self._prepare()
        self.set_recording(False)

    # --- state ----------------------------------------------------------------------------------------

    def apply_to(self, choice: TimingsOptions) -> TimingsOptions:
        return TimingsOptions(
            self.shown_box.currentData(),
            self.unit_box.currentData(),
            self.level_box.currentData(),
            choice.hidden,
            choice.solo,
        )

    def show_choice(self, choice: TimingsOptions) -> None:
        """Sets the boxes, without telling of it."""
        for box, value in (
            (self.shown_box, choice.shown),
            (self.unit_box, choice.unit),
            (self.level_box, choice.level),
        ):
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(value))

    def set_measuring(self, measuring: bool) -> None:
        with QSignalBlocker(self.measure_button):
            self.measure_button.setChecked(measuring)

    def set_held(self, held: bool) -> None:
        with QSignalBlocker(self.pause_button):
            self.pause_button.setChecked(held)
        self.live_button.setEnabled(held)

    def set_recording(self, active: bool, frames: int = 0) -> None:
        with QSignalBlocker(self.record_button):
            self.record_button.setChecked(active)
        self.record_button.setText(f"Stop · {frames:,} frames" if active else "Record")
        self.record_button.setIcon(icon("stop" if active else "mdi6.record", "error"))
        tip = "End the recording" if active else "Record frames under this name, to compare and to export them"
        self.record_button.setToolTip(tip)
        self.name_edit.setEnabled(not active)

    def set_taken(self, names: Sequence[str]) -> None:
        """Names that recordings have; the field proposes another one."""
        self._taken = set(names)
        self.name_edit.setPlaceholderText(self._free_name())

    def name(self) -> str:
        return self.name_edit.text().strip() or self._free_name()

    def _free_name(self) -> str:
        number = 1
        while f"Recording {number}" in self._taken:
            number += 1
        return f"Recording {number}"

    # --- parts ----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self.name_edit.setAccessibleName("Name of the next recording")
        self.name_edit.setToolTip("Name of the next recording")
        self.name_edit.setPlaceholderText(self._free_name())
        self.name_edit.setFixedWidth(self.fontMetrics().averageCharWidth() * _NAME_CHARACTERS)
        self.name_edit.returnPressed.connect(self.record_button.click)
        self.record_button.clicked.connect(self._record)
        for box in (self.shown_box, self.unit_box, self.level_box):
            box.currentIndexChanged.connect(lambda _: self.choice_edited.emit())
        self.more_button.setMenu(self.menu)
        self.more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.live_button.setEnabled(False)
        self.add(
            self.measure_button, self.pause_button, self.live_button, self.shown_box, self.unit_box, self.level_box,
            self.name_edit, self.record_button, self.compare_button, self.more_button,
        )  # fmt: skip

    def _record(self, wanted: bool) -> None:
        # The button shows what is, not what was asked for.
        with QSignalBlocker(self.record_button):
            self.record_button.setChecked(not wanted)
        if wanted:
            self.record_requested.emit(self.name())
            self.name_edit.clear()
        else:
            self.record_stopped.emit()


def _box(tip: str, entries: Sequence[tuple[str, object]]) -> QComboBox:
    box = QComboBox()
    for text, data in entries:
        box.addItem(text, data)
    box.setToolTip(tip)
    box.setAccessibleName(tip)
    return box
