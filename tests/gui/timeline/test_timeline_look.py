from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

from sinew.sim.scene.playback import PlaybackSettings
from sinew.widgets.theme import DARK, LIGHT, palette_of


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
