"""The window: where things are.  What they do is wired in `app.editor.editor`."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QMainWindow, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.editor.actions import Actions
from app.editor.add_menu import Place
from app.editor.docks import Docks
from app.editor.menus import Menus
from app.timeline.playback import SimulationState
from sim.kinds.contract import Panel
from sim.scene.clock import STEP_TIME
from widgets.icons import icon
from widgets.parts import packed
from widgets.question_bar import QuestionBar
from widgets.texts import label_text
from widgets.theme import dress
from widgets.viewport import Viewport

DEFAULT_SIZE = QSize(1440, 900)
_NEWS = 10_000
"""How long it is said what came of something [ms]."""

SCREEN_SHARE = 0.92
"""Part of a small screen that the window takes at first; its frame and a panel of the desktop need the rest."""


class MainWindow(QMainWindow):
    """Viewport in the middle, docks around it, menus, toolbar and status bar.

    Signals:
        activated: The user turned to this window.
        cancel_requested: The user gave up what is being loaded.

    Attributes:
        may_close: Asked before closing; False keeps the window open.
        closing: Called once the window will close, while GL can still be reached.
        question: Asks above the viewport whether files outside the project's folders are read.
        disk_question: Asks there what becomes of a project that another program has changed.
    """

    activated = Signal()
    cancel_requested = Signal()

    def __init__(
        self,
        viewport: Viewport,
        panels: dict[str, QWidget],
        slots: dict[str, Callable[..., None]],
        rooms: Mapping[str, Panel],
        place: Place,
    ) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True
        self.closing: Callable[[], None] = lambda: None
        self.viewport = viewport
        self.question, self.disk_question = QuestionBar(), QuestionBar()
        centre = QWidget()
        packed(QVBoxLayout(centre), self.question, self.disk_question, spacing=0).addWidget(viewport, 1)
        self.setCentralWidget(centre)
        self.resize(default_size(self.screen().availableGeometry().size()))
        self.actions_table = Actions(self, slots, rooms)
        self.docks = Docks(self, panels, (dock for room in rooms.values() for dock in room.docks))
        self.menus = Menus(self, self.actions_table, self.docks.toggle_actions(), rooms, place)
        self._build_status_bar()

    def show_progress(self, name: str, fraction: float) -> None:
        """Shows what is being read, with a way to cancel; an empty name hides it."""
        self._show_work(f"Loading {name}" if name else "", fraction, "Give up reading; the scene stays as it is.")

    def show_seek(self, text: str, fraction: float) -> None:
        """Shows how far a simulation is on its way to the playhead, with a way to cancel; "" hides it."""
        self._seeks = bool(text)
        self._seek.setVisible(self._is_stale and not self._seeks)
        self._show_work(text, fraction, "Stop simulating; the playhead goes to where it got.")

    def show_preparing(self, text: str, fraction: float) -> None:
        """Shows how far nodes are that prepare for other settings, with a way to cancel; "" hides it."""
        self._show_work(text, fraction, "Give up; what there is stays as it is.")

    def show_transfer(self, text: str, fraction: float) -> None:
        """Shows how far a file of timings is, with a way to cancel; "" hides it."""
        self._show_work(text, fraction, "Give up; what is half written does not appear.")

    def _show_work(self, text: str, fraction: float, tip: str) -> None:
        self._cancel.setToolTip(tip)
        for widget in (self._loading, self._bar, self._cancel):
            widget.setVisible(bool(text))
        self._loading.setText(label_text(text))
        self._bar.setUpdatesEnabled(False)  # else it would paint at once, and the viewport with it
        self._bar.setValue(round(fraction * 100.0))
        self._bar.setUpdatesEnabled(True)

    def show_hint(self, text: str) -> None:
        self._passing.stop()
        self._hint.setText(label_text(text))

    def show_news(self, text: str) -> None:
        """Says what came of something in the place of that, for a while."""
        self.show_hint(text)
        self._passing.start()

    def show_simulation(self, state: SimulationState) -> None:
        """Says how the simulation clock stands; offers to bring it to the playhead where it is elsewhere."""
        self._simulation.setText(simulation_text(state))
        self._is_stale = state.stale
        self._seek.setVisible(state.stale and not self._seeks)

    def show_unread(self, count: int) -> None:
        """Says that messages came while their panel was hidden, and offers it; 0 hides this."""
        self._unread.setVisible(count > 0)
        self._unread.setText("1 new message" if count == 1 else f"{count} new messages")

    def show_autosave(self, text: str) -> None:
        """Says when the project was saved by itself."""
        self._autosave.setText(text)

    def save_layout(self, settings: QSettings) -> None:
        """Remembers where the panels are."""
        self.docks.save(settings)

    def restore_layout(self, settings: QSettings) -> bool:
        """Puts the panels where the user left them; False when nothing usable is stored."""
        return self.docks.restore(settings)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.docks.settle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() < event.oldSize().width():
            self.docks.make_room()
        if event.size().height() < event.oldSize().height():
            QTimer.singleShot(0, self, self.docks.make_height)  # once the docks have the places that it leaves

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.activated.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._cancel.isVisible():
            self.cancel_requested.emit()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.closing()
        self.viewport.release()
        event.accept()

    def _build_status_bar(self) -> None:
        bar = self.statusBar()
        dress(bar)
        self._hint = QLabel()
        self._passing = QTimer(self, interval=_NEWS, singleShot=True)
        self._passing.timeout.connect(self._hint.clear)
        self._hint.setMinimumWidth(1)  # what is told beside it comes first where there is little room
        self._loading, self._bar, self._cancel = QLabel(), QProgressBar(), QPushButton("Cancel")
        self._bar.setFixedWidth(140)
        self._bar.setMaximumHeight(14)
        self._cancel.setFlat(True)
        self._cancel.clicked.connect(self.cancel_requested)
        self._is_stale = self._seeks = False
        self._seek = QPushButton(icon("mdi6.fast-forward"), "Simulate to playhead")
        self._seek.setObjectName("seek")
        self._seek.setFlat(True)
        self._seek.setToolTip(self.actions_table["simulate.seek"].toolTip())
        self._seek.clicked.connect(lambda: self.actions_table["simulate.seek"].trigger())
        self._seek.hide()
        self._autosave, self._simulation = QLabel(), QLabel()
        self._unread = QPushButton(icon("warning"), "")
        self._unread.setObjectName("unread")
        self._unread.setFlat(True)
        self._unread.setToolTip("Show the messages.")
        self._unread.clicked.connect(lambda: self.docks.reveal("messages"))
        for action in self.docks.drawer_actions():
            button = QToolButton()
            button.setDefaultAction(action)
            button.setAutoRaise(True)
            bar.addWidget(button)
        bar.addWidget(self._unread)
        bar.addWidget(self._hint, 1)
        # What changes its width stands left of what is pressed, which then stays where it is.
        for widget in (self._autosave, self._simulation, self._loading, self._bar, self._cancel, self._seek):
            bar.addPermanentWidget(widget)
        self.show_progress("", 0.0)
        self.show_unread(0)


def default_size(screen: QSize) -> QSize:
    """Size of the window at the first start on a screen with this much room [px]."""
    return DEFAULT_SIZE.boundedTo(screen * SCREEN_SHARE)


def simulation_text(state: SimulationState) -> str:
    """Steps and seconds, whether time or they alone stand, and how slow they are where they cannot keep up."""
    if not state.active:
        return ""
    clock = f"Simulation {state.steps * STEP_TIME:.2f} s, step {state.steps}"
    if state.held or not state.running:
        return f"{clock}, {'held' if state.held else 'paused'}"
    return clock if state.share > 0.95 else f"{clock}, {state.share:.0%} of real time"
