import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from PySide6.QtCore import QByteArray, QEvent, QObject, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from sinew.sim.kinds.contract import Dock
from sinew.widgets.parts import Pages, ShallowArea

LAYOUT_VERSION = 5
_HANDLES = 12  # height of the handle between docks [px]

_SHALLOW = 44  # minimum height of panels below the timeline [px]; taller content scrolls

_REST = 400
"""Time without resize events [ms] after which a layout counts as final; Qt lays docks out in several passes."""

_PASSES = 4  # most resize requests; each brings the layout nearer to the requested heights

_GEOMETRY, _STATE = "window/geometry", "window/state"


@dataclass(frozen=True, slots=True)
class DockSpec:
    """A dock: `id` is the object name in the saved layout, `size` the default width or height [px] in its area."""

    id: str
    title: str
    area: Qt.DockWidgetArea
    size: int


OUTLINER = DockSpec("outliner", "Outliner", Qt.DockWidgetArea.LeftDockWidgetArea, 270)
INSPECTOR = DockSpec("inspector", "Inspector", Qt.DockWidgetArea.RightDockWidgetArea, 380)
TIMELINE = DockSpec("timeline", "Timeline", Qt.DockWidgetArea.BottomDockWidgetArea, 176)
TIMINGS = DockSpec("timings", "Timings", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
MESSAGES = DockSpec("messages", "Messages", Qt.DockWidgetArea.BottomDockWidgetArea, 120)
DISTANCE = DockSpec("distance", "Distances", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
PYTHON = DockSpec("python", "Python", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
SPECS = (OUTLINER, INSPECTOR, TIMELINE, TIMINGS, DISTANCE, PYTHON, MESSAGES)
KIND_SIZE = 130  # [px], of docks of kinds

DRAWER_SHARE = 0.28  # minimum height of a dock that opens below the timeline, as part of the window

LOW = 900
"""Height of a window [px] below which the viewport keeps less of it, so that a panel below shows enough."""

SHARES = {OUTLINER: 0.19, INSPECTOR: 0.28}
"""Maximum default width of side docks as part of the window; half of it stays for the viewport."""


class Docks(QObject):
    """The docks of one window. Drawers are the docks below the timeline, closed by default and tabbed: they take their
    height from the viewport when they open and return it when they close; the timeline keeps its height.

    Args:
        panels: Contents of the docks of the program, by id.
        more: Docks of kinds, which are drawers.
    """

    def __init__(self, window: QMainWindow, panels: dict[str, QWidget], more: Iterable[Dock] = ()) -> None:
        super().__init__(window)
        self._window = window
        of_kinds = {name: dock for name, dock in _shared(more).items() if name not in panels}
        self._of_kinds = tuple(
            DockSpec(dock.id, dock.title, Qt.DockWidgetArea.BottomDockWidgetArea, KIND_SIZE)
            for dock in of_kinds.values()
        )
        self._docks: dict[str, QDockWidget] = {}
        self._before: QByteArray | None = None  # Layout before the viewport was maximised
        self._is_default = True
        self._is_arranging = False
        self._timeline_height = 0  # Before a drawer opens or closes
        self._drawer_height: int | None = None  # Of the last drawer when it was closed
        self._opened: DockSpec | None = None  # Drawer that opens
        self._squeezed = self._least = 0  # Height of a timeline without enough space, and its minimum
        self._keeping = QTimer(self, interval=0, singleShot=True)
        self._keeping.timeout.connect(self._keep_heights)
        self._resting = QTimer(self, interval=_REST, singleShot=True)
        self._resting.timeout.connect(self._note_timeline)
        # No grouped dragging: Qt 6.11 crashes when a floating group of docks is split while it moves.
        window.setDockNestingEnabled(True)
        # The side docks have the height of the viewport; the bottom docks have the width of the window.
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        for spec in (*SPECS[:-1], *self._of_kinds, SPECS[-1]):
            dock = QDockWidget(spec.title, window)
            dock.setObjectName(spec.id)
            widget = of_kinds[spec.id].widget if spec.id in of_kinds else panels[spec.id]
            dock.setWidget(ShallowArea(widget, _SHALLOW) if spec in self._drawers else widget)
            # Otherwise a floating dock focuses its first field, which would receive the shortcuts of the program.
            dock.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            dock.topLevelChanged.connect(lambda _floating, dock=dock: dock.setFocus())
            self._docks[spec.id] = dock
        # The title of the timeline changes, and its own entry of the menu with it.
        self._switches = {spec.id: self._switch(self._docks[spec.id]) for spec in (TIMELINE, *self._drawers)}
        for spec in self._drawers:
            self._docks[spec.id].visibilityChanged.connect(lambda seen, spec=spec: self._note_heights(spec, seen))
        self._docks[TIMELINE.id].installEventFilter(self)
        self.reset()

    def __getitem__(self, dock_id: str) -> QDockWidget:
        return self._docks[dock_id]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._docks)

    def toggle_actions(self) -> list[QAction]:
        """Returns the menu entries that show and hide each dock; drawers behind another tab are raised first."""
        return [self._switches.get(dock_id) or dock.toggleViewAction() for dock_id, dock in self._docks.items()]

    @property
    def _drawers(self) -> tuple[DockSpec, ...]:
        return MESSAGES, *self._of_kinds, DISTANCE, TIMINGS, PYTHON

    def drawer_actions(self) -> list[QAction]:
        return [self._switches[spec.id] for spec in self._drawers]

    def _switch(self, dock: QDockWidget) -> QAction:
        """Returns a switch that is on while the dock is visible and not behind another tab."""
        action = QAction(dock.windowTitle(), self, checkable=True, toolTip=f"Show or hide {dock.windowTitle()}.")
        action.triggered.connect(lambda on: self.reveal(dock.objectName()) if on else dock.hide())
        dock.visibilityChanged.connect(action.setChecked)
        return action

    @property
    def is_maximised(self) -> bool:
        return self._before is not None

    def maximise(self, on: bool) -> None:
        with self._arranging():
            if on and self._before is None:
                self._before = self._window.saveState(LAYOUT_VERSION)
                for dock in self._docks.values():
                    if not dock.isFloating():
                        dock.hide()
            elif not on and self._before is not None:
                before, self._before = self._before, None
                self._window.restoreState(before, LAYOUT_VERSION)

    def make_room(self) -> None:
        """Shrinks the side docks so that the viewport keeps half of the width."""
        sides = [spec for spec in SHARES if self._docks[spec.id].isVisible() and not self._docks[spec.id].isFloating()]
        docks, width = [self._docks[spec.id] for spec in sides], self._window.width()
        if sum(dock.width() for dock in docks) > width * sum(SHARES[spec] for spec in sides):
            sizes = [round(width * SHARES[spec]) for spec in sides]
            self._window.resizeDocks(docks, sizes, Qt.Orientation.Horizontal)

    @property
    def _viewport_height(self) -> int:
        """Least height of the viewport [px]."""
        height = self._window.height()
        return height // 2 if height >= LOW else height * 2 // 5

    def make_height(self) -> None:
        """Shrinks drawer and timeline, in this order, so that the viewport keeps its part of the height.

        Does nothing if only one of them is open, as the user then wants to see it.
        """
        window, timeline = self._window, self._docks[TIMELINE.id]
        shown = [dock for spec in self._drawers if (dock := self._docks[spec.id]).isVisible() and not dock.isFloating()]
        # Qt reports all tabs as visible, but only the front one has a height.
        drawer = max(shown, key=lambda dock: dock.geometry().bottom(), default=None)
        layout, centre = window.layout(), window.centralWidget()
        assert layout is not None
        assert centre is not None
        shortage = self._viewport_height - centre.height()
        if shortage <= 0 or drawer is None or not timeline.isVisible() or timeline.isFloating():
            return
        given = min(shortage, drawer.height() - drawer.minimumSizeHint().height())
        heights = [timeline.height() - shortage + given, drawer.height() - given]
        window.resizeDocks([timeline, drawer], [max(height, 1) for height in heights], Qt.Orientation.Vertical)
        layout.activate()
        self._squeezed = timeline.height() if shortage > given else 0

    @contextmanager
    def _arranging(self) -> Iterator[None]:
        self._is_arranging = True
        self._keeping.stop()
        try:
            yield
        finally:
            self._is_arranging = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._resting.start()
        elif event.type() == QEvent.Type.LayoutRequest:
            before, self._least = self._least, self._docks[TIMELINE.id].minimumSizeHint().height()
            if self._least > before > 0:
                QTimer.singleShot(0, self, self.make_height)
        return super().eventFilter(watched, event)

    def _note_timeline(self) -> None:
        """Stores the height of the timeline unless a drawer has just opened or closed."""
        timeline = self._docks[TIMELINE.id]
        is_chosen = timeline.isVisible() and not timeline.isFloating() and timeline.height() != self._squeezed
        if is_chosen and not self._keeping.isActive():
            self._timeline_height = timeline.height()

    def _note_heights(self, spec: DockSpec, seen: bool) -> None:
        """Notes heights after a drawer has opened or closed; the layout may or may not have followed yet."""
        timeline = self._docks[TIMELINE.id]
        if self._is_arranging or not self._timeline_height or not timeline.isVisible() or timeline.isFloating():
            return
        if not self._keeping.isActive():
            self._opened = None
            self._keeping.start()
        if seen:
            self._opened = spec
        elif self._docks[spec.id].isHidden():  # and not only behind another tab
            self._drawer_height = self._docks[spec.id].height()

    def _keep_heights(self) -> None:
        """Restores the heights of timeline and drawer, if the viewport keeps its part of the window."""
        timeline, height = self._docks[TIMELINE.id], self._timeline_height
        if not timeline.isVisible() or timeline.isFloating():
            return
        layout, centre = self._window.layout(), self._window.centralWidget()
        assert layout is not None
        assert centre is not None
        layout.activate()
        docks, heights = [timeline], [height]
        dock = self._docks[self._opened.id] if self._opened is not None else None
        if self._opened is not None and dock is not None and dock.isVisible() and not dock.isFloating():
            bottom = centre.geometry().bottom()
            below = self._docks[self._opened.id].geometry().bottom() - bottom
            free = below + centre.height() - height - self._viewport_height - _HANDLES
            docks.append(dock)
            useful = max(self._opened.size, round(self._window.height() * DRAWER_SHARE))
            heights.append(max(min(self._drawer_height or useful, free), dock.height(), 1))
        requested = tuple(heights)
        for _ in range(_PASSES):
            self._window.resizeDocks(docks, heights, Qt.Orientation.Vertical)
            layout.activate()
            shortage = max(height - dock.height() for height, dock in zip(requested, docks, strict=True))
            if len(docks) < 2 or shortage <= 0:
                break
            heights[1] += shortage  # tabs need space too
        self.make_height()

    def reset(self) -> None:
        with self._arranging():
            self._reset()

    def _reset(self) -> None:
        self._before, self._is_default = None, True
        window, docks = self._window, self._docks.values()
        for dock in docks:
            dock.setFloating(False)
            # The bottom docks next to each other would widen the window.
            window.removeDockWidget(dock)
        timeline, *tabs = (self._docks[spec.id] for spec in (TIMELINE, *self._drawers))
        for spec in (OUTLINER, INSPECTOR, TIMELINE):
            window.addDockWidget(spec.area, self._docks[spec.id])
        window.splitDockWidget(timeline, tabs[0], Qt.Orientation.Vertical)
        for before, after in itertools.pairwise(tabs):
            window.tabifyDockWidget(before, after)
        for dock in docks:
            dock.setVisible(dock not in tabs)
        sizes = [min(spec.size, round(window.width() * share)) for spec, share in SHARES.items()]
        window.resizeDocks([self._docks[spec.id] for spec in SHARES], sizes, Qt.Orientation.Horizontal)
        window.resizeDocks([timeline], [TIMELINE.size], Qt.Orientation.Vertical)

    def show_drawn(self, text: str) -> None:
        """Shows the source of the steps in the title of the timeline; "" for nothing."""
        dock = self._docks[TIMELINE.id]
        dock.setWindowTitle(f"{TIMELINE.title} – {text}" if text else TIMELINE.title)
        dock.setAccessibleDescription(text)
        dock.widget().setAccessibleDescription(text)

    def reveal(self, dock_id: str) -> None:
        self._docks[dock_id].show()
        self._docks[dock_id].raise_()

    def settle(self) -> None:
        """Raises floating docks and fits default sizes into the window; call this after the window is shown."""
        if self._is_default:
            self.make_room()
        for dock in self._docks.values():
            if dock.isFloating():
                dock.raise_()

    def save(self, settings: QSettings) -> None:
        """Stores the layout twice: as the last one, and for the current screens."""
        geometry, state = self._window.saveGeometry(), self._before or self._window.saveState(LAYOUT_VERSION)
        for prefix in ("", _screens()):
            settings.setValue(prefix + _GEOMETRY, geometry)
            settings.setValue(prefix + _STATE, state)
        settings.sync()  # the program may end before Qt writes them

    def restore(self, settings: QSettings) -> bool:
        """Restores the layout for the current screens, else the last one; returns False if no layout is valid.

        Each set of screen sizes and scales has its own layout; the last one is used for a new set.
        """
        prefix = _screens() if isinstance(settings.value(_screens() + _STATE), QByteArray) else ""
        geometry, state = settings.value(prefix + _GEOMETRY), settings.value(prefix + _STATE)
        if not isinstance(geometry, QByteArray) or not isinstance(state, QByteArray):
            return False
        with self._arranging():
            is_fitting = self._window.restoreGeometry(geometry)  # Qt refuses the geometry of a much wider screen
            restored = self._window.restoreState(state, LAYOUT_VERSION)
        self._is_default = not (restored and is_fitting)
        return restored


def _screens() -> str:
    """Returns sizes and scales of the screens, as a prefix of settings."""
    sizes = (
        (screen.geometry().width(), screen.geometry().height(), screen.devicePixelRatio())
        for screen in QApplication.screens()
    )
    return "+".join(f"{width}x{height}@{scale:g}" for width, height, scale in sorted(sizes)) + "/"


def _shared(docks: Iterable[Dock]) -> dict[str, Dock]:
    """Returns docks by id; panels with the same id become pages of one dock."""
    docks_by_id: dict[str, Dock] = {}
    for dock in docks:
        if dock.id in docks_by_id:
            stack = docks_by_id[dock.id].widget
            if not isinstance(stack, Pages):
                stack = Pages(stack)
            stack.addWidget(dock.widget)
            docks_by_id[dock.id] = replace(dock, widget=stack)
        else:
            docks_by_id[dock.id] = dock
    return docks_by_id
