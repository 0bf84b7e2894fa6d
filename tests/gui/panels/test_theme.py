import dataclasses

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPalette, QRegion
from PySide6.QtWidgets import QWidget

from sinew.widgets import theme
from sinew.widgets.icons import GLYPHS, GlyphLabel, glyph, icon
from sinew.widgets.overlay import StopMark
from sinew.widgets.theme import DARK, LIGHT, Theme, ThemeMode


@pytest.fixture
def restored_app(qapp):
    palette, sheet, style = qapp.palette(), qapp.styleSheet(), qapp.style().name()
    yield qapp
    qapp.setStyleSheet(sheet)
    qapp.setStyle(style)
    qapp.setPalette(palette)


def luminance(colour):
    def linear(part):
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    tint = QColor(colour)
    return 0.2126 * linear(tint.redF()) + 0.7152 * linear(tint.greenF()) + 0.0722 * linear(tint.blueF())


def contrast(first, second):
    """Contrast ratio of WCAG 2."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_texts_contrast_with_neutral_surfaces():
    for scheme in (DARK, LIGHT):
        for text in ("text", "dim", "accent_text", "warning", "error", "axis_x", "axis_y", "axis_z"):
            for ground in ("window", "base"):
                assert contrast(getattr(scheme, text), getattr(scheme, ground)) >= 4.5, (text, ground)
        assert contrast(scheme.on_accent, scheme.accent) >= 4.5
        for name in ("window", "base", "alternate", "button", "line", "text", "dim", "disabled"):
            assert QColor(getattr(scheme, name)).saturation() == 0, name
        for field in dataclasses.fields(scheme):
            assert QColor(getattr(scheme, field.name)).name() == getattr(scheme, field.name), "as Qt reads it"


def test_a_change_of_mode_reaches_every_widget_and_is_signalled_once(restored_app, qtbot):
    look = Theme(restored_app, ThemeMode.DARK)
    assert theme.is_dark()
    assert theme.colours() == DARK
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    with qtbot.waitSignal(look.changed, timeout=60000):
        look.set_mode(ThemeMode.LIGHT)
    assert theme.colours() == LIGHT
    qtbot.waitUntil(lambda: widget.palette().color(QPalette.ColorRole.Window).name() == LIGHT.window, timeout=60000)
    with qtbot.assertNotEmitted(look.changed):
        look.set_mode(ThemeMode.LIGHT)
    look.set_mode(ThemeMode.AUTO)
    system_is_light = restored_app.styleHints().colorScheme() == Qt.ColorScheme.Light
    assert theme.is_dark() is not system_is_light


def painted(picture: QIcon, mode=QIcon.Mode.Normal):
    return most_opaque(picture.pixmap(QSize(32, 32), 1.0, mode).toImage())


def most_opaque(image):
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return max(pixels, key=lambda pixel: pixel.alpha())


def test_icons_follow_the_theme_and_the_state(restored_app):
    look = Theme(restored_app, ThemeMode.DARK)
    picture = icon("stop")
    assert painted(picture).name() == DARK.text
    look.set_mode(ThemeMode.LIGHT)
    assert painted(picture).name() == LIGHT.text
    assert painted(picture, QIcon.Mode.Disabled).name() == LIGHT.disabled
    assert painted(picture, QIcon.Mode.Selected).name() == LIGHT.on_accent
    warning = icon("stop", "warning")
    assert painted(warning).name() == LIGHT.warning
    look.set_mode(ThemeMode.DARK)
    assert painted(warning).name() == DARK.warning


def test_every_icon_exists_and_an_unknown_one_is_refused(qapp):
    for name in GLYPHS:
        assert len(glyph(name)) == 1
    with pytest.raises(KeyError, match="'no-such-icon'"):
        icon("no-such-icon")


def test_icons_contrast_with_selected_rows_and_marks(restored_app, qtbot):
    for mode in (ThemeMode.DARK, ThemeMode.LIGHT):
        Theme(restored_app, mode)
        for tint in ("", "dim", "error", "warning"):
            image = icon("error", tint).pixmap(QSize(32, 32), QIcon.Mode.Selected).toImage()
            assert contrast(most_opaque(image), theme.colours().accent) >= 4.5
        mark = StopMark()
        qtbot.addWidget(mark)
        picture = mark.findChild(GlyphLabel)
        image = QImage(picture.size(), QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        picture.render(image, QPoint(), QRegion(), QWidget.RenderFlag(0))
        assert contrast(most_opaque(image), DARK.base) >= 4.5
