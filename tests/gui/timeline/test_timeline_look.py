from PySide6.QtCore import QEvent, QObject
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


def test_the_part_outside_the_range_is_dimmed_and_labels_contrast(timeline):
    for scheme in (LIGHT, DARK):
        timeline.setPalette(palette_of(scheme))
        image = timeline.ruler.grab().toImage()
        light = [QColor(image.pixelColor(x, y)).lightnessF() for x in range(300, 900) for y in range(14)]
        assert max(light) - min(light) > 0.4
    timeline.set_playback(PlaybackSettings(in_point=0.4))
    image = timeline.ruler.grab().toImage()
    y = round(timeline.ruler._ruler_view().bands.lane.bottom()) - 3
    inside = image.pixelColor(round(timeline.ruler.scale.x_of(0.717)), y)
    outside = image.pixelColor(round(timeline.ruler.scale.x_of(0.217)), y)
    assert inside.blue() > outside.blue() + 10


def test_nothing_is_clipped_with_larger_fonts(timeline):
    plain = timeline.font()
    for factor in (1.0, 1.5, 2.0):
        font = QFont(plain)
        font.setPointSizeF(plain.pointSizeF() * factor)
        timeline.setFont(font)
        timeline.resize(round(1280 * factor), timeline.minimumSizeHint().height())
        QApplication.processEvents()
        for field in (timeline.speed_field, *timeline.fields.all):
            if field.isVisible():
                assert field.width() >= QFontMetricsF(field.font()).horizontalAdvance(field.text()) + 8
                assert field.height() >= QFontMetricsF(field.font()).height()
        assert timeline.ruler._ruler_view().bands.bottom <= timeline.ruler.height() + 1


def test_it_fits_into_1280_pixels_and_hides_parts_below(timeline):
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
