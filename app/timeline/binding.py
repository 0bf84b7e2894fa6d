"""Joins the timeline with the playhead and the document; the widget itself knows neither."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.document.document import Document
from app.document.history import Gesture
from app.files.model_store import ModelStore
from app.files.settings_store import app_settings
from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback, SimulationState
from app.timeline.scene_menu import SceneMenu
from sim.scene.clock import FrameRate
from sim.scene.params import param_of
from sim.scene.playback import PlaybackSettings
from sim.scene.playhead import play_range, stepped_frame, stepped_key
from sim.scene.scene import PLAYBACK, ParamRef
from widgets.timeline.clip_entry import ClipEntry, scene_entry
from widgets.timeline.ruler_scale import snapped
from widgets.timeline.timeline import Timeline

SLOW_PACE = 0.95
_SNAPPING = "scrub_on_frames"


class TimelineBinding(QObject):
    """Shows scene time, the active model's clips and the playhead, and turns what the user does into edits."""

    def __init__(
        self, timeline: Timeline, document: Document, playback: Playback, store: ModelStore, active: ActiveModel
    ) -> None:
        super().__init__(timeline)
        self._timeline, self._document, self._playback, self._active = timeline, document, playback, active
        timeline.ruler.snaps = app_settings().value(_SNAPPING, False, type=bool)
        self._gestures: dict[str, Gesture] = {}
        self._shown: object = None
        self._scene: ClipEntry | None = None
        self._simulates = False
        self.scene_menu = SceneMenu(timeline, document, active)
        document.changed.connect(self._refresh_clips)
        document.selection_changed.connect(self._refresh_clips)
        store.changed.connect(self._refresh_clips)
        playback.time_changed.connect(timeline.set_time)
        playback.playing_changed.connect(timeline.set_playing)
        playback.simulated.connect(self._show_simulation)
        self._connect_transport()
        self._connect_edits()
        self._refresh_clips()
        timeline.set_playback(document.scene.playback)

    def show_rate(self, rate: FrameRate) -> None:
        """Says whether playback keeps real time; nothing while paused."""
        if not self._playback.playhead.playing or rate.per_second <= 0.0:
            self._timeline.set_realtime("")
        elif self._playback.pace < SLOW_PACE:
            self._timeline.set_realtime(
                f"{self._playback.pace:.0%} of real time: the {self._playback.slowed_by} takes longer", warn=True
            )
        elif rate.slow:
            self._timeline.set_realtime(
                f"real time, {rate.per_second:.0f} pictures/s, {rate.dropped} dropped", warn=True
            )
        else:
            self._timeline.set_realtime(f"real time, {rate.per_second:.0f} pictures/s")

    # --- from the model side --------------------------------------------------------------------------

    def _refresh_clips(self, *_: object) -> None:
        node, model, clip = self._active.node, self._active.model, self._active.clip
        settings = node.settings if node else None
        self._refresh_scene()
        shown = (id(model), self._simulates, settings and settings.clip, settings and settings.bind_pose)
        if shown == self._shown:
            return
        self._shown = shown
        clips = model.clips if model else ()
        entries = [ClipEntry(c.name, len(c.frame_times), c.duration, c.key_times) for c in clips]
        named = settings.clip if settings and settings.clip else (clips[0].name if clips else "")
        self._timeline.set_simulating(self._simulates)
        self._timeline.set_clips(entries, clip.name if clip else named)
        self._timeline.set_bind_pose(bool(settings and settings.bind_pose))

    def _refresh_scene(self) -> None:
        """The ruler shows scene time, whatever there is in the scene."""
        settings = self._document.scene.playback
        self._timeline.set_playback(settings)
        keys = self._active.key_times
        scene = scene_entry(settings.start_time, self._active.shown_duration, settings.rate, keys)
        if scene != self._scene:
            self._scene = scene
            self._timeline.set_scene(scene)
        self._playback.fit()
        self._timeline.set_time(self._playback.playhead.time)

    def _show_simulation(self, state: SimulationState) -> None:
        """What is simulated can be played too."""
        if state.active != self._simulates:
            self._simulates = state.active
            self._refresh_clips()

    # --- from the user --------------------------------------------------------------------------------

    def _connect_transport(self) -> None:
        timeline, playback = self._timeline, self._playback
        timeline.scrub_started.connect(lambda: playback.hold(True))
        timeline.scrub_finished.connect(lambda: playback.hold(False))
        timeline.scrubbed.connect(playback.scrub)
        timeline.play_toggled.connect(playback.toggle)
        timeline.step_requested.connect(self.step)
        timeline.key_requested.connect(self.step_key)
        timeline.jump_requested.connect(self.jump)
        timeline.clip_chosen.connect(self._choose_clip)
        timeline.bind_pose_toggled.connect(self.set_bind_pose)

    def _connect_edits(self) -> None:
        for source in (self._timeline, self.scene_menu.menu):
            source.edit_started.connect(self._start)
            source.edited.connect(self._edit)
            source.edit_finished.connect(lambda name: self._end(name, self._document.end_gesture))
            source.edit_cancelled.connect(lambda name: self._end(name, self._document.cancel_gesture))

    def step(self, frames: int) -> None:
        """Pauses some frames further; what is simulated goes along."""
        playback = self._playback
        playback.visit_next(
            stepped_frame(playback.playhead, frames, self._active.frame_step, playback.duration or self._scene_end)
        )

    @property
    def _scene_end(self) -> float:
        return self._scene.duration if self._scene is not None else 0.0

    def step_key(self, count: int) -> None:
        self._playback.visit(stepped_key(self._playback.playhead, count, self._active.key_times))

    def jump(self, end: str) -> None:
        """Moves the playhead to the "first" or "last" moment of the range."""
        start, stop = play_range(self._document.scene.playback, self._playback.duration)
        self._playback.scrub(start if end == "first" else stop)

    def set_point(self, name: str) -> None:
        """Puts `in_point` or `out_point` at the frame of the playhead; the other one goes where they would cross."""
        settings, end = self._document.scene.playback, self._playback.duration or self._scene_end
        time = snapped(self._playback.playhead.time, self._active.frame_step)
        time = min(max(time, settings.start_time), end or time)
        values: dict[ParamRef, float | None] = {ParamRef(PLAYBACK, PLAYBACK, name): time}
        if name == "in_point" and settings.out_point is not None and settings.out_point <= time:
            values[ParamRef(PLAYBACK, PLAYBACK, "out_point")] = None
        if name == "out_point" and settings.in_point is not None and settings.in_point >= time:
            values[ParamRef(PLAYBACK, PLAYBACK, "in_point")] = None
        self._document.set_values(values)

    def clear_range(self) -> None:
        self._document.set_values({ParamRef(PLAYBACK, PLAYBACK, name): None for name in ("in_point", "out_point")})

    @property
    def snaps(self) -> bool:
        return self._timeline.ruler.snaps

    def set_snapping(self, on: bool) -> None:
        """Scrubs from frame to frame, or between them too; remembered."""
        app_settings().setValue(_SNAPPING, on)
        self._timeline.ruler.snaps = on

    def set_bind_pose(self, on: bool) -> None:
        """Shows the bind pose of the active model, or its clip."""
        node = self._active.node
        if node is not None:
            self._document.set_value(ParamRef(node.id, node.kind, "bind_pose"), on)

    def _choose_clip(self, name: str) -> None:
        """It is played over and over, in place of all strips; another clip has another length, so the range goes."""
        node = self._active.node
        if node is None:
            return
        values = {ParamRef(node.id, node.kind, "clip"): name, ParamRef(node.id, node.kind, "bind_pose"): False}
        values |= {ParamRef(node.id, node.kind, "strips"): ()} if node.settings.strips else {}
        values |= {ParamRef(PLAYBACK, PLAYBACK, point): None for point in ("in_point", "out_point")}
        self._document.set_values(values)

    def _start(self, name: str) -> None:
        self._gestures[name] = self._document.new_gesture()

    def _edit(self, name: str, value: object) -> None:
        if isinstance(value, float) and param_of(PlaybackSettings, name).type is int:
            value = round(value)
        self._document.set_value(ParamRef(PLAYBACK, PLAYBACK, name), value, self._gestures.get(name))

    def _end(self, name: str, end: Callable[[Gesture], None]) -> None:
        if (gesture := self._gestures.pop(name, None)) is not None:
            end(gesture)
