"""The timeline; setters never emit, every signal is an action of the user."""

import itertools
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sinew.sim.scene.playback import PlaybackSettings
from sinew.widgets.icons import icon
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE
from sinew.widgets.timeline.controls import (
    ClipChooser,
    ControlRow,
    LoopButton,
    Transport,
    TransportButton,
)
from sinew.widgets.timeline.curve_view import CurveView
from sinew.widgets.timeline.fields import END, TimeFields, speed_field
from sinew.widgets.timeline.key_sheet import KeySheet
from sinew.widgets.timeline.ruler import Ruler
from sinew.widgets.timeline.ruler_scale import IN_POINT, OUT_POINT, ClipEntry
from sinew.widgets.timeline.tracks import Tracks

_EMPTY_TEXT = "No animation. Open or drop a model that has one, and its frames appear here."
_BIND_POSE_TIP = "Show the pose the skeleton was bound in, ignoring the clip"
_SCENE_TIP = "Scene: first and last frame, frame rate and pre-roll"
_AUTO_KEY_TIP = "Auto keying: every edit of a setting that can have keys sets a key at the playhead"
_CURVES_TIP = "Curves of the setting that is chosen in the dope sheet"
_LOOP, _SPEED = "loop", "speed"


class Timeline(QWidget):
    """Panel that selects, plays and scrubs a clip.

    Signals:
        scrub_started, scrubbed(seconds), scrub_finished: Drag of the playhead, or a typed time.
        play_toggled(direction): A play button, 1 or -1; pauses if it plays in this direction.
        edit_started(name), edited(name, value), edit_finished(name), edit_cancelled(name): A gesture on a field of
            `PlaybackSettings`. Every start is followed by exactly one finish or cancel; before a cancel, `edited` is
            emitted with the old value.
    """

    scrub_started = Signal()
    scrubbed = Signal(float)
    scrub_finished = Signal()
    play_toggled = Signal(int)
    step_requested = Signal(int)
    key_requested = Signal(int)
    jump_requested = Signal(str)
    clip_chosen = Signal(str)
    bind_pose_toggled = Signal(bool)
    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Timeline")
        self._clips: dict[str, ClipEntry] = {}
        self._scene: ClipEntry | None = None
        self._simulating, self._current = False, ""
        self._row = ControlRow(self)
        self.clip_chooser = ClipChooser(self._row)
        self.bind_pose_button = TransportButton("Bind pose", _BIND_POSE_TIP, icon("mdi6.human-handsdown"), self._row)
        self.bind_pose_button.setCheckable(True)
        self.transport = Transport(self._row)
        self.loop_button = LoopButton(self._row)
        self.speed_field = speed_field(self._row)
        self.fields = TimeFields(self._row)
        self.ruler = Ruler(self)
        self.ruler.empty_text = _EMPTY_TEXT
        self.tracks = Tracks(self)
        self.sheet = KeySheet(self)
        self.curves = CurveView(self.sheet, self)
        self.auto_key_button = TransportButton("Auto Key", _AUTO_KEY_TIP, icon("mdi6.record-circle-outline"), self._row)
        self.curves_button = TransportButton("Curves", _CURVES_TIP, icon("mdi6.chart-bell-curve-cumulative"), self._row)
        for button in (self.auto_key_button, self.curves_button):
            button.setCheckable(True)
        self.scene_button = TransportButton("Scene", _SCENE_TIP, icon("mdi6.timeline-clock-outline"), self._row)
        row, fields = self._row, self.fields
        row.add(self.clip_chooser, self.bind_pose_button)
        row.add_stretch(5)
        row.add(self.transport)
        row.add_gap()
        row.add(self.loop_button, self.speed_field, self.auto_key_button, self.curves_button)
        row.add_stretch(3)
        for field in fields.all:
            row.add(*([fields.labels[field]] if field in fields.labels else ()), field)
        row.add(self.scene_button)
        ends, end = list(fields.ends.values()), fields.labels[fields.end]
        labels = [label for label in fields.labels.values() if label is not end]
        row.set_expendable(
            [[*labels, fields.end_time], ends, [fields.time], [self.bind_pose_button], [self.speed_field], [end]]
        )
        parts = row, self.ruler, (self.tracks, 1), (self.sheet, 2), (self.curves, 3)
        packed(QVBoxLayout(self), *parts, spacing=SPACE, margins=SPACE)
        order = [self.clip_chooser, self.bind_pose_button, *self.transport.buttons, self.loop_button]
        order += [self.speed_field, self.auto_key_button, self.curves_button, *fields.all, self.scene_button]
        order += [self.ruler, self.tracks, self.sheet, self.curves]
        for before, after in itertools.pairwise(order):
            QWidget.setTabOrder(before, after)
        self._connect()
        self.set_clips((), "")

    def set_scene(self, scene: ClipEntry) -> None:
        """Shows scene time on the ruler instead of a clip."""
        self._scene = scene
        for widget in self._numbers:
            widget.setEnabled(True)
        self._enable_transport()
        self._show_on_ruler(scene)

    def set_clips(self, clips: Sequence[ClipEntry], current: str) -> None:
        """Sets clips of unique names; without a scene the ruler shows the `current` one, else the first."""
        self._clips = {clip.name: clip for clip in clips}
        self.clip_chooser.set_clips(clips, current)
        self.bind_pose_button.setEnabled(bool(clips))
        for widget in self._numbers:
            widget.setEnabled(bool(clips) or self._scene is not None)
        self._enable_transport()
        self.set_current_clip(current)

    def set_simulating(self, simulating: bool) -> None:
        """Enables play, step and reset without a clip if there is a simulation."""
        self._simulating = simulating
        self._enable_transport()

    def set_current_clip(self, name: str) -> None:
        clip = self._clips.get(name) or next(iter(self._clips.values()), None)
        self.clip_chooser.set_current(clip.name if clip else "")
        self._current = clip.name if clip else ""
        if self._scene is None:
            self._show_on_ruler(clip)

    def set_time(self, seconds: float) -> None:
        self.ruler.set_time(seconds)
        for below in (self.tracks, self.sheet, self.curves):
            below.set_time(seconds)
        self.fields.set_time(seconds)

    def set_playing(self, playing: bool, direction: int = 1) -> None:
        """Shows the state of playback; `direction` is 1 or -1."""
        self.transport.set_playing(playing, direction)
        self.ruler.follows = playing

    def set_playback(self, playback: PlaybackSettings) -> None:
        self.loop_button.set_mode(playback.loop)
        self.speed_field.set_value(playback.speed)
        self.fields.set_points(playback.in_point, playback.out_point)
        self.fields.set_end(playback.end)
        self.ruler.set_points(playback.in_point, playback.out_point)

    def set_bind_pose(self, shown: bool) -> None:
        self.bind_pose_button.setChecked(shown)
        self.ruler.set_bind_pose(shown)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
        match event.key():
            case _ if not self._takes(event):
                event.ignore()
            case Qt.Key.Key_Home:
                self.jump_requested.emit("first")
            case Qt.Key.Key_End:
                self.jump_requested.emit("last")
            case key:
                direction = 1 if key == Qt.Key.Key_Right else -1
                (self.key_requested if shift else self.step_requested).emit(direction)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._takes(event):
            event.accept()
            return True
        return super().event(event)

    def _takes(self, event: QKeyEvent) -> bool:
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        arrows = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        ends = event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End)
        allowed = (Qt.KeyboardModifier.NoModifier, *((Qt.KeyboardModifier.ShiftModifier,) if arrows else ()))
        forwards = event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Home)
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        takes = bool(self._clips) or self._scene is not None or (self._simulating and forwards and not shifted)
        return takes and (arrows or ends) and plain in allowed

    def _enable_transport(self) -> None:
        has_time = bool(self._clips) or self._scene is not None
        self.transport.enable(clip=has_time, simulation=self._simulating)

    @property
    def _numbers(self) -> list[QWidget]:
        return [self.loop_button, self.speed_field, *self.fields.all, *self.fields.labels.values()]

    def _show_on_ruler(self, clip: ClipEntry | None) -> None:
        self.ruler.set_clip(clip)
        self.fields.set_clip(clip or ClipEntry("", 0, 0.0))
        self.fields.set_time(self.ruler.time)

    def sizeHint(self) -> QSize:
        return QSize(self._row.sizeHint().width() + 2 * SPACE, super().sizeHint().height())

    def _connect(self) -> None:
        self.clip_chooser.clip_chosen.connect(self._choose_clip)
        self.bind_pose_button.clicked.connect(self.bind_pose_toggled)
        self.ruler.view_changed.connect(self._show_scale)
        self.curves_button.toggled.connect(self._show_curves)
        self.sheet.row_changed.connect(self._show_curves)
        self.transport.play_toggled.connect(self.play_toggled)
        self.transport.step_requested.connect(self.step_requested)
        self.transport.key_requested.connect(self.key_requested)
        self.transport.jump_requested.connect(self.jump_requested)
        self.loop_button.chosen.connect(lambda mode: self._edit_once(_LOOP, mode))
        self.speed_field.edit_started.connect(lambda: self.edit_started.emit(_SPEED))
        self.speed_field.edited.connect(lambda value: self.edited.emit(_SPEED, value))
        self.speed_field.edit_finished.connect(lambda: self.edit_finished.emit(_SPEED))
        self.speed_field.edit_cancelled.connect(lambda: self.edit_cancelled.emit(_SPEED))
        for source in (self.ruler, self.fields):
            source.scrub_started.connect(self.scrub_started)
            source.scrubbed.connect(self._scrub)
            source.scrub_finished.connect(self.scrub_finished)
            source.edit_started.connect(self.edit_started)
            source.edited.connect(self._edit_point)
            source.edit_finished.connect(self.edit_finished)
            source.edit_cancelled.connect(self.edit_cancelled)

    def _show_scale(self) -> None:
        for below in (self.tracks, self.sheet, self.curves):
            below.set_scale(self.ruler.scale, self.ruler.clip.frame_step)

    def _show_curves(self, *_: object) -> None:
        self.curves.setVisible(self.curves_button.isChecked() and bool(self.sheet.rows))

    def _choose_clip(self, name: str) -> None:
        if name in self._clips and name != self._current:
            self.set_current_clip(name)
            self.clip_chosen.emit(name)

    def _scrub(self, time: float) -> None:
        self.set_time(time)
        self.scrubbed.emit(time)

    def _edit_point(self, name: str, value: float | None) -> None:
        if name == END:
            self.edited.emit(name, value)
            return
        points = {**self.ruler.points, name: value}
        self.ruler.set_points(points[IN_POINT], points[OUT_POINT])
        self.fields.set_points(points[IN_POINT], points[OUT_POINT])
        self.edited.emit(name, value)

    def _edit_once(self, name: str, value: object) -> None:
        self.edit_started.emit(name)
        self.edited.emit(name, value)
        self.edit_finished.emit(name)
