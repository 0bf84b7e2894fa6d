"""The ruler under the mouse: scrubbing, range markers, zoom and pan.  A gesture lives from press to release."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QHideEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.timeline.clip_entry import ClipEntry
from widgets.timeline.ruler_canvas import RulerCanvas
from widgets.timeline.ruler_paint import FLAG_WIDTH
from widgets.timeline.ruler_scale import IN_POINT, OUT_POINT, RangeLimits, snapped

_THRESHOLD = 2.0
_ZOOM_PER_NOTCH = 0.8
_WHEEL_NOTCH = 120.0
_PAN_PER_NOTCH = 60.0
_EDGE_PULL = 0.25
_GRIP = 5.0


class Scrub:
    """The playhead follows the mouse, on whole frames where the ruler snaps; Shift does the other."""

    def __init__(self, ruler: "Ruler") -> None:
        self._ruler, self._before = ruler, ruler.time
        ruler.scrub_started.emit()

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        """Put the playhead under the mouse, within the clip."""
        clip = self._ruler.clip
        time = self._ruler.scale.time_of(x)
        if self._ruler.snaps != bool(modifiers & Qt.KeyboardModifier.ShiftModifier):
            time = snapped(time, clip.frame_step)
        self._ruler.scrub_to(min(max(time, 0.0), clip.duration))

    def end(self, cancelled: bool) -> None:
        """Let the playhead go where it is, or where it was."""
        if cancelled:
            self._ruler.scrub_to(self._before)
        self._ruler.scrub_finished.emit()


class MarkerDrag:
    """An in or out marker follows the mouse on whole frames, at least one away from the other; Control frees it."""

    def __init__(self, ruler: "Ruler", name: str, x: float) -> None:
        self._ruler, self._name, self._before = ruler, name, ruler.point(name)
        self._press = x
        self._knob = x - ruler.scale.x_of(ruler.mark_time(name))
        self._caught = self._changed = False

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        """Move the marker, once the mouse has moved far enough."""
        self._caught = self._caught or abs(x - self._press) >= _THRESHOLD
        if not self._caught:
            return
        snap = not modifiers & Qt.KeyboardModifier.ControlModifier
        value = self._resting(self._ruler.scale.time_of(x - self._knob), snap)
        if value == self._ruler.mark_time(self._name):
            return
        if not self._changed:
            self._changed = True
            self._ruler.edit_begin(self._name)
        self._ruler.edit_to(self._name, value)

    def _resting(self, time: float, snap: bool) -> float:
        limits = RangeLimits(self._ruler.clip.duration, self._ruler.clip.frame_step)
        if self._name == IN_POINT:
            return limits.in_point(time, self._ruler.mark_time(OUT_POINT), snap)
        return limits.out_point(time, self._ruler.mark_time(IN_POINT), snap)

    def end(self, cancelled: bool) -> None:
        """Keep the marker where it is, or put it back."""
        if self._changed:
            if cancelled:
                self._ruler.edit_to(self._name, self._before)
            self._ruler.edit_end(self._name, cancelled)


class Pan:
    """The view follows the mouse."""

    def __init__(self, ruler: "Ruler", x: float) -> None:
        self._ruler, self._press, self._before = ruler, x, ruler.scale

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:  # noqa: ARG002
        self._ruler.look_through(self._before.panned(x - self._press, self._ruler.clip.duration))

    def end(self, cancelled: bool) -> None:
        if cancelled:
            self._ruler.look_through(self._before)


class Ruler(RulerCanvas):
    """A ruler that can be worked with; everything the user does leaves as a signal.

    Signals:
        scrub_started, scrubbed(seconds), scrub_finished: The playhead is taken, moved, let go.
        edit_started(name), edited(name, value), edit_finished(name), edit_cancelled(name): An in or out
            point; a cancelled edit has sent the old value by a last `edited`.

    Attributes:
        snaps: Whether scrubbing stays on whole frames.
    """

    scrub_started = Signal()
    scrubbed = Signal(float)
    scrub_finished = Signal()
    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gesture: Scrub | MarkerDrag | Pan | None = None
        self.snaps = False
        self._strip_tip: Callable[[float], str] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline ruler")
        self.setAccessibleDescription("Drag to scrub; Left and Right step by frames, Home and End jump.")

    def set_clip(self, clip: ClipEntry | None) -> None:
        self._end_gesture(cancelled=True)
        super().set_clip(clip)

    def set_strip_tip(self, tip: Callable[[float], str] | None) -> None:
        """What is said about the strip at a time [s]; None where there is no strip."""
        self._strip_tip = tip

    @property
    def is_dragging(self) -> bool:
        return self._gesture is not None

    # What gestures use

    def scrub_to(self, time: float) -> None:
        """Put the playhead somewhere [s]."""
        if time != self._time:
            self.set_time(time)
            self.scrubbed.emit(time)

    def point(self, name: str) -> float | None:
        return self._points[name]

    def edit_begin(self, name: str) -> None:
        self._dragged = name
        self.edit_started.emit(name)

    def edit_to(self, name: str, value: float | None) -> None:
        self._points = {**self._points, name: value}
        self._refresh()
        self.edited.emit(name, value)

    def edit_end(self, name: str, cancelled: bool) -> None:
        self._dragged = ""
        self.update()
        (self.edit_cancelled if cancelled else self.edit_finished).emit(name)

    # Mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._gesture is not None or not self.has_clip:
            return
        x = event.position().x()
        if event.button() == Qt.MouseButton.MiddleButton:
            self._gesture = Pan(self, x)
        elif event.button() == Qt.MouseButton.LeftButton:
            marker = self._marker_at(event.position())
            self._gesture = MarkerDrag(self, marker, x) if marker else Scrub(self)
            self._gesture.move(x, event.modifiers())
        self._set_hover(None, self._hot)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._gesture is not None:
            self._follow_over_edge(event.position().x())
            self._gesture.move(event.position().x(), event.modifiers())
        elif self.has_clip:
            marker = self._marker_at(event.position())
            self._set_hover(None if marker else event.position().x(), marker)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not event.buttons() & (Qt.MouseButton.LeftButton | Qt.MouseButton.MiddleButton):
            self._end_gesture(cancelled=False)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self.has_clip:
            return
        marker = self._marker_at(event.position())
        if not marker:
            self.fit()
        elif self._points[marker] is not None:
            self.edit_begin(marker)
            self.edit_to(marker, None)
            self.edit_end(marker, cancelled=False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        if not self.has_clip:
            return
        along, across = event.angleDelta().x() / _WHEEL_NOTCH, event.angleDelta().y() / _WHEEL_NOTCH
        duration = self.clip.duration
        if along or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.look_through(self.scale.panned((along or across) * _PAN_PER_NOTCH, duration))
        elif across:
            factor = _ZOOM_PER_NOTCH**across
            self.look_through(self.scale.zoomed(event.position().x(), factor, duration, self.clip.frame_step))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._gesture is not None:
            self._end_gesture(cancelled=True)
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self._gesture is not None and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        elif kind == QEvent.Type.Leave:
            self._set_hover(None, "")
        elif kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tip(event)
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._end_gesture(cancelled=False)
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._end_gesture(cancelled=False)
        super().hideEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        place = QPointF(event.pos())
        inside = self.has_clip and self._ruler_view().bands.strip.contains(place)
        text = self._strip_tip(self.scale.time_of(place.x())) if self._strip_tip is not None and inside else ""
        QToolTip.showText(event.globalPos(), text, self)

    def _follow_over_edge(self, x: float) -> None:
        """Pull a closer view along when the mouse drags something out of it."""
        beyond = min(x, 0.0) + max(x - self.width(), 0.0)
        if beyond and not self._is_fitted and not isinstance(self._gesture, Pan):
            self.look_through(self.scale.panned(-beyond * _EDGE_PULL, self.clip.duration))

    def _end_gesture(self, cancelled: bool) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.end(cancelled)

    def _marker_at(self, position: QPointF) -> str:
        """The marker whose line or flag is under the mouse, or ""."""
        view = self._ruler_view()
        if not view.bands.lane.top() <= position.y() <= view.bands.bottom:
            return ""
        from_in = position.x() - self.scale.x_of(view.marks[IN_POINT])
        from_out = position.x() - self.scale.x_of(view.marks[OUT_POINT])
        on_in = -FLAG_WIDTH - 1.0 <= from_in <= _GRIP
        on_out = -_GRIP <= from_out <= FLAG_WIDTH + 1.0
        if on_in and on_out:
            return IN_POINT if abs(from_in) <= abs(from_out) else OUT_POINT
        return IN_POINT if on_in else OUT_POINT if on_out else ""

    def _set_hover(self, x: float | None, marker: str) -> None:
        if marker != self._hot:
            self._hot = marker
            self.setCursor(Qt.CursorShape.SizeHorCursor if marker else Qt.CursorShape.ArrowCursor)
            self.update()
        if x != self._hover:
            self._update_hover()
            self._hover = x
            self._update_hover()
