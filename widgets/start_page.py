"""The start page of an empty scene: samples, recent files, open and tour; and the cards of the tour."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPalette, QPixmap
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from sinew.widgets.icons import icon
from sinew.widgets.parts import packed, text_label
from sinew.widgets.texts import menu_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, bold

_PICTURE = QSize(120, 75)
_CARD_WIDTH, _COLUMNS_MAX, _RECENT_MAX = 136, 4, 8
_SMALLER = 0.8
"""Scale of the pictures if not all samples fit."""


@dataclass(frozen=True, slots=True)
class Sample:
    title: str
    path: Path
    picture: Path  # All have the same aspect ratio


class StartPage(QFrame):
    """Page of an empty scene; hides samples and recent files without room. `chosen` carries the path of either."""

    chosen = Signal(object)

    def __init__(self, samples: Sequence[Sample], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        title = QLabel("Empty scene", self)
        title.setFont(bold(title.font()))
        self.hint = text_label("Click a sample, open a file, or drop one here.", self, dim=True)
        self.open_button = QPushButton(icon("open"), "Open File…", self)
        self.open_button.setToolTip("Open a project or a model (Ctrl+O).")
        self.tour_button = QPushButton("Tour in Seven Steps", self)
        self.tour_button.setToolTip("An introduction to the window.")
        self.cards = [self._card(sample) for sample in samples]
        self.recent: list[QToolButton] = []
        self._grid, self._columns = QGridLayout(), 0
        self._grid.setSpacing(SPACE)
        self._recent = QWidget(self)
        self._files = packed(QVBoxLayout(self._recent), QLabel("Recent Files", self._recent), spacing=SPACE)
        self._files.setAlignment(Qt.AlignmentFlag.AlignTop)
        offered = packed(QHBoxLayout(), self._grid, self._recent, spacing=2 * SPACE_WIDE)
        buttons = packed(QHBoxLayout(), self.open_button, self.tour_button, spacing=SPACE_WIDE)
        buttons.addStretch(1)
        packed(QVBoxLayout(self), title, self.hint, offered, buttons, spacing=SPACE_WIDE, margins=2 * SPACE_WIDE)

    def set_recent(self, paths: Sequence[Path]) -> None:
        """Shows recent files, except for those that do not exist."""
        for button in self.recent:
            button.hide()
            button.deleteLater()  # not at once: it may be the sender
        self.recent = [self._file(path) for path in [path for path in paths if path.is_file()][:_RECENT_MAX]]
        for button in self.recent:
            self._files.addWidget(button)
        parent = self.parentWidget()
        assert parent is not None
        self.place(parent.width(), parent.height())

    def place(self, width: int, height: int) -> None:
        """Centres the page in a viewport of this size [px]; smaller pictures make room for all samples."""
        for scale in (1.0, _SMALLER):
            self._arrange(width, height, scale)
            if not any(card.isHidden() for card in self.cards):
                break

    def _arrange(self, width: int, height: int, scale: float) -> None:
        for card in self.cards:
            card.setIconSize(_PICTURE * scale)
        room = width - 8 * SPACE_WIDE - (self._recent.sizeHint().width() if self.recent else 0)
        columns = min(max(int(room / (_CARD_WIDTH * scale)), 1), int(_COLUMNS_MAX / scale))
        if columns != self._columns:
            self._columns = columns
            for number, card in enumerate(self.cards):
                self._grid.addWidget(card, number // columns, number % columns)
        self._recent.setVisible(bool(self.recent))
        for rows in range(-(-len(self.cards) // columns), -1, -1):
            for number, card in enumerate(self.cards):
                card.setVisible(number < rows * columns)
            self.adjustSize()
            if self.sizeHint().height() <= height - 2 * SPACE_WIDE:
                break
        else:
            self._recent.hide()
            self.adjustSize()
        size = self.sizeHint().boundedTo(QSize(width, height))
        self.resize(size)
        self.move((width - size.width()) // 2, (height - size.height()) // 2)

    def _file(self, path: Path) -> QToolButton:
        button = QToolButton(self._recent, autoRaise=True)
        name = self.fontMetrics().elidedText(path.name, Qt.TextElideMode.ElideMiddle, _CARD_WIDTH)
        button.setText(menu_text(name))
        button.setToolTip(tip_text(f"Open {path}"))
        button.clicked.connect(lambda: self.chosen.emit(path))
        return button

    def _card(self, sample: Sample) -> QToolButton:
        card = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextUnderIcon, autoRaise=True)
        card.setText(menu_text(sample.title))
        card.setToolTip(f"Open the sample “{sample.title}”.")
        card.setIcon(QIcon(QPixmap(str(sample.picture))) if sample.picture.is_file() else icon("model"))
        card.setIconSize(_PICTURE)
        card.clicked.connect(lambda: self.chosen.emit(sample.path))
        return card


_WIDTH = 300


@dataclass(frozen=True, slots=True)
class TourStep:
    title: str
    text: str
    panel: str = ""  # Panel to raise, or ""


class TourCard(QFrame):
    """Card of the tour with one step at a time, hidden until it is started; `shown` carries the `TourStep`."""

    shown = Signal(object)

    def __init__(self, steps: Sequence[TourStep], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps, self.number = tuple(steps), 0
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.title, self.text, self.count = text_label(parent=self), text_label(parent=self), QLabel(self)
        self.title.setFont(bold(self.title.font()))
        self.count.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.back_button, self.next_button = QPushButton("Back", self), QPushButton("Next", self)
        self.close_button = QPushButton("Close", self)
        self.back_button.clicked.connect(lambda: self.go(self.number - 1))
        self.next_button.clicked.connect(lambda: self.go(self.number + 1))
        self.close_button.clicked.connect(self.hide)
        buttons = packed(QHBoxLayout(), self.count, spacing=SPACE)
        buttons.addStretch(1)
        for button in (self.close_button, self.back_button, self.next_button):
            buttons.addWidget(button)
        packed(QVBoxLayout(self), self.title, self.text, buttons, spacing=SPACE_WIDE, margins=SPACE_WIDE)
        self.setFixedWidth(_WIDTH)
        self.hide()

    def go(self, number: int) -> None:
        """Shows a step of the tour; hides after the last one."""
        if not 0 <= number < len(self._steps):
            self.hide()
            return
        self.number = number
        step, last = self._steps[number], number + 1 == len(self._steps)
        self.title.setText(step.title)
        self.text.setText(step.text)
        self.count.setText(f"Step {number + 1} of {len(self._steps)}")
        self.back_button.setEnabled(number > 0)
        self.next_button.setText("Done" if last else "Next")
        self.text.setFixedHeight(self.text.heightForWidth(_WIDTH - 2 * SPACE_WIDE - 2 * self.frameWidth()))
        self.adjustSize()
        self.show()
        self.raise_()
        self.shown.emit(step)
