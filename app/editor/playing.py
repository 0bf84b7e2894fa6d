"""The timeline and the menu Playback."""

from sinew.app.editor.feature import LATER, Feature
from sinew.app.editor.session import Session
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.session.frame_info import FrameInfo
from sinew.app.timeline.binding import StripsBinding, TimelineBinding
from sinew.app.timeline.cached_frame_bars import CachedFrameBars, NodeDistances
from sinew.app.timeline.keys_binding import KeysBinding
from sinew.app.timeline.shown import ShownLine
from sinew.sim.characters.settings import model_settings
from sinew.widgets.protocols import ModelState
from sinew.widgets.timeline.timeline import Timeline


class Playing(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        document, playback, keys = session.document, session.playback, session.panels.keys
        timeline = session.timeline = Timeline()
        self.binding = TimelineBinding(timeline, document, playback, session.store, session.active)
        self.strips = StripsBinding(timeline, document, session.store, session.active, keys)
        self.key_tracks = KeysBinding(timeline, document, keys)
        self.cached_bars = CachedFrameBars(timeline, document, session.client, session.baking)
        self.shown_line = ShownLine(document, playback, session.client, session.baking, session.seek)
        self.distance = NodeDistances(session.client, playback)
        self.docks = {"timeline": timeline, "distance": self.distance.plot}

    def menus(self) -> list[Menu]:
        return [playback_menu(self.session, self.binding)]

    def join(self) -> None:
        session, window, playback = self.session, self.session.window, self.session.playback
        self.cached_bars.outdated.connect(session.panels.outliner.model.set_outdated)
        playback.time_changed.connect(session.document.set_time)
        playback.seen_changed.connect(session.viewport.update)
        playback.playing_changed.connect(self._on_playing_changed)
        playback.simulated.connect(window.show_simulation)
        session.store.changed.connect(self._on_model_changed)
        session.client.drawn.connect(self._on_drawn, LATER)
        self.shown_line.changed.connect(window.show_drawn)
        session.tasks.progressed.connect(self.shown_line.refresh)

    def _on_playing_changed(self, playing: bool, _direction: int) -> None:
        self.session.window.actions_table.show_playing(playing)
        self.session.viewport.update()

    def _on_drawn(self, _drawn: FrameInfo) -> None:
        self.session.playback.report()
        runner = self.session.client.runner
        if runner is not None and runner.is_catching_up:
            self.session.viewport.update()

    def _on_model_changed(self, node_id: str) -> None:
        session, store, window = self.session, self.session.store, self.session.window
        session.refresh_actions()
        waiting = (*store.loading, *store.uploading)
        session.playback.slow_down(bool(waiting))
        first = store.status(waiting[0]) if waiting else None
        if first is not None:
            done = 1.0 if first.state is ModelState.UPLOADING else first.progress or 0.0
            window.show_progress(first.text, done)
        else:
            window.show_progress("", 1.0)
        status = store.status(node_id)
        # Progress of loading does not change the image.
        is_arriving = status is not None and status.state in (ModelState.LOADING, ModelState.UPLOADING)
        if not is_arriving or (status and status.progress == 0.0):
            session.viewport.update()


def playback_menu(session: Session, binding: TimelineBinding) -> Menu:
    playback, active, preferences = session.playback, session.active, session.preferences
    return Menu("Pla&yback", [
        Action("play.toggle", "&Play / Pause", "Play or pause.", playback.toggle, ("Space",), "play"),
        Action("play.backwards", "Play &Backwards", "Play backwards or pause.", lambda: playback.toggle(-1),
               ("Shift+Space",)),
        SEPARATOR,
        Action("play.next", "&Next Frame", "Step forward one frame.", lambda: binding.step(1), (".",)),
        Action("play.previous", "&Previous Frame", "Step back one frame.", lambda: binding.step(-1), (",",)),
        Action("play.next_key", "Next &Key", "Go to the next key.", lambda: binding.step_key(1), ("Shift+.",)),
        Action("play.previous_key", "Previous Ke&y", "Go to the previous key.", lambda: binding.step_key(-1),
               ("Shift+,",)),
        Action("play.first", "&First Frame", "Go to the start of the range.", lambda: binding.jump("first"),
               ("Ctrl+Home",)),
        Action("play.last", "&Last Frame", "Go to the end of the range.", lambda: binding.jump("last"),
               ("Ctrl+End",)),
        SEPARATOR,
        Action("play.in", "Set &In", "Start the range at the playhead.", lambda: binding.set_point("in_point"),
               ("I",)),
        Action("play.out", "Set &Out", "End the range at the playhead.", lambda: binding.set_point("out_point"),
               ("O",)),
        Action("play.clear_range", "&Clear In and Out", "Play the whole clip.", binding.clear_range, ("Alt+I",)),
        SEPARATOR,
        Action("play.whole_frames", "&Whole Frames",
               "Scrubbing, pausing and keys stay on frames; Shift inverts this while scrubbing.",
               lambda on: preferences.change("playback", whole_frames=on),
               is_on=lambda: preferences["playback"].whole_frames),
        Action("play.bind_pose", "&Bind Pose", "Show the pose the skeleton was bound in.", binding.set_bind_pose,
               ("B",), reason=session.context.no_model,
               is_on=lambda: bool(active.node and model_settings(active.node).bind_pose)),
    ])  # fmt: skip
