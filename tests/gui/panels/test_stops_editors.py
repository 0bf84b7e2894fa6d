import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtTest import QTest

from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.maths.srgb import srgb_from_linear
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.vectors import STOP_MAX, values_at
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import SettingRow
from sinew.widgets.inspector.inspector import Inspector
from sinew.widgets.inspector.stops import PRESETS
from sinew.widgets.inspector.stops_editor import seen_colour, strip_image
from sinew.widgets.number_text import nice_above
from tests.gui.panels.fakes import LEFT, FakeTarget, mouse, ref, send_wheel

COLOUR = ref("e", "emitter", "colour_over_life")
OPACITY = ref("e", "emitter", "opacity_over_life")
SIZE = ref("e", "emitter", "size_over_life")
STOPS = ((0.0, 1.0, 0.0, 0.0), (0.5, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 1.0))
NONE = Qt.MouseButton.NoButton


@pytest.fixture
def target(qapp):
    return FakeTarget(Scene(nodes=(Node(id="e", name="fire", settings=EmitterSettings(colour_over_life=STOPS)),)))


@pytest.fixture
def inspector(target, statuses, show, qtbot):
    inspector = show(Inspector(target, statuses.get), 320, 700)
    inspector.set_selection(Selection(node="e"))
    for index in range(inspector.tree.topLevelItemCount() - 1):
        inspector.tree.topLevelItem(index).setExpanded(False)
    qtbot.waitUntil(lambda: row(inspector, COLOUR).editor.view.width() > 200, timeout=60000)
    return inspector


def row(inspector, wanted) -> SettingRow:
    return next(item for item in inspector.tree.settings() if item.ref == wanted)


@pytest.fixture
def gradient(inspector):
    return row(inspector, COLOUR).editor


@pytest.fixture
def opacity(inspector):
    return row(inspector, OPACITY).editor


def value(target, wanted):
    return getattr(target.scene.node("e").settings, wanted.name)


def drag(view, index, right, down=0.0, *, release=True):
    start = view.place_of(index)
    x, y = start.x() + 1.0, start.y() + 2.0
    mouse(view, QEvent.Type.MouseButtonPress, x, y)
    for step in range(1, 6):
        mouse(view, QEvent.Type.MouseMove, x + right * step / 5, y + down * step / 5, NONE)
    if release:
        mouse(view, QEvent.Type.MouseButtonRelease, x + right, y + down, LEFT, NONE)


def double_click(view, x, y):
    mouse(view, QEvent.Type.MouseButtonDblClick, x, y)
    mouse(view, QEvent.Type.MouseButtonRelease, x, y, LEFT, NONE)


def test_colours_are_mixed_in_linear_light_and_shown_in_srgb(qapp):
    image = strip_image(((0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.5)))
    middle = image.pixelColor(image.width() // 2, 0)
    assert middle.red() == pytest.approx(188, abs=1)  # half the light, not half the code
    assert middle.blue() == pytest.approx(round(255 * float(srgb_from_linear(0.25))), abs=1)
    assert image.pixelColor(0, 0) == QColor("#000000")
    assert seen_colour((0.3, 1.0, 0.2158605, 0.0)).name() == "#ff8000"


def test_a_drag_of_a_stop_is_one_entry_that_undo_restores(gradient, target):
    place = gradient.view.place_of(1)
    drag(gradient.view, 1, 40.0)
    assert len(target.calls) > 3
    assert len(target.history) == 1
    share = value(target, COLOUR)[1][0]
    assert share == pytest.approx(0.5 + 40.0 / gradient.view.length, abs=0.01)
    assert gradient.share.value() == share
    assert [stop[1:] for stop in value(target, COLOUR)] == [stop[1:] for stop in STOPS]
    target.undo()
    assert value(target, COLOUR) == STOPS
    assert gradient.view.place_of(1) == place
    assert gradient.share.value() == 0.5
    drag(gradient.view, 1, 500.0)
    assert value(target, COLOUR)[1][0] == 1.0, "stops do not pass each other"
    drag(gradient.view, 0, -300.0)
    assert value(target, COLOUR)[0][0] == 0.0


def test_escape_cancels_a_drag(gradient, target):
    gradient.view.setFocus()
    drag(gradient.view, 1, 60.0, release=False)
    assert value(target, COLOUR) != STOPS
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    gradient.view.event(override)
    assert override.isAccepted()
    QTest.keyClick(gradient.view, Qt.Key.Key_Escape)
    assert value(target, COLOUR) == STOPS
    assert target.history == []
    mouse(gradient.view, QEvent.Type.MouseMove, 30, 20, NONE)
    mouse(gradient.view, QEvent.Type.MouseButtonRelease, 30, 20, LEFT, NONE)
    assert value(target, COLOUR) == STOPS
    assert gradient.stops == STOPS


def test_a_double_click_adds_a_stop_of_the_interpolated_colour(gradient, target):
    left, right = gradient.view.place_of(0), gradient.view.place_of(1)
    double_click(gradient.view, (left.x() + right.x()) / 2, left.y() - 6)
    stops = value(target, COLOUR)
    assert len(stops) == 4
    assert stops[1] == pytest.approx((0.25, 0.5, 0.5, 0.0), abs=0.02)
    assert gradient.selected == 1
    assert len(target.history) == 1


def test_the_key_and_the_menu_remove_any_stop_but_the_last(gradient, target):
    gradient.view.setFocus()
    QTest.keyClick(gradient.view, Qt.Key.Key_Insert)
    assert len(value(target, COLOUR)) == 4
    target.undo()
    gradient.select(0)
    QTest.keyClick(gradient.view, Qt.Key.Key_PageDown)
    QTest.keyClick(gradient.view, Qt.Key.Key_Delete)
    assert value(target, COLOUR) == (STOPS[0], STOPS[2])
    QTest.keyClick(gradient.view, Qt.Key.Key_Delete)
    QTest.keyClick(gradient.view, Qt.Key.Key_Delete)
    assert len(value(target, COLOUR)) == 1
    assert not gradient.remove_button.isEnabled()
    assert len(target.history) == 2
    target.undo()
    target.undo()
    assert gradient.stops == STOPS
    assert len(gradient.view.stops) == 3
    gradient.select(2)
    actions = {action.text(): action for action in gradient.menu().actions()}
    assert list(actions) == ["Colour…", "Remove stop"]
    actions["Remove stop"].trigger()
    assert value(target, COLOUR) == STOPS[:2]


def test_a_stop_is_moved_by_arrows_and_by_typing(gradient, target):
    gradient.view.setFocus()
    QTest.keyClick(gradient.view, Qt.Key.Key_Down)
    assert gradient.selected == 1
    QTest.keyClick(gradient.view, Qt.Key.Key_Right)
    QTest.keyClick(gradient.view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert value(target, COLOUR)[1][0] == pytest.approx(0.509)
    gradient.share.setFocus()
    gradient.share.begin_edit()
    QTest.keyClicks(gradient.share, "0.123456")
    QTest.keyClick(gradient.share, Qt.Key.Key_Return)
    assert value(target, COLOUR)[1][0] == 0.123456
    assert len(target.history) == 3
    gradient.view.setFocus()
    QTest.keyClick(gradient.view, Qt.Key.Key_Up)
    assert gradient.selected == 0
    assert len(target.history) == 3


def test_the_colour_of_a_stop_is_one_gesture_in_linear_light(gradient, target):
    gradient.select(1)
    gradient.open_value()
    for code in ("#102030", "#ff8000"):
        gradient.colour.dialog.setCurrentColor(QColor(code))
    assert value(target, COLOUR)[1] == pytest.approx((0.5, 1.0, 0.21586, 0.0), abs=1e-4)
    assert gradient.colour.button.colour.name() == "#ff8000"
    assert len(target.history) == 1
    gradient.colour.dialog.reject()
    assert target.history == []
    assert gradient.stops == STOPS
    assert gradient.colour.button.colour.name() == "#00ff00"
    gradient.open_value()
    gradient.colour.dialog.setCurrentColor(QColor("#ff0000"))
    gradient.select(2)
    assert gradient.colour.dialog is None
    assert value(target, COLOUR) == (STOPS[0], (0.5, 1.0, 0.0, 0.0), STOPS[2])
    assert len(target.history) == 1


def test_a_change_during_a_drag_is_shown_after_it(gradient, target):
    drag(gradient.view, 1, 40.0, release=False)
    held = gradient.stops
    target.set_value(COLOUR, STOPS[:2])
    assert gradient.stops == held
    mouse(gradient.view, QEvent.Type.MouseButtonRelease, 5, 5, LEFT, NONE)
    assert gradient.stops == STOPS[:2]
    target.set_value(COLOUR, STOPS[:1])
    assert gradient.selected == 0, "the selected stop was removed"
    assert gradient.share.value() == 0.0


def test_a_point_is_dragged_in_both_directions_as_one_entry(opacity, target):
    before = value(target, OPACITY)[1]
    drag(opacity.view, 1, -30.0, 20.0)
    share, level = value(target, OPACITY)[1]
    assert share < before[0]
    assert level < before[1]
    assert len(target.history) == 1
    assert (opacity.share.value(), opacity.value.value()) == (share, level)
    target.undo()
    assert opacity.stops == EmitterSettings().opacity_over_life
    assert opacity.value.value() == before[1]
    for down, level in ((-400.0, 1.0), (400.0, 0.0)):
        drag(opacity.view, 0, 0.0, down)
        assert value(target, OPACITY)[0] == (0.0, level), "it stays in the plot"


def test_arrows_move_a_point_and_a_typed_value_makes_the_plot_higher(inspector, target):
    editor = row(inspector, SIZE).editor
    editor.view.setFocus()
    QTest.keyClick(editor.view, Qt.Key.Key_Up)
    QTest.keyClick(editor.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert value(target, SIZE)[0] == (0.0, pytest.approx(1.0 + 0.02 - 0.2))
    assert len(target.history) == 2
    assert editor.plot.top == 2.0
    editor.open_value()
    QTest.keyClicks(editor.value, "3.75")
    QTest.keyClick(editor.value, Qt.Key.Key_Return)
    assert value(target, SIZE)[0] == (0.0, 3.75)
    assert editor.plot.top == 5.0
    target.undo()
    assert editor.plot.top == 2.0
    for highest, top in ((1.0, 1.0), (2.5, 5.0), (5.0, 5.0), (7.0, 10.0), (20.0, 20.0), (21.0, 50.0)):
        assert nice_above(highest) == pytest.approx(top)


def test_labels_are_marked_and_tips_show_values(inspector, target, gradient, opacity):
    assert opacity.view.text_at(opacity.view.place_of(1)) == "0.8 at 0.7 of the life"
    assert gradient.view.text_at(gradient.view.place_of(2)) == "1 of the life: #0000FF"
    assert "birth to death" in opacity.view.text_at(opacity.view.rect().topLeft().toPointF())
    for wanted in (COLOUR, OPACITY):
        item = row(inspector, wanted)
        stops = item.editor.stops
        send_wheel(item.editor.view, item.editor.view.place_of(0), 1)
        assert item.editor.stops == stops, "the wheel is for the panel"
        assert item.editor.view.index_at(QPoint(item.editor.view.width() // 4, 3).toPointF()) is None
        target.set_value(wanted, item.record.default)
        assert item.title.text() == item.record.label
        assert not item.title.font().bold()
        target.set_value(wanted, item.record.default[:1])
        assert item.title.font().bold()
        item.reset_button.click()
        assert value(target, wanted) == item.record.default
        assert not item.title.font().bold()


def shapes(editor):
    return {action.text(): action for action in editor.shape_button.menu().actions() if not action.isSeparator()}


def test_an_easing_is_one_edit_that_keeps_the_ends(opacity, target):
    before = value(target, OPACITY)
    target.set_value(OPACITY, ((0.1, 0.25), (0.6, 0.9), (0.9, 0.75)))
    count = len(target.history)
    for name, middle in (("Smooth", 0.5), ("Ease in", 0.375), ("Ease out", 0.625), ("Step", 0.75), ("Linear", 0.5)):
        shapes(opacity)[name].trigger()
        stops = value(target, OPACITY)
        assert (stops[0], stops[-1]) == ((0.1, 0.25), (0.9, 0.75)), "the ends stay"
        assert values_at(stops, [0.5])[0][0] == pytest.approx(middle, abs=1e-4), name
        assert len(stops) <= STOP_MAX
        count += 1
        assert len(target.history) == count
    shapes(opacity)["Linear"].trigger()
    assert len(target.history) == count, "what changes nothing is no edit"
    for _ in range(count):
        target.undo()
    assert value(target, OPACITY) == before


def test_a_preset_keeps_the_height_of_the_curve(opacity, target):
    for name, preset in PRESETS.items():
        target.set_value(OPACITY, ((0.0, 0.0), (0.5, 0.5), (1.0, 0.2)))
        opacity.select(2)
        shapes(opacity)[name].trigger()
        stops = value(target, OPACITY)
        assert [share for share, _ in stops] == [share for share, _ in preset]
        assert max(height for _, height in stops) == 0.5
        assert opacity.selected < len(stops)
        target.set_value(OPACITY, ((0.0, 0.0),))
        shapes(opacity)[name].trigger()
        assert max(height for _, height in value(target, OPACITY)) == 1.0, "a curve of zeros has no height"
