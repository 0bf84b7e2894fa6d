"""The ruler as a picture: frames above, seconds below, keys, range markers and playhead between them."""

import math
from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from sim.scene.playback import PlaybackSettings
from sim.scene.playhead import play_range
from widgets.timeline.clip_entry import ClipEntry
from widgets.timeline.ruler_paint import (
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
from widgets.timeline.ruler_scale import IN_POINT, OUT_POINT, RulerScale, fitted, frame_text, time_text

StripPainter = Callable[[QPainter, QRectF, RulerScale], None]

_NO_CLIP = ClipEntry("", 0, 0.0)


class RulerCanvas(QWidget):
    """Shows one clip on a time axis and repaints little: the still part is kept until the view changes.

    Signals:
        view_changed: Another part of time is shown, or another clip.
    """

    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clip = _NO_CLIP
        self.scale = fitted(0.0, 1.0)
        self._time = 0.0
        self._points: dict[str, float | None] = {IN_POINT: None, OUT_POINT: None}
        self._bind_pose = False
        self._following = False
        self._is_fitted = True
        self._empty_text = ""
        self._strip: StripPainter | None = None
        self._strip_height = 0.0
        self._dragged = ""
        self._hover: float | None = None
        self._hot = ""
        self._ground: QPixmap | None = None
        self._view: RulerView | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    # What is shown

    def set_clip(self, clip: ClipEntry | None) -> None:
        """Show a clip, whole unless it is as long as the one before; None shows the empty text."""
        old, self.clip = self.clip, clip or _NO_CLIP
        if (old.frame_count, old.duration) != (self.clip.frame_count, self.clip.duration) or self._is_fitted:
            self.fit()
        self._refresh()

    def set_time(self, time: float) -> None:
        """Move the playhead; repaints only where it was and is."""
        if time == self._time:
            return
        was_shown = self.scale.shows(self._time)
        self._update_playhead()
        self._time = time
        self._update_playhead()
        if self._following and not self.is_dragging and was_shown and not self.scale.shows(time):
            self.look_through(self.scale.turned_to(time, self.clip.duration))

    def set_points(self, in_point: float | None, out_point: float | None) -> None:
        """Set the range [s]; None is the end of the clip."""
        points = {IN_POINT: in_point, OUT_POINT: out_point}
        if points != self._points:
            self._points = points
            self._refresh()

    def set_bind_pose(self, shown: bool) -> None:
        if shown != self._bind_pose:
            self._bind_pose = shown
            self._refresh()

    def set_following(self, following: bool) -> None:
        """Whether the view turns the page when the playhead leaves it."""
        self._following = following

    def set_empty_text(self, text: str) -> None:
        """What is said where there is no clip."""
        self._empty_text = text
        self._refresh()

    def set_strip(self, paint: StripPainter | None, height: float = 0.0) -> None:
        """Reserve a strip under the ruler.

        Args:
            paint: Paints the strip into a rectangle on the given scale; None removes the strip.
            height: Height of the strip [px].
        """
        self._strip, self._strip_height = paint, height if paint is not None else 0.0
        self.updateGeometry()
        self._refresh()

    def update_strip(self) -> None:
        """Paint the strip again because its content changed."""
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
    def is_dragging(self) -> bool:
        """Whether the mouse holds something; a picture alone cannot be held."""
        return False

    @property
    def time(self) -> float:
        """Time of the playhead [s]."""
        return self._time

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

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.DevicePixelRatioChange):
            self.updateGeometry()
            self._refresh()
        return super().event(event)

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
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._empty_text)

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
        x = self.scale.x_of(self._time)
        if self.scale.shows(self._time):
            paint_line(painter, view, x, view.colours.accent)
            paint_line(painter, view, x + view.hair, view.colours.accent)
            paint_pointer(painter, view, x)
        text = frame_text(self.clip.frame_of(self._time))
        paint_bubble(painter, view, text, self._flag_rect(view), view.colours.accent, view.colours.on_accent)

    def _flag_rect(self, view: RulerView) -> QRectF:
        widest = "0" * len(str(self.clip.last_frame)) + ".0"
        return bubble_rect(view, widest, self.scale.x_of(self._time), view.bands.frames)

    def _hover_bubble(self, view: RulerView) -> tuple[str, QRectF]:
        assert self._hover is not None
        time = min(max(self.scale.time_of(self._hover), 0.0), self.clip.duration)
        text = f"{frame_text(self.clip.frame_of(time))} · {time_text(time)}"
        return text, bubble_rect(view, text, self._hover, view.bands.seconds)

    def _update_playhead(self) -> None:
        view = self._ruler_view()
        self._update_line(self.scale.x_of(self._time))
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
            settings = PlaybackSettings(in_point=self.mark_time(IN_POINT) or None, out_point=self._points[OUT_POINT])
            in_time, out_time = play_range(settings, self.clip.duration)
            self._view = RulerView(
                clip=self.clip,
                scale=self.scale,
                bands=ruler_bands(float(self.width()), float(self.height()), font, self._strip_height),
                in_time=in_time,
                out_time=out_time,
                marks={name: self.mark_time(name) for name in self._points},
                set_marks=frozenset(name for name, point in self._points.items() if point is not None),
                bind_pose=self._bind_pose,
                font=font,
                colours=ruler_colours(self.palette()),
                ratio=self.devicePixelRatioF(),
            )
        return self._view

    def mark_time(self, name: str) -> float:
        """Time [s] at which a marker stands: its point inside the clip, or the clip's end."""
        point, duration = self._points[name], self.clip.duration
        if point is None:
            return min(self.clip.start, duration) if name == IN_POINT else duration
        return min(max(point, 0.0), duration)
