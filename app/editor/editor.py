import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy.ma  # noqa: F401  # numpy would import it at the first call of `unique`, while the window waits
from PySide6.QtCore import QObject, QThreadPool

from sinew.app.editor.feature import Feature
from sinew.app.editor.helping import Helping
from sinew.app.editor.main_window import MainWindow, WindowState
from sinew.app.editor.measuring import Measuring
from sinew.app.editor.objects import Objects
from sinew.app.editor.playing import Playing
from sinew.app.editor.rendering import Rendering
from sinew.app.editor.saving import Saving
from sinew.app.editor.scripting import Scripting
from sinew.app.editor.selected_node import SelectedNode
from sinew.app.editor.session import Session
from sinew.app.editor.simulation import SimulationWork
from sinew.app.editor.stop_reports import StopReports
from sinew.app.editor.viewing import Viewing
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.menus import BAR
from sinew.sim.gl.back_end import BackEndChoice

FEATURES: Mapping[str, type[Feature]] = {
    "saving": Saving, "simulation": SimulationWork, "objects": Objects, "selected": SelectedNode,
    "rendering": Rendering, "stops": StopReports, "playing": Playing, "view": Viewing, "measuring": Measuring,
    "scripting": Scripting, "helping": Helping,
}  # fmt: skip
"""In the order in which they are made, receive changes, and join the window; they close backwards."""


class Editor(Session):
    """One window and all its features.

    Args:
        dialogs: Asks the user; tests pass their own.
        new_window_layout: Start with the default layout of panels.
        debug_gl: Report OpenGL errors in the messages.
        back_end: Back end to start with; the stored one for None.
        clock: Monotonic time [s] of playback.
        programs: Folder for shaders compiled by a worker thread; None compiles each when it is first used.
    """

    def __init__(
        self,
        *,
        dialogs: Dialogs | None = None,
        new_window_layout: bool = False,
        debug_gl: bool = False,
        back_end: BackEndChoice | None = None,
        clock: Callable[[], float] = time.monotonic,
        programs: Path | None = None,
    ) -> None:
        super().__init__(dialogs=dialogs, debug_gl=debug_gl, back_end=back_end, clock=clock, programs=programs)
        self.features: dict[str, Feature] = {}
        for name, made in FEATURES.items():
            self.features[name] = made(self)
        features = self.features.values()
        docks = {name: widget for feature in features for name, widget in feature.docks.items()}
        window = self.window = MainWindow(self.viewport, docks, self.kind_panels)
        menus = [menu for feature in features for menu in feature.menus()]
        menus.sort(key=lambda menu: BAR.index(menu.title))
        window.set_actions(menus, lambda: self.edits.place, self.settings)
        self.dialogs.parent = window
        window.may_close = lambda: self.files.may_discard(self.output.queue.unfinished)
        window.closing = self.close
        window.cancel_requested.connect(self.cancel)
        self.window_state = WindowState(window, self.document, self.recent, self.files)
        for feature in features:
            feature.join()
        for part in (*features, *(part for holder in (self, *features) for part in vars(holder).values())):
            # Connections keep their receivers alive, so that the window must delete all parts.
            if isinstance(part, QObject) and part.parent() is None and part is not window:
                part.setParent(window)
        if new_window_layout or not window.docks.restore(self.settings):
            window.docks.reset()

    def cancel(self) -> None:
        """Cancels the work of the last feature that has any."""
        any(feature.cancel() for feature in reversed(self.features.values()))

    def close(self) -> None:
        """Ends all work of the editor."""
        self.playback.pause()
        self.window.docks.save(self.settings)
        for feature in reversed(self.features.values()):
            feature.close()
        QThreadPool.globalInstance().waitForDone()
        self.window.deleteLater()
