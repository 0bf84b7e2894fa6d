import functools
from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QEvent, QObject, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QMainWindow, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from sinew.app.document.document import Document
from sinew.app.editor.docks import Docks
from sinew.app.files.project_files import ProjectFiles
from sinew.app.files.recent_files import RecentFiles
from sinew.app.session.actions import Actions, Menu
from sinew.app.session.bootstrap import APPLICATION
from sinew.app.session.menus import Menus, Place
from sinew.app.session.playback import SimulationState
from sinew.app.tasks import Priority
from sinew.app.timeline.shown import Shown
from sinew.sim.kinds.contract import Panel
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.clock import STEP_TIME
from sinew.widgets.icons import icon
from sinew.widgets.parts import QuestionBar, commit_typed, packed
from sinew.widgets.texts import label_text, menu_text, tip_text
from sinew.widgets.theme import dress
from sinew.widgets.viewport import Viewport

DEFAULT_SIZE = QSize(1440, 900)
_NEWS = 10_000  # [ms] for which a result is shown in the status bar

SCREEN_SHARE = 0.92
"""Part of a small screen that the window takes at first; its frame and the task bar need the rest."""


class MainWindow(QMainWindow):
    """Viewport in the middle, docks around it, menus, toolbar and status bar.

    Attributes:
        may_close: Asked before closing; False keeps the window open.
        closing: Called once the window will close, while GL can still be used.
        question: Asks above the viewport whether files outside the project's folders are read.
        disk_question: Asks there about a project that another program has changed.
        actions_table, menus: Exist after `set_actions`.
        autosave: Label of the state of the autosave.
    """

    activated = Signal()  # The window became the active one
    cancel_requested = Signal()  # The user cancels loading

    def __init__(self, viewport: Viewport, panels: dict[str, QWidget], kinds: Mapping[str, Panel]) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True
        self.closing: Callable[[], None] = lambda: None
        self.viewport = viewport
        self._kinds = kinds
        self._seeks = self._waits = False
        self._shown, self._clock = Shown(), ""
        self.question, self.disk_question = QuestionBar(), QuestionBar()
        centre = QWidget()
        packed(QVBoxLayout(centre), self.question, self.disk_question, spacing=0).addWidget(viewport, 1)
        self.setCentralWidget(centre)
        self.resize(default_size(self.screen().availableGeometry().size()))
        self.docks = Docks(self, panels, (dock for panel in kinds.values() for dock in panel.docks))
        self._build_status_bar()
        self.docks["timeline"].visibilityChanged.connect(lambda _: self._show_clock())

    def set_actions(self, table: Iterable[Menu], place: Place, settings: QSettings) -> None:
        """Sets the actions, with the keys that the user has changed, and builds the menus; call this once."""
        menus = tuple(table)
        self.actions_table = Actions(self, (action for menu in menus for action in menu.actions()), settings)
        self.menus = Menus(self, menus, self.actions_table, self.docks.toggle_actions(), self._kinds, place)

    def show_progress(self, name: str, fraction: float) -> None:
        """Shows the progress of loading and a button to cancel; an empty name hides both."""
        self._show_work(f"Loading {name}" if name else "", fraction, "Cancel loading; the scene does not change.")

    def show_seek(self, text: str, fraction: float) -> None:
        """Shows the progress of a simulation; an empty text hides it."""
        self._seeks = bool(text)
        self._seek.setVisible(bool(self._shown.remedy) and not self._seeks)
        if self._waits:
            self._show_work(text, fraction, "Stop waiting; the playhead stays.", "Stop Waiting")
        else:
            self._show_work(text, fraction, "Stop simulating; the playhead moves to the last simulated frame.")

    def show_task(self, text: str, fraction: float, priority: int) -> None:
        """Shows the progress of a task; an empty text hides it."""
        if priority == Priority.PREPARE:
            self._show_work(text, fraction, "Cancel; the current strands stay.")
        else:
            self.show_seek(text, fraction)

    def show_transfer(self, text: str, fraction: float) -> None:
        """Shows the progress of a file transfer; an empty text hides it."""
        self._show_work(text, fraction, "Cancel; a half written file is deleted.")

    def _show_work(self, text: str, fraction: float, tip: str, button: str = "Cancel") -> None:
        self._cancel.setText(button)
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
        """Shows a result in the place of the hint for some seconds."""
        self.show_hint(text)
        self._passing.start()

    def show_simulation(self, state: SimulationState) -> None:
        self._clock, self._waits = simulation_text(state), state.waits
        self._show_clock()

    def show_drawn(self, shown: Shown) -> None:
        """Shows the source of the steps in the title of the timeline, and its remedy as a button."""
        self._shown = shown
        self.docks.show_drawn(shown.text)
        self._seek.setText(shown.remedy)
        self._seek.setVisible(bool(shown.remedy) and not self._seeks)
        self._show_clock()

    def _show_clock(self) -> None:
        """Shows the clock of the simulation, and the source of the steps if the timeline is hidden."""
        text = label_text(self._shown.text) if self.docks["timeline"].isHidden() else ""
        self._simulation.setText(", ".join(filter(None, (self._clock, text))))

    def show_unread(self, count: int) -> None:
        """Shows the number of messages that came while their panel was hidden; 0 hides the button."""
        self._unread.setVisible(count > 0)
        self._unread.setText("1 new message" if count == 1 else f"{count} new messages")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.docks.settle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() < event.oldSize().width():
            self.docks.make_room()
        if event.size().height() < event.oldSize().height():
            QTimer.singleShot(0, self, self.docks.make_height)  # once the docks have their new sizes

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
        self._hint.setMinimumWidth(1)  # the other labels come first if there is little room
        self._loading, self._bar, self._cancel = QLabel(), QProgressBar(), QPushButton("Cancel")
        self._bar.setFixedWidth(140)
        self._bar.setMaximumHeight(14)
        self._cancel.setFlat(True)
        self._cancel.clicked.connect(self.cancel_requested)
        self._seek: QPushButton = QPushButton(icon("mdi6.fast-forward"), "", flat=True)
        self._seek.clicked.connect(lambda: self._shown.act() if self._shown.act is not None else None)
        self._seek.setObjectName("seek")
        self._seek.hide()
        self.autosave = QLabel()
        self._simulation: QLabel = QLabel()
        self._unread = QPushButton(icon("warning"), "", flat=True)
        self._unread.setObjectName("unread")
        self._unread.setToolTip("Show the messages.")
        self._unread.clicked.connect(lambda: self.docks.reveal("messages"))
        for action in self.docks.drawer_actions():
            button = QToolButton()
            button.setDefaultAction(action)
            button.setAutoRaise(True)
            bar.addWidget(button)
        bar.addWidget(self._unread)
        bar.addWidget(self._hint, 1)
        # Labels that change their width are to the left of the buttons, which then keep their place.
        for widget in (self.autosave, self._simulation, self._loading, self._bar, self._cancel, self._seek):
            bar.addPermanentWidget(widget)
        self.show_progress("", 0.0)
        self.show_unread(0)


def default_size(screen: QSize) -> QSize:
    """Returns the size of the window at the first start [px]."""
    return DEFAULT_SIZE.boundedTo(screen * SCREEN_SHARE)


def simulation_text(state: SimulationState) -> str:
    """Returns the status text of the simulation, with the speed if it is slower than real time."""
    if not state.active:
        return ""
    clock = f"Simulation {state.steps * STEP_TIME:.2f} s, step {state.steps}"
    if state.held or not state.running:
        return f"{clock}, {'held' if state.held else 'paused'}"
    return clock if state.share > 0.95 else f"{clock}, {state.share:.0%} speed"


class WindowState(QObject):
    """State of the window: title, actions and the list of recent files follow the document."""

    def __init__(self, window: MainWindow, document: Document, recent: RecentFiles, files: ProjectFiles) -> None:
        super().__init__(window)
        self._window, self._document, self._recent, self._files = window, document, recent, files
        document.changed.connect(self._follow)
        document.selection_changed.connect(self.refresh)
        shown = "view.orthographic", "simulate.bones"
        document.view_state_changed.connect(lambda _: window.actions_table.refresh(*shown))
        document.title_changed.connect(self._refresh_title)
        recent.changed.connect(self._refresh_recent)
        document.history_changed.connect(self._refresh_history)
        document.history_moves.connect(commit_typed)
        self.refresh()
        self._refresh_title()
        self._refresh_recent()
        self._refresh_history()

    def refresh(self, *_: object) -> None:
        self._window.actions_table.refresh()

    def _follow(self, change: Change) -> None:
        if change.kind is ChangeKind.VALUE:  # of a field that is dragged, for instance
            self._window.actions_table.refresh_later()
        else:
            self.refresh()

    def _refresh_title(self) -> None:
        path = self._document.path
        self._window.setWindowModified(self._document.modified)
        self._window.setWindowFilePath(str(path) if path else "")
        self._window.setWindowTitle(f"{label_text(self._document.title)}[*] – {APPLICATION}")
        self._window.actions_table.refresh_later()  # a saved project can be baked

    def _refresh_history(self, *_: object) -> None:
        stack, actions = self._document.undo_stack, self._window.actions_table
        actions.rename("edit.undo", f"&Undo {menu_text(stack.undo_text)}".rstrip())
        actions.rename("edit.redo", f"&Redo {menu_text(stack.redo_text)}".rstrip())
        actions.refresh("edit.undo", "edit.redo", "edit.copy_python")

    def _refresh_recent(self) -> None:
        menu = self._window.menus.recent
        menu.clear()
        for path in self._recent.paths():
            action = menu.addAction(menu_text(path.name), functools.partial(self._files.open, path))
            action.setToolTip(tip_text(str(path)))
            action.setStatusTip(label_text(str(path)))
        menu.setEnabled(not menu.isEmpty())
