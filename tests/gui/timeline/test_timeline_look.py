import pytest
from PySide6.QtCore import QEvent, QObject, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication, QScrollArea

from sinew.sim.scene.playback import PlaybackSettings
from sinew.widgets.theme import DARK, LIGHT, palette_of


class PaintedArea(QObject):
    """Sums the area of every paint event of a widget."""

    def __init__(self, widget):
        super().__init__(widget)
        self.pixels = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.pixels += sum(rect.width() * rect.height() for rect in event.region())
        return False


def test_a_moving_playhead_repaints_a_small_part(timeline, qtbot):
    QApplication.processEvents()
    area = PaintedArea(timeline.ruler)
    timeline.set_time(0.5)
    qtbot.waitUntil(lambda: area.pixels > 0)
    assert area.pixels < 0.15 * timeline.ruler.width() * timeline.ruler.height()


def test_the_playhead_is_drawn_where_its_time_is(timeline):
    timeline.set_time(0.5)
    image = timeline.ruler.grab().toImage()
    accent = timeline.palette().highlight().color()
    middle = timeline.ruler.height() // 2
    columns = [x for x in range(image.width()) if image.pixelColor(x, middle) == accent]
    assert columns
    assert abs(columns[0] - timeline.ruler.scale.x_of(0.5)) <= 1.5


def test_what_does_not_play_is_dimmed(timeline):
    timeline.setPalette(palette_of(DARK))
    timeline.set_playback(PlaybackSettings(in_point=0.4))
    image = timeline.ruler.grab().toImage()
    y = round(timeline.ruler._ruler_view().bands.lane.bottom()) - 3
    inside = image.pixelColor(round(timeline.ruler.scale.x_of(0.717)), y)
    outside = image.pixelColor(round(timeline.ruler.scale.x_of(0.217)), y)
    assert inside.blue() > outside.blue() + 10


@pytest.mark.parametrize("scheme", [DARK, LIGHT])
def test_labels_contrast_with_their_ground(timeline, scheme):
    timeline.setPalette(palette_of(scheme))
    image = timeline.ruler.grab().toImage()
    light = [QColor(image.pixelColor(x, y)).lightnessF() for x in range(300, 900) for y in range(14)]
    assert max(light) - min(light) > 0.4


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0])
def test_nothing_is_clipped_with_larger_fonts(timeline, factor):
    font = QFont(timeline.font())
    font.setPointSizeF(font.pointSizeF() * factor)
    timeline.setFont(font)
    timeline.resize(round(1280 * factor), timeline.minimumSizeHint().height())
    QApplication.processEvents()
    for field in (timeline.speed_field, *timeline.fields.all):
        if field.isVisible():
            assert field.width() >= QFontMetricsF(field.font()).horizontalAdvance(field.text()) + 8
            assert field.height() >= QFontMetricsF(field.font()).height()
    bands = timeline.ruler._ruler_view().bands
    assert bands.bottom <= timeline.ruler.height() + 1


def test_it_fits_into_1280_pixels_and_gives_up_parts_below(timeline):
    assert timeline.sizeHint().width() <= 1280
    assert timeline.minimumSizeHint().height() <= 132
    timeline.resize(timeline.minimumSizeHint().width(), 118)
    QApplication.processEvents()
    right = max(
        widget.mapTo(timeline, widget.rect().topRight()).x()
        for widget in (timeline.transport, timeline.loop_button, timeline.fields.frame)
    )
    assert right <= timeline.width()
    assert timeline.fields.frame.isVisible()
    assert not timeline.fields.ends["in_point"].isVisible()
    timeline.resize(1280, 118)
    QApplication.processEvents()
    assert timeline.fields.ends["in_point"].isVisible()
    assert not timeline.findChildren(QScrollArea)


def test_a_strip_gets_the_scale_of_the_ruler_and_its_room(timeline):
    calls = []
    before = timeline.minimumSizeHint().height()
    timeline.ruler.set_strip(lambda painter, rect, scale: calls.append((QRectF(rect), scale)), 24.0)
    timeline.resize(1280, 140)
    timeline.ruler.grab()
    assert timeline.minimumSizeHint().height() == before + 24
    rect, scale = calls[-1]
    assert rect.height() == 24.0
    assert rect.bottom() <= timeline.ruler.height()
    assert scale == timeline.ruler.scale
    timeline.ruler.set_strip(None)
    assert timeline.minimumSizeHint().height() == before
