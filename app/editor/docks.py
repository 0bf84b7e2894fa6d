"""The docks of the main window: default places, persistence, reset."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from PySide6.QtCore import QByteArray, QEvent, QObject, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from sim.kinds.contract import Dock
from widgets.parts import Pages, ShallowArea

LAYOUT_VERSION = 5
_HANDLES = 12
"""Height of what docks below each other are dragged by [px]."""

_SHALLOW = 44
"""Least height of what panels below the timeline show of themselves [px]; the rest is scrolled."""

_REST = 400
"""Time after which sizes are taken for those that the user, or the program, wants [ms]; layouts take several passes."""

_PASSES = 4
"""How often heights are asked for until docks have them: what layouts make of them comes nearer every time."""

_GEOMETRY, _STATE = "window/geometry", "window/state"


@dataclass(frozen=True, slots=True)
class DockSpec:
    """A dock and the place it has by default.

    Attributes:
        id: Object name, which the saved layout refers to.
        title: Text of the title bar.
        area: Side of the window.
        size: Default width or height [px] in its area.
    """

    id: str
    title: str
    area: Qt.DockWidgetArea
    size: int


OUTLINER = DockSpec("outliner", "Outliner", Qt.DockWidgetArea.LeftDockWidgetArea, 270)
INSPECTOR = DockSpec("inspector", "Inspector", Qt.DockWidgetArea.RightDockWidgetArea, 350)
TIMELINE = DockSpec("timeline", "Timeline", Qt.DockWidgetArea.BottomDockWidgetArea, 148)
TIMINGS = DockSpec("timings", "Timings", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
MESSAGES = DockSpec("messages", "Messages", Qt.DockWidgetArea.BottomDockWidgetArea, 120)
DISTANCE = DockSpec("distance", "Bake Distance", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
SPECS = (OUTLINER, INSPECTOR, TIMELINE, TIMINGS, DISTANCE, MESSAGES)
ROOM_SIZE = 130
"""Default height of a panel that a kind has [px]."""

DRAWER_SHARE = 0.22
"""Part of the height of the window that a panel below the timeline opens with, where that is more."""

SHARES = {OUTLINER: 0.19, INSPECTOR: 0.28}
"""Most of the width of the window that panels at the sides take by themselves: the viewport keeps half of it."""


class Docks(QObject):
    """Creates the docks around the central widget and remembers where the user left them.

    What opens and closes at the bottom takes its height from the viewport and gives it back; the timeline keeps its.

    Args:
        window: Where they are.
        panels: What they hold, by id.
        more: Docks of kinds, which share the place of messages and timings.
    """

    def __init__(self, window: QMainWindow, panels: dict[str, QWidget], more: Iterable[Dock] = ()) -> None:
        super().__init__(window)
        self._window = window
        rooms = _shared(more)
        self._rooms = tuple(
            DockSpec(dock.id, dock.title, Qt.DockWidgetArea.BottomDockWidgetArea, ROOM_SIZE) for dock in rooms.values()
        )
        self._docks: dict[str, QDockWidget] = {}
        self._before: QByteArray | None = None  # The layout that a maximised viewport goes back to
        self._is_default = True
        self._is_arranging = False
        self._timeline_height = 0  # As it was when nothing below it was about to open or close
        self._drawer_height: int | None = None  # As the last one of these was left
        self._opened: DockSpec | None = None  # Which of these comes into sight
        self._squeezed = self._least = 0  # Height that the timeline has for want of room, and its least one
        self._keeping = QTimer(self, interval=0, singleShot=True)
        self._keeping.timeout.connect(self._keep_heights)
        self._resting = QTimer(self, interval=_REST, singleShot=True)
        self._resting.timeout.connect(self._note_timeline)
        # Without grouped dragging: Qt 6.11 crashes where a window of several docks is taken apart while it still moves.
        window.setDockNestingEnabled(True)
        # The side panels keep the full height beside the viewport; timeline and messages span below everything.
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        for spec in (*SPECS[:-1], *self._rooms, SPECS[-1]):
            dock = QDockWidget(spec.title, window)
            dock.setObjectName(spec.id)
            widget = rooms[spec.id].widget if spec.id in rooms else panels[spec.id]
            dock.setWidget(ShallowArea(widget, _SHALLOW) if spec in self._drawers else widget)
            # A window of its own gives the focus to its first field, where the keys of the program would be typed in.
            dock.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            dock.topLevelChanged.connect(lambda _floating, dock=dock: dock.setFocus())
            self._docks[spec.id] = dock
        self._switches = {spec.id: self._switch(self._docks[spec.id]) for spec in self._drawers}
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
        """Menu entries that show and hide each dock; those that share a place come to its front first."""
        return [self._switches.get(dock_id) or dock.toggleViewAction() for dock_id, dock in self._docks.items()]

    @property
    def _drawers(self) -> tuple[DockSpec, ...]:
        """The docks that are closed by default, and share a place below the timeline."""
        return MESSAGES, *self._rooms, DISTANCE, TIMINGS

    def drawer_actions(self) -> list[QAction]:
        return [self._switches[spec.id] for spec in self._drawers]

    def _switch(self, dock: QDockWidget) -> QAction:
        """Is on while the dock is seen, which one behind another is not."""
        action = QAction(dock.windowTitle(), self, checkable=True)
        action.setToolTip(f"Show {dock.windowTitle()}, or hide it where it is in front.")
        action.triggered.connect(lambda on: self.reveal(dock.objectName()) if on else dock.hide())
        dock.visibilityChanged.connect(action.setChecked)
        return action

    @property
    def is_maximised(self) -> bool:
        return self._before is not None

    def maximise(self, on: bool) -> None:
        """Gives the viewport the place of all docks, or gives it back to them."""
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
        """Keeps half of the width for the viewport, where a smaller window takes it."""
        sides = [spec for spec in SHARES if self._docks[spec.id].isVisible() and not self._docks[spec.id].isFloating()]
        docks, width = [self._docks[spec.id] for spec in sides], self._window.width()
        if sum(dock.width() for dock in docks) > width * sum(SHARES[spec] for spec in sides):
            sizes = [round(width * SHARES[spec]) for spec in sides]
            self._window.resizeDocks(docks, sizes, Qt.Orientation.Horizontal)

    def make_height(self) -> None:
        """Keeps half of the height for the viewport likewise: what is below the timeline gives it, then the timeline.

        Only where both are there: what takes the room of a panel alone is what the user wants to see.
        """
        window, timeline = self._window, self._docks[TIMELINE.id]
        shown = [dock for spec in self._drawers if (dock := self._docks[spec.id]).isVisible() and not dock.isFloating()]
        # All that share the place are visible for Qt, but only one has its height.
        drawer = max(shown, key=lambda dock: dock.geometry().bottom(), default=None)
        lack = window.height() // 2 - window.centralWidget().height()
        if lack <= 0 or drawer is None or not timeline.isVisible() or timeline.isFloating():
            return
        given = min(lack, drawer.height() - drawer.minimumSizeHint().height())
        heights = [timeline.height() - lack + given, drawer.height() - given]
        window.resizeDocks([timeline, drawer], [max(height, 1) for height in heights], Qt.Orientation.Vertical)
        window.layout().activate()
        self._squeezed = timeline.height() if lack > given else 0

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
        """The timeline has another height, and whether that is for a dock that opened or closed would be known."""
        timeline = self._docks[TIMELINE.id]
        wanted = timeline.isVisible() and not timeline.isFloating() and timeline.height() != self._squeezed
        if wanted and not self._keeping.isActive():
            self._timeline_height = timeline.height()

    def _note_heights(self, spec: DockSpec, seen: bool) -> None:
        """A dock below the timeline opens or closes; whether the layout has followed yet differs."""
        timeline = self._docks[TIMELINE.id]
        if self._is_arranging or not self._timeline_height or not timeline.isVisible() or timeline.isFloating():
            return
        if not self._keeping.isActive():
            self._opened = None
            self._keeping.start()
        if seen:
            self._opened = spec
        elif self._docks[spec.id].isHidden():  # and not behind another one, which takes some of its height for tabs
            self._drawer_height = self._docks[spec.id].height()

    def _keep_heights(self) -> None:
        """Gives the timeline the height that it had, what opened its last one, if that leaves the viewport half."""
        timeline, height = self._docks[TIMELINE.id], self._timeline_height
        if not timeline.isVisible() or timeline.isFloating():
            return
        self._window.layout().activate()
        docks, heights = [timeline], [height]
        dock = self._docks[self._opened.id] if self._opened is not None else None
        if self._opened is not None and dock is not None and dock.isVisible() and not dock.isFloating():
            bottom = self._window.centralWidget().geometry().bottom()
            below = self._docks[self._opened.id].geometry().bottom() - bottom
            free = below + self._window.centralWidget().height() - height - self._window.height() // 2 - _HANDLES
            docks.append(dock)
            useful = max(self._opened.size, round(self._window.height() * DRAWER_SHARE))
            heights.append(max(min(self._drawer_height or useful, free), dock.height(), 1))
        wanted = tuple(heights)
        for _ in range(_PASSES):
            self._window.resizeDocks(docks, heights, Qt.Orientation.Vertical)
            self._window.layout().activate()
            lack = max(most - one.height() for most, one in zip(wanted, docks, strict=True))
            if len(docks) < 2 or lack <= 0:
                break
            heights[1] += lack  # tabs need room too
        self.make_height()

    def reset(self) -> None:
        """Puts every dock back in its default place; those that share the bottom wait to be opened."""
        with self._arranging():
            self._reset()

    def _reset(self) -> None:
        self._before, self._is_default = None, True
        window, docks = self._window, self._docks.values()
        for dock in docks:
            dock.setFloating(False)
            # Side by side for a moment, those at the bottom would make the window wider.
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

    def reveal(self, dock_id: str) -> None:
        self._docks[dock_id].show()
        self._docks[dock_id].raise_()

    def settle(self) -> None:
        """Once the window is shown: floating docks come to its front, and default sizes fit into it."""
        if self._is_default:
            self.make_room()
        for dock in self._docks.values():
            if dock.isFloating():
                dock.raise_()

    def save(self, settings: QSettings) -> None:
        """Stores window geometry and dock layout, as the last ones and as those of these screens."""
        geometry, state = self._window.saveGeometry(), self._before or self._window.saveState(LAYOUT_VERSION)
        for prefix in ("", _screens()):
            settings.setValue(prefix + _GEOMETRY, geometry)
            settings.setValue(prefix + _STATE, state)
        settings.sync()  # the program may end before settings are written by themselves

    def restore(self, settings: QSettings) -> bool:
        """Puts window and docks where they were; False when nothing usable is stored.

        Screens of other sizes or scales have layouts of their own, at first the last one, fitted into the window.
        """
        prefix = _screens() if isinstance(settings.value(_screens() + _STATE), QByteArray) else ""
        geometry, state = settings.value(prefix + _GEOMETRY), settings.value(prefix + _STATE)
        if not isinstance(geometry, QByteArray) or not isinstance(state, QByteArray):
            return False
        with self._arranging():
            is_fitting = self._window.restoreGeometry(geometry)  # Qt refuses that of a screen of quite another width
            restored = self._window.restoreState(state, LAYOUT_VERSION)
        self._is_default = not (restored and is_fitting)
        return restored


def _screens() -> str:
    """Sizes and scales of the screens, as the start of the names of settings."""
    sizes = (
        (one.geometry().width(), one.geometry().height(), one.devicePixelRatio()) for one in QApplication.screens()
    )
    return "+".join(f"{width}x{height}@{scale:g}" for width, height, scale in sorted(sizes)) + "/"


def _shared(docks: Iterable[Dock]) -> dict[str, Dock]:
    """Docks by id; what has the same one lies over each other in it."""
    found: dict[str, Dock] = {}
    for dock in docks:
        if dock.id in found:
            stack = found[dock.id].widget
            if not isinstance(stack, Pages):
                stack = Pages(stack)
            stack.addWidget(dock.widget)
            found[dock.id] = replace(dock, widget=stack)
        else:
            found[dock.id] = dock
    return found
