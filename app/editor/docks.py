"""The docks of the main window: default places, persistence, reset."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from sim.kinds.contract import Dock

LAYOUT_VERSION = 3
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
INSPECTOR = DockSpec("inspector", "Inspector", Qt.DockWidgetArea.RightDockWidgetArea, 320)
TIMELINE = DockSpec("timeline", "Timeline", Qt.DockWidgetArea.BottomDockWidgetArea, 150)
TIMINGS = DockSpec("timings", "Timings", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
MESSAGES = DockSpec("messages", "Messages", Qt.DockWidgetArea.BottomDockWidgetArea, 160)
SPECS = (OUTLINER, INSPECTOR, TIMELINE, TIMINGS, MESSAGES)
ROOM_SIZE = 130
"""Default height of a panel that a kind has [px]."""


class Docks:
    """Creates the docks around the central widget and remembers where the user left them.

    Args:
        window: Where they are.
        panels: What they hold, by id.
        more: Docks of kinds, which share the place of messages and timings.
    """

    def __init__(self, window: QMainWindow, panels: dict[str, QWidget], more: Iterable[Dock] = ()) -> None:
        self._window = window
        rooms = {dock.id: dock for dock in more}
        self._rooms = tuple(
            DockSpec(dock.id, dock.title, Qt.DockWidgetArea.BottomDockWidgetArea, ROOM_SIZE) for dock in rooms.values()
        )
        self._docks: dict[str, QDockWidget] = {}
        window.setDockNestingEnabled(True)
        window.setDockOptions(window.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        # The side panels keep the full height beside the viewport; timeline and messages span below everything.
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        for spec in (*SPECS[:-1], *self._rooms, SPECS[-1]):
            dock = QDockWidget(spec.title, window)
            dock.setObjectName(spec.id)
            dock.setWidget(rooms[spec.id].widget if spec.id in rooms else panels[spec.id])
            # A window of its own gives the focus to its first field, where the keys of the program would be typed in.
            dock.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            dock.topLevelChanged.connect(lambda _floating, dock=dock: dock.setFocus())
            self._docks[spec.id] = dock
        self.reset()

    def __getitem__(self, dock_id: str) -> QDockWidget:
        return self._docks[dock_id]

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of all docks."""
        return tuple(self._docks)

    def toggle_actions(self) -> list:
        """Menu entries that show and hide each dock."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def reset(self) -> None:
        """Puts every dock back in its default place, shown and docked."""
        window, docks = self._window, self._docks.values()
        for dock in docks:
            dock.setFloating(False)
            # Side by side for a moment, those at the bottom would make the window wider.
            window.removeDockWidget(dock)
        timeline, *tabs = (self._docks[spec.id] for spec in (TIMELINE, MESSAGES, *self._rooms, TIMINGS))
        for spec in (OUTLINER, INSPECTOR, TIMELINE):
            window.addDockWidget(spec.area, self._docks[spec.id])
        window.splitDockWidget(timeline, tabs[0], Qt.Orientation.Vertical)
        for before, after in itertools.pairwise(tabs):
            window.tabifyDockWidget(before, after)
        for dock in docks:
            dock.show()
        tabs[0].raise_()
        for orientation, ids in (
            (Qt.Orientation.Horizontal, ("outliner", "inspector")),
            (Qt.Orientation.Vertical, ("timeline", "messages")),
        ):
            specs = [spec for spec in SPECS if spec.id in ids]
            self._window.resizeDocks([self._docks[s.id] for s in specs], [s.size for s in specs], orientation)

    def reveal(self, dock_id: str) -> None:
        """Shows a dock, in front of those that share its place."""
        self._docks[dock_id].show()
        self._docks[dock_id].raise_()

    def raise_floating(self) -> None:
        """Puts floating docks in front of the window; those of a restored layout are shown before it."""
        for dock in self._docks.values():
            if dock.isFloating():
                dock.raise_()

    def save(self, settings: QSettings) -> None:
        """Stores window geometry and dock layout."""
        settings.setValue(_GEOMETRY, self._window.saveGeometry())
        settings.setValue(_STATE, self._window.saveState(LAYOUT_VERSION))

    def restore(self, settings: QSettings) -> bool:
        """Puts window and docks where they were; False when nothing usable is stored."""
        geometry, state = settings.value(_GEOMETRY), settings.value(_STATE)
        if not isinstance(geometry, QByteArray) or not isinstance(state, QByteArray):
            return False
        return self._window.restoreGeometry(geometry) and self._window.restoreState(state, LAYOUT_VERSION)
