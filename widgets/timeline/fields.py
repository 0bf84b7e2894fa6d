from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QMenu, QWidget, QWidgetAction

from sinew.sim.scene.params import param_of
from sinew.sim.scene.playback import FRAME_MAX, PlaybackSettings
from sinew.widgets.inspector.keys import KeyButton
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE_WIDE
from sinew.widgets.timeline.ruler_scale import IN_POINT, OUT_POINT, ClipEntry, RangeLimits

END = "end"
_AUTOMATIC = "Automatic. Type a frame to set it; clear the field to return."
_SET = "Clear the field to return to automatic."
_HABITS = "Drag to change (Shift finer, Ctrl coarser), double click or type to edit"


class FieldLabel(QLabel):
    def __init__(self, text: str, field: NumberField, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setContentsMargins(SPACE_WIDE, 0, 0, 0)
        self.setToolTip(field.toolTip())
        self.setBuddy(field)


def speed_field(parent: QWidget) -> NumberField:
    """Returns the field of the speed; range, step and unit are declared in `PlaybackSettings.speed`."""
    declared = param_of(PlaybackSettings, "speed").declared
    field = NumberField(
        parent, lo=declared.lo, hi=declared.hi, step=declared.step, decimals=1, decimals_max=2,
        unit=declared.unit, default=1.0, double_click_resets=True,
    )  # fmt: skip
    field.setAccessibleName("Speed")
    field.setToolTip(
        f"Playback speed, {declared.lo:g} to {declared.hi:g}; negative plays backwards\n"
        "Drag to change (Shift finer, Ctrl coarser), double click for 1.0, Return to type"
    )
    return field


class TimeFields(QObject):
    """Number fields of times, which the row lays out.

    Signals:
        scrub_started, scrubbed(seconds), scrub_finished: Edits of frame or time.
        edit_started(name), edited(name, value), edit_finished(name), edit_cancelled(name): Edits of in and out point
            [s] and of the end [frames]; None is a cleared field.
    """

    scrub_started = Signal()
    scrubbed = Signal(float)
    scrub_finished = Signal()
    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._clip = ClipEntry("", 0, 0.0)
        self._points: dict[str, float | None] = {IN_POINT: None, OUT_POINT: None}
        self.frame = NumberField(parent, lo=0.0, hi=0.0, step=1.0, decimals=1)
        self.time = NumberField(parent, lo=0.0, hi=0.0, step=0.01, decimals=3, unit="s")
        self.ends = {
            name: NumberField(parent, lo=0.0, hi=0.0, step=1.0, decimals=0, decimals_max=2, whole=False, optional=True)
            for name in (IN_POINT, OUT_POINT)
        }
        self._end: int | None = None
        self.end = NumberField(parent, lo=0.0, hi=FRAME_MAX, step=1.0, decimals=0, optional=True)
        self.end_time = NumberField(parent, lo=0.0, hi=FRAME_MAX, step=0.1, decimals=2, unit="s", optional=True)
        self._tips: dict[NumberField, str] = {}
        self._describe()
        self.labels = {
            field: FieldLabel(text, field, parent)
            for text, field in (
                ("Frame", self.frame),
                ("Time", self.time),
                ("In", self.ends[IN_POINT]),
                ("Out", self.ends[OUT_POINT]),
                ("End", self.end),
            )
        }
        self._connect()

    @property
    def all(self) -> list[NumberField]:
        return [*self.labels, self.end_time]

    def set_clip(self, clip: ClipEntry) -> None:
        self._clip = clip
        last = float(clip.last_frame)
        self.frame.set_range(0.0, last)
        self.time.set_range(0.0, clip.duration)
        self.time.set_step(clip.frame_step)
        for field in (self.frame, *self.ends.values(), self.end):
            field.set_sample_text("0" * max(len(str(clip.last_frame)), 3) + ".0")
        self.time.set_sample_text("0" * max(len(str(int(clip.duration))), 2) + ".000")
        self.end_time.set_sample_text("0" * max(len(str(int(clip.duration))), 2) + ".00")
        self.set_points(self._points[IN_POINT], self._points[OUT_POINT])
        self.set_end(self._end)

    def set_time(self, time: float) -> None:
        self.frame.set_value(self._clip.frame_of(time))
        self.time.set_value(time)

    def set_points(self, in_point: float | None, out_point: float | None) -> None:
        """Shows in and out point [s]; None is an end of the clip."""
        self._points = {IN_POINT: in_point, OUT_POINT: out_point}
        clip, last = self._clip, float(self._clip.last_frame)
        fallbacks = {IN_POINT: clip.frame_of(clip.start), OUT_POINT: last}
        for name, field in self.ends.items():
            value = self._points[name]
            field.set_range(0.0, last)
            field.set_fallback(fallbacks[name])
            self._show(field, None if value is None else clip.frame_of(value))

    def set_end(self, end: int | None) -> None:
        """Shows the last frame of the scene; None is the automatic one."""
        self._end = end
        self.end.set_fallback(float(self._clip.last_frame))
        self._show(self.end, end)
        self.end_time.set_fallback(self._clip.duration)
        self._show(self.end_time, None if end is None else self._clip.duration)

    def _describe(self) -> None:
        for field, name, tip in (
            (self.frame, "Frame", "Frame of the playhead; fractions are between frames"),
            (self.time, "Time", "Time of the playhead in seconds"),
            (self.ends[IN_POINT], "In point", "First frame that plays (I)"),
            (self.ends[OUT_POINT], "Out point", "Last frame that plays (O)"),
            (self.end, "End", "Last frame of the scene"),
            (self.end_time, "End time", "End of the scene in seconds"),
        ):
            field.setAccessibleName(name)
            self._tips[field] = tip
            field.setToolTip(f"{tip}\n{_HABITS}")

    def _show(self, field: NumberField, value: float | None) -> None:
        """Shows a value; None is automatic."""
        field.set_value(value)
        field.setToolTip(f"{self._tips[field]}\n{_AUTOMATIC if value is None else _SET}\n{_HABITS}")

    def _connect(self) -> None:
        for field in (self.frame, self.time):
            field.edit_started.connect(self.scrub_started)
            field.edit_finished.connect(self.scrub_finished)
            field.edit_cancelled.connect(self.scrub_finished)
        self.frame.edited.connect(lambda frame: self.scrubbed.emit(self._clip.time_of(frame)))
        self.time.edited.connect(self.scrubbed.emit)
        self.end.edited.connect(lambda frame: self.edited.emit(END, None if frame is None else round(frame)))
        self.end_time.edited.connect(self._edit_end_time)
        for name, field in self.ends.items():
            field.edited.connect(lambda frame, name=name: self._edit_point(name, frame))
        for name, field in (*self.ends.items(), (END, self.end), (END, self.end_time)):
            field.edit_started.connect(lambda name=name: self.edit_started.emit(name))
            field.edit_finished.connect(lambda name=name: self.edit_finished.emit(name))
            field.edit_cancelled.connect(lambda name=name: self.edit_cancelled.emit(name))

    def _edit_end_time(self, seconds: float | None) -> None:
        self.edited.emit(END, None if seconds is None else min(round(self._clip.frame_of(seconds)), FRAME_MAX))

    def _edit_point(self, name: str, frame: float | None) -> None:
        """Emits a point in seconds, at least one frame away from the other one."""
        if frame is None:
            self.edited.emit(name, None)
            return
        clip = self._clip
        limits = RangeLimits(clip.duration, clip.frame_step)
        in_point, out_point = self._points[IN_POINT], self._points[OUT_POINT]
        if name == IN_POINT:
            end = clip.duration if out_point is None else out_point
            value = limits.in_point(clip.time_of(frame), end, snap=False)
        else:
            value = limits.out_point(clip.time_of(frame), in_point or 0.0, snap=False)
        self.edited.emit(name, value)


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    label: str
    lo: float
    hi: float
    step: float
    decimals: int = 2
    unit: str = ""
    tip: str = ""
    fallback: float | None = None  # Value of an empty field; None if it must not be empty
    special: str = ""  # Text for the lowest value
    has_keys: bool = False  # Shows a diamond beside the field


class ValuesMenu(QMenu):
    """A menu with number fields at the top.

    Signals:
        edit_started(name), edited(name, value or None), edit_finished(name), edit_cancelled(name): One gesture.
    """

    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, rows: Sequence[Value], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        box = QWidget(self)
        form = QFormLayout(box)
        form.setContentsMargins(SPACE_WIDE, SPACE_WIDE, SPACE_WIDE, SPACE_WIDE)
        self.fields: dict[str, NumberField] = {}
        self.key_buttons: dict[str, KeyButton] = {}
        for row in rows:
            field = NumberField(
                box, lo=row.lo, hi=row.hi, step=row.step, decimals=row.decimals, unit=row.unit,
                optional=row.fallback is not None, special=row.special,
            )  # fmt: skip
            field.setAccessibleName(row.label)
            field.setToolTip(row.tip)
            if row.fallback is not None:
                field.set_fallback(row.fallback)
            self.fields[row.name] = field
            if row.has_keys:
                button = self.key_buttons[row.name] = KeyButton(box)
                form.addRow(row.label, packed(QHBoxLayout(), field, button))
            else:
                form.addRow(row.label, field)
            self._connect(row.name, field)
        action = QWidgetAction(self)
        action.setDefaultWidget(box)
        self.addAction(action)

    def show_values(self, **values: float | None) -> None:
        """Shows values in the fields without emitting a signal."""
        for name, value in values.items():
            self.fields[name].set_value(value)

    def _connect(self, name: str, field: NumberField) -> None:
        field.edit_started.connect(lambda: self.edit_started.emit(name))
        field.edited.connect(lambda value: self.edited.emit(name, value))
        field.edit_finished.connect(lambda: self.edit_finished.emit(name))
        field.edit_cancelled.connect(lambda: self.edit_cancelled.emit(name))
