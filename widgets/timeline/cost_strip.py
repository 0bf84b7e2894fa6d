"""The strip under the ruler: what each frame of the animation costs, over the loops that were measured."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPalette

from sim.profile.by_frame import FrameCosts
from sim.profile.sample import TimeSource
from widgets.timeline.ruler_look import label_height, small_font
from widgets.timeline.ruler_scale import RulerScale
from widgets.timeline.strip_picture import StripLook, strip_image
from widgets.timeline.timeline import Timeline
from widgets.timings.scale import TARGETS
from widgets.timings.texts import milliseconds

HEIGHT_MIN = 34.0
_LISTED = 6
"""Passes in the tooltip."""
_SHORT = {TimeSource.TIMER: "GPU timer", TimeSource.CLOCK: "wall clock"}
_EMPTY_TEXT = "What each frame costs appears here while the clip plays."


class CostStrip:
    """Paints into the strip of a timeline; the still picture is kept until costs or view change.

    Args:
        timeline: Whose strip it is.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._costs: FrameCosts | None = None
        self._source = TimeSource.CLOCK
        self._image = QImage()
        self._painted: object = None

    @property
    def is_shown(self) -> bool:
        """Whether the timeline has room for it."""
        return self._costs is not None

    def show_costs(self, costs: FrameCosts, source: TimeSource) -> None:
        """Shows other costs, none at first.

        Args:
            costs: What the frames of the timeline's clip cost.
            source: Where the times come from.
        """
        was_shown = self.is_shown
        self._costs, self._source, self._painted = costs, source, None
        if not was_shown:
            self._timeline.set_strip(self._paint, self._height())
            self._timeline.ruler.set_strip_tip(self.tip_at)
        self._timeline.update_strip()

    def hide(self) -> None:
        """Gives the room back."""
        if self.is_shown:
            self._costs = self._painted = None
            self._timeline.set_strip(None)
            self._timeline.ruler.set_strip_tip(None)

    def tip_at(self, seconds: float) -> str:
        """What the frame at a time of the clip costs, in words."""
        costs, step = self._costs, self._timeline.ruler.clip.frame_step
        if costs is None:
            return ""
        index = costs.bin_at(seconds / step)
        if index is None:
            return _EMPTY_TEXT if not len(costs.frames) else "This frame was not measured yet."
        shares = {path: float(band[index]) for path, band in costs.bands.items() if band[index] > 0.0}
        dearest = sorted(shares, key=lambda path: -shares[path])[:_LISTED]
        last = costs.frames[index] + 0.5 * (costs.stride - 1)
        frames = f"Frame {last:.0f}" if costs.stride == 1 else f"Frames {last - costs.stride + 1:.0f} to {last:.0f}"
        pictures = int(costs.pictures[index])
        return "\n".join(
            [
                f"{frames}: median {milliseconds(costs.median[index])} ms, worst {milliseconds(costs.worst[index])} ms"
                f" of {pictures:,} picture{'s' if pictures != 1 else ''}",
                *(f"{path}: {milliseconds(shares[path])} ms" for path in dearest),
                f"GPU times by {self._source.value}; the dashed line is {TARGETS[0][1]}.",
            ]
        )

    def _height(self) -> float:
        return max(HEIGHT_MIN, 2.0 * label_height(small_font(self._timeline.font())))

    def _paint(self, painter: QPainter, area: QRectF, scale: RulerScale) -> None:
        costs, ruler = self._costs, self._timeline.ruler
        if costs is None:
            return
        palette, ratio, size = ruler.palette(), ruler.devicePixelRatioF(), (area.width(), area.height())
        shown = (scale, size, ratio, palette.cacheKey(), ruler.clip)
        if shown != self._painted:
            self._painted = shown
            self._image = strip_image(
                StripLook(
                    costs=costs,
                    frame_step=ruler.clip.frame_step,
                    scale=scale,
                    size=size,
                    ratio=ratio,
                    palette=palette,
                    font=small_font(ruler.font()),
                    source=_SHORT[self._source],
                )
            )
        painter.drawImage(area.topLeft(), self._image)
        if not len(costs.frames):
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            painter.setFont(small_font(ruler.font()))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, _EMPTY_TEXT)
