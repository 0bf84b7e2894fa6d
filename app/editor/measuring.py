"""Timings and the menu Timing."""

from collections.abc import Callable

from PySide6.QtCore import Qt

from sinew.app.editor.feature import Feature
from sinew.app.editor.session import Session
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.timings.panel import TimingsPanel
from sinew.app.timings.past_values import PastValues


class Measuring(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.past = PastValues(session.document, session.playback, session.active, session.panels.inspector)
        session.timings = TimingsPanel(
            session.client, session.active, self.past, session.timeline, session.dialogs, session.settings,
            session.viewport.update,
        )  # fmt: skip
        self.docks = {"timings": session.timings.view}

    def menus(self) -> list[Menu]:
        return [timing_menu(self.session.timings, self.measure, self.compare_back_ends)]

    def join(self) -> None:
        timings, window, panels = self.session.timings, self.session.window, self.session.panels
        for signal_of_state in (timings.toggled, timings.paused, timings.recording):
            signal_of_state.connect(self.session.refresh_actions)
        timings.hint.connect(window.show_news)
        for name in ("compare_back_ends", "import", "export_csv", "export_trace", "clear"):
            timings.view.toolbar.menu.addAction(window.actions_table[f"timing.{name}"])
        timings.informed.connect(panels.inform)
        timings.failed.connect(panels.fail)
        timings.files.progressed.connect(window.show_transfer)
        timings.restore()

    def cancel(self) -> bool:
        """Cancels reading or writing timings."""
        files = self.session.timings.files
        if files.busy:
            files.cancel()
            return True
        return False

    def close(self) -> None:
        self.session.timings.files.cancel()

    def measure(self, on: bool) -> None:
        """Starts or stops measuring; starting also shows the timings."""
        self.session.timings.measure(on)
        if on:
            self.session.window.docks.reveal("timings")

    def compare_back_ends(self) -> None:
        """Compares both back ends, and starts playback for the time of the comparison."""
        session, timings, playback = self.session, self.session.timings, self.session.playback
        if baked := [node.name for node in session.document.scene.nodes if node.baked]:
            session.window.show_news(f"{baked[0]} is baked and not simulated: detach its bake to compare back ends")
            return
        session.window.docks.reveal("timings")
        if timings.compare_back_ends() and not playback.is_running:
            playback.toggle()
            timings.trial.finished.connect(playback.pause, Qt.ConnectionType.SingleShotConnection)


def timing_menu(timings: TimingsPanel, measure: Callable[[bool], None], compare: Callable[[], None]) -> Menu:
    return Menu("&Timing", [
        Action("timing.measure", "&Measure", "Measure the frame time per pass.", measure, ("Ctrl+T",),
               is_on=lambda: timings.is_measuring),
        Action("timing.pause", "&Pause Timings", "Freeze the view of the timings; measuring continues.",
               timings.view.set_held, ("Shift+P",), is_on=lambda: timings.view.is_held),
        SEPARATOR,
        Action("timing.record", "&Record", "Start or stop a recording to compare with others.",
               lambda _: timings.view.toolbar.record_button.click(), ("Ctrl+Shift+T",),
               is_on=lambda: timings.recordings.running is not None),
        Action("timing.compare_back_ends", "Compare Back &Ends",
               "Measure the same scene by transform feedback and by compute in turn, frame by frame.", compare),
        SEPARATOR,
        Action("timing.export_csv", "Export &CSV…", "Write the displayed timings: a row for each frame and pass.",
               timings.export_csv),
        Action("timing.export_trace", "Export Chrome &Trace…", "Write the displayed timings for Perfetto.",
               timings.export_trace),
        Action("timing.import", "&Import CSV…", "Read timings to compare with.", timings.import_csv),
        SEPARATOR,
        Action("timing.clear", "C&lear", "Delete the timings of the last minute; recordings stay.", timings.clear),
    ])  # fmt: skip
