"""What the inspector has for cloths beyond their rows: presets, why a cloth stopped, stability meter and counts."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from widgets.inspector.form import FactParameter, SectionParameter
from widgets.inspector.notice import StopNotice
from widgets.inspector.preset_bar import PresetBar
from widgets.kinds.cloth.stability_meter import StabilityMeter
from widgets.protocols import ClothStatus
from widgets.theme import SPACE_WIDE


class ClothHead(QWidget):
    """Presets and, while the cloth stands still, why; also makes the rows that follow the simulation.

    Signals:
        stable_requested: Number of substeps that make the cloth stable.
        reset_requested: Back to the start.
        resume_requested: On from the last good state.

    Attributes:
        presets: Bar of the presets.
    """

    stable_requested = Signal(int)
    reset_requested = Signal()
    resume_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._status = ClothStatus()
        self._meter: StabilityMeter | None = None
        self._facts: SectionParameter | None = None
        self.presets = PresetBar(self)
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.note.hide()
        self.notice = StopNotice("cloth", self)
        self.notice.reset_button.clicked.connect(self.reset_requested)
        self.notice.resume_button.clicked.connect(self.resume_requested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, 0, SPACE_WIDE, SPACE_WIDE)
        layout.setSpacing(SPACE_WIDE)
        layout.addWidget(self.notice)
        layout.addWidget(self.note)
        layout.addWidget(self.presets)

    @property
    def status(self) -> ClothStatus:
        """What is shown."""
        return self._status

    def show_status(self, status: ClothStatus) -> None:
        """Shows how the cloth stands."""
        self._status = status
        self.notice.show_reason(status.halted)
        self.note.setText(status.note)
        self.note.setVisible(bool(status.note))
        if self._meter is not None:
            self._meter.show_stability(status.stability)
        if self._facts is not None:
            for name, text in _counts(status):
                self._facts.child(name).setValue(text)

    def make_meter(self) -> StabilityMeter:
        """The meter for the form; the latest one made is kept up to date."""
        meter = StabilityMeter()
        meter.stable_requested.connect(self.stable_requested)
        meter.show_stability(self._status.stability)
        self._meter = meter
        return meter

    def make_facts(self) -> SectionParameter:
        """The counts for the form; the latest section made is kept up to date."""
        self._facts = SectionParameter(
            "Cloth", [FactParameter(name, name, text) for name, text in _counts(self._status)]
        )
        return self._facts

    def forget(self) -> None:
        """The rows made before are gone."""
        self._meter = self._facts = None


def _counts(status: ClothStatus) -> list[tuple[str, str]]:
    counts = (("Particles", status.particles), ("Springs", status.springs), ("Triangles", status.triangles))
    return [(name, f"{count:,}" if count else "–") for name, count in counts]
