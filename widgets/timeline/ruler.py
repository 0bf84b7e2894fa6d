import math
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sinew.sim.scene.playback import PlaybackSettings, play_range
from sinew.widgets.timeline.ruler_paint import (
    FLAG_WIDTH,
    RulerView,
    bubble_rect,
    paint_bubble,
    paint_ground,
    paint_line,
    paint_marker,
    paint_pointer,
    ruler_bands,
    ruler_colours,
    ruler_height,
    small_font,
)
from sinew.widgets.timeline.ruler_scale import (
    IN_POINT,
    OUT_POINT,
    ClipEntry,
    RangeLimits,
    RulerScale,
    fitted,
    frame_text,
    snapped,
    time_text,
)

StripPainter = Callable[[QPainter, QRectF, RulerScale], None]

_NO_CLIP = ClipEntry("", 0, 0.0)

_THRESHOLD = 2.0
_ZOOM_PER_NOTCH = 0.8
_WHEEL_NOTCH = 120.0
_PAN_PER_NOTCH = 60.0
_EDGE_PULL = 0.25
_GRAB = 5.0


class Scrub:
    """Drag of the playhead; snaps to frames if the ruler snaps, Shift inverts snapping."""

    def __init__(self, ruler: "Ruler") -> None:
        self._ruler, self._before = ruler, ruler.time
        ruler.scrub_started.emit()

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        clip = self._ruler.clip
        time = self._ruler.scale.time_of(x)
        if self._ruler.snaps() != bool(modifiers & Qt.KeyboardModifier.ShiftModifier):
            time = snapped(time, clip.frame_step)
        self._ruler.scrub_to(min(max(time, 0.0), clip.duration))

    def end(self, cancelled: bool) -> None:
        if cancelled:
            self._ruler.scrub_to(self._before)
        self._ruler.scrub_finished.emit()


class MarkerDrag:
    """Drag of a marker; snaps to frames, at least one from the other marker, Ctrl disables snapping."""

    def __init__(self, ruler: "Ruler", name: str, x: float) -> None:
        self._ruler, self._name, self._before = ruler, name, ruler.points[name]
        self._press = x
        self._knob = x - ruler.scale.x_of(ruler.mark_time(name))
        self._caught = self._changed = False

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
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
        if self._changed:
            if cancelled:
                self._ruler.edit_to(self._name, self._before)
            self._ruler.edit_end(self._name, cancelled)


class Pan:
    def __init__(self, ruler: "Ruler", x: float) -> None:
        self._ruler, self._press, self._before = ruler, x, ruler.scale

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:  # noqa: ARG002
        self._ruler.look_through(self._before.panned(x - self._press, self._ruler.clip.duration))

    def end(self, cancelled: bool) -> None:
        if cancelled:
            self._ruler.look_through(self._before)


class Ruler(QWidget):
    """Time axis that shows and scrubs one clip; the static part is cached until the view changes.

    Signals:
        view_changed: The visible range of time or the clip changed.
        scrub_started, scrubbed(seconds), scrub_finished: Drag of the playhead.
        edit_started(name), edited(name, value), edit_finished(name), edit_cancelled(name): Drag of the in or out point;
            before a cancel, `edited` is emitted with the old value.

    Attributes:
        snaps: Returns whether scrubbing snaps to frames.
        follows: The view pages when the playhead leaves it.
        empty_text: Shown without a clip.
        time: Time of the playhead [s].
        points: In and out point [s]; None is an end of the clip.
    """

    view_changed = Signal()
    scrub_started = Signal()
    scrubbed = Signal(float)
    scrub_finished = Signal()
    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clip = _NO_CLIP
        self.scale = fitted(0.0, 1.0)
        self.time = 0.0
        self.points: dict[str, float | None] = {IN_POINT: None, OUT_POINT: None}
        self._bind_pose = False
        self.follows = False
        self._is_fitted = True
        self.empty_text = ""
        self._strip: StripPainter | None = None
        self._strip_height = 0.0
        self._dragged = ""
        self._hover: float | None = None
        self._hot = ""
        self._ground: QPixmap | None = None
        self._view: RulerView | None = None
        self._gesture: Scrub | MarkerDrag | Pan | None = None
        self._strip_tip: Callable[[float], str] | None = None
        self.snaps: Callable[[], bool] = lambda: False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline ruler")
        self.setAccessibleDescription("Drag to scrub; Left and Right step by frames, Home and End jump.")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def set_clip(self, clip: ClipEntry | None) -> None:
        """Shows a clip; None shows the empty text, a clip of the same length keeps the zoom."""
        self._end_gesture(cancelled=True)
        old, self.clip = self.clip, clip or _NO_CLIP
        if (old.frame_count, old.duration) != (self.clip.frame_count, self.clip.duration) or self._is_fitted:
            self.fit()
        self._refresh()

    def set_time(self, time: float) -> None:
        """Moves the playhead; repaints only its old and new position."""
        if time == self.time:
            return
        was_shown = self.scale.shows(self.time)
        self._update_playhead()
        self.time = time
        self._update_playhead()
        if self.follows and self._gesture is None and was_shown and not self.scale.shows(time):
            self.look_through(self.scale.turned_to(time, self.clip.duration))

    def set_points(self, in_point: float | None, out_point: float | None) -> None:
        """Sets in and out point [s]; None is an end of the clip."""
        points = {IN_POINT: in_point, OUT_POINT: out_point}
        if points != self.points:
            self.points = points
            self._refresh()

    def set_bind_pose(self, shown: bool) -> None:
        if shown != self._bind_pose:
            self._bind_pose = shown
            self._refresh()

    def set_strip(
        self, paint: StripPainter | None, height: float = 0.0, tip: Callable[[float], str] | None = None
    ) -> None:
        """Shows a strip below the ruler, `height` in [px], `tip` returns its tip at a time [s]; None removes it."""
        self._strip, self._strip_height, self._strip_tip = paint, height, tip
        self.updateGeometry()
        self._refresh()

    def update_strip(self) -> None:
        self.update(self._ruler_view().bands.strip.toAlignedRect())

    def fit(self) -> None:
        self._is_fitted = True
        self.scale = fitted(self.clip.duration, float(self.width()))
        self._refresh()

    def look_through(self, scale: RulerScale) -> None:
        self._is_fitted = False
        self.scale = scale
        self._refresh()

    @property
    def has_clip(self) -> bool:
        return self.clip is not _NO_CLIP

    # Painting

    def sizeHint(self) -> QSize:
        return QSize(600, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, ruler_height(small_font(self.font()), self._strip_height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        width = float(self.width())
        self.scale = fitted(self.clip.duration, width) if self._is_fitted else self.scale.resized(width)
        self._refresh()
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self._ruler_view()
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self.palette().window())
            if not self.has_clip:
                self._paint_empty(painter, view)
                return
            painter.setClipRect(event.rect())
            painter.drawPixmap(0, 0, self._still(view))
            if self._strip is not None:
                painter.save()
                self._strip(painter, view.bands.strip, self.scale)
                painter.restore()
            self._paint_markers(painter, view)
            self._paint_hover(painter, view)
            self._paint_playhead(painter, view)

    def _still(self, view: RulerView) -> QPixmap:
        if self._ground is None:
            ratio = self.devicePixelRatioF()
            self._ground = QPixmap(math.ceil(self.width() * ratio), math.ceil(view.bands.bottom * ratio))
            self._ground.setDevicePixelRatio(ratio)
            with QPainter(self._ground) as painter:
                paint_ground(painter, view)
        return self._ground

    def _paint_empty(self, painter: QPainter, view: RulerView) -> None:
        painter.fillRect(self.rect(), view.colours.band)
        painter.setPen(view.colours.label)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.empty_text)

    def _paint_markers(self, painter: QPainter, view: RulerView) -> None:
        for name in (IN_POINT, OUT_POINT):
            paint_marker(painter, view, name, hot=name in (self._hot, self._dragged))
        if self._dragged:
            time = view.marks[self._dragged]
            word = "in" if self._dragged == IN_POINT else "out"
            text = f"{word} {frame_text(self.clip.frame_of(time))} · {time_text(time)}"
            rect = bubble_rect(view, text, self.scale.x_of(time), view.bands.seconds)
            paint_bubble(painter, view, text, rect, view.colours.accent, view.colours.on_accent)

    def _paint_hover(self, painter: QPainter, view: RulerView) -> None:
        if self._hover is None:
            return
        paint_line(painter, view, self._hover, view.colours.tick)
        text, rect = self._hover_bubble(view)
        paint_bubble(painter, view, text, rect, view.colours.label, view.colours.lane)

    def _paint_playhead(self, painter: QPainter, view: RulerView) -> None:
        x = self.scale.x_of(self.time)
        if self.scale.shows(self.time):
            paint_line(painter, view, x, view.colours.accent)
            paint_line(painter, view, x + view.hair, view.colours.accent)
            paint_pointer(painter, view, x)
        text = frame_text(self.clip.frame_of(self.time))
        paint_bubble(painter, view, text, self._flag_rect(view), view.colours.accent, view.colours.on_accent)

    def _flag_rect(self, view: RulerView) -> QRectF:
        widest = "0" * len(str(self.clip.last_frame)) + ".0"
        return bubble_rect(view, widest, self.scale.x_of(self.time), view.bands.frames)

    def _hover_bubble(self, view: RulerView) -> tuple[str, QRectF]:
        assert self._hover is not None
        time = min(max(self.scale.time_of(self._hover), 0.0), self.clip.duration)
        text = f"{frame_text(self.clip.frame_of(time))} · {time_text(time)}"
        return text, bubble_rect(view, text, self._hover, view.bands.seconds)

    def _update_playhead(self) -> None:
        view = self._ruler_view()
        self._update_line(self.scale.x_of(self.time))
        self.update(self._flag_rect(view).toAlignedRect().adjusted(-1, -1, 1, 1))

    def _update_hover(self) -> None:
        if self._hover is not None:
            self._update_line(self._hover)
            self.update(self._hover_bubble(self._ruler_view())[1].toAlignedRect().adjusted(-1, -1, 1, 1))

    def _update_line(self, x: float) -> None:
        self.update(QRectF(x - 6.0, 0.0, 14.0, self.height()).toAlignedRect())

    def _refresh(self) -> None:
        self._ground = self._view = None
        self.update()
        self.view_changed.emit()

    def _ruler_view(self) -> RulerView:
        if self._view is None:
            font = small_font(self.font())
            settings = PlaybackSettings(in_point=self.mark_time(IN_POINT) or None, out_point=self.points[OUT_POINT])
            in_time, out_time = play_range(settings, self.clip.duration)
            self._view = RulerView(
                clip=self.clip,
                scale=self.scale,
                bands=ruler_bands(float(self.width()), float(self.height()), font, self._strip_height),
                in_time=in_time,
                out_time=out_time,
                marks={name: self.mark_time(name) for name in self.points},
                set_marks=frozenset(name for name, point in self.points.items() if point is not None),
                bind_pose=self._bind_pose,
                font=font,
                colours=ruler_colours(self.palette()),
                ratio=self.devicePixelRatioF(),
            )
        return self._view

    def mark_time(self, name: str) -> float:
        """Returns a point clamped to the clip [s], or an end of the clip."""
        point, duration = self.points[name], self.clip.duration
        if point is None:
            return min(self.clip.start, duration) if name == IN_POINT else duration
        return min(max(point, 0.0), duration)

    def scrub_to(self, time: float) -> None:
        if time != self.time:
            self.set_time(time)
            self.scrubbed.emit(time)

    def edit_begin(self, name: str) -> None:
        self._dragged = name
        self.edit_started.emit(name)

    def edit_to(self, name: str, value: float | None) -> None:
        self.points = {**self.points, name: value}
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
        elif self.points[marker] is not None:
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
        if kind in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.DevicePixelRatioChange):
            self.updateGeometry()
            self._refresh()
        elif kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
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
        """Scrolls the view when the mouse is dragged beyond it."""
        beyond = min(x, 0.0) + max(x - self.width(), 0.0)
        if beyond and not self._is_fitted and not isinstance(self._gesture, Pan):
            self.look_through(self.scale.panned(-beyond * _EDGE_PULL, self.clip.duration))

    def _end_gesture(self, cancelled: bool) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.end(cancelled)

    def _marker_at(self, position: QPointF) -> str:
        """Returns the marker whose line or flag is at a position, or ""."""
        view = self._ruler_view()
        if not view.bands.lane.top() <= position.y() <= view.bands.bottom:
            return ""
        from_in = position.x() - self.scale.x_of(view.marks[IN_POINT])
        from_out = position.x() - self.scale.x_of(view.marks[OUT_POINT])
        on_in = -FLAG_WIDTH - 1.0 <= from_in <= _GRAB
        on_out = -_GRAB <= from_out <= FLAG_WIDTH + 1.0
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
