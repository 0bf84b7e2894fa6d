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
from tests.gui.panels.fakes import LEFT, FakeTarget, mouse, ref, wheel

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
    qtbot.waitUntil(lambda: row(inspector, COLOUR).editor.view.width() > 200)
    return inspector


def row(inspector, wanted) -> SettingRow:
    return next(item for item in inspector.tree.all_items() if isinstance(item, SettingRow) and item.ref == wanted)


@pytest.fixture
def gradient(inspector):
    return row(inspector, COLOUR).editor


@pytest.fixture
def opacity(inspector):
    return row(inspector, OPACITY).editor


def value(target, wanted):
    return getattr(target.scene.node("e").settings, wanted.name)


def drag(view, index, right, down=0.0, *, release=True):
    """Drags a stop by pixels."""
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


# --- the gradient -------------------------------------------------------------------------------------


def test_what_is_seen_is_srgb_of_light_mixed_as_light(qapp):
    image = strip_image(((0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.5)))
    middle = image.pixelColor(image.width() // 2, 0)
    assert middle.red() == pytest.approx(188, abs=1)  # half the light, not half the code
    assert middle.blue() == pytest.approx(round(255 * float(srgb_from_linear(0.25))), abs=1)
    assert image.pixelColor(0, 0) == QColor("#000000")
    assert seen_colour((0.3, 1.0, 0.2158605, 0.0)).name() == "#ff8000"


def test_a_drag_of_a_stop_is_one_entry_and_live(gradient, target):
    drag(gradient.view, 1, 40.0)
    assert len(target.calls) > 3
    assert len(target.history) == 1
    share = value(target, COLOUR)[1][0]
    assert share == pytest.approx(0.5 + 40.0 / gradient.view.length, abs=0.01)
    assert gradient.share.value() == share
    assert [stop[1:] for stop in value(target, COLOUR)] == [stop[1:] for stop in STOPS]


def test_undo_restores_stops_and_picture(gradient, target):
    place = gradient.view.place_of(1)
    drag(gradient.view, 1, 40.0)
    assert gradient.view.place_of(1) != place
    target.undo()
    assert value(target, COLOUR) == STOPS
    assert gradient.view.place_of(1) == place
    assert gradient.share.value() == 0.5


def test_escape_takes_a_drag_back(gradient, target):
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


def test_stops_never_pass_each_other_in_a_drag(gradient, target):
    drag(gradient.view, 1, 500.0)
    assert value(target, COLOUR)[1][0] == 1.0
    drag(gradient.view, 0, -300.0)
    assert value(target, COLOUR)[0][0] == 0.0


def test_a_double_click_adds_a_stop_of_the_colour_that_is_there(gradient, target):
    left, right = gradient.view.place_of(0), gradient.view.place_of(1)
    double_click(gradient.view, (left.x() + right.x()) / 2, left.y() - 6)
    stops = value(target, COLOUR)
    assert len(stops) == 4
    assert stops[1] == pytest.approx((0.25, 0.5, 0.5, 0.0), abs=0.02)
    assert gradient.selected == 1
    assert len(target.history) == 1


def test_delete_removes_the_chosen_stop_but_never_the_last(gradient, target):
    gradient.view.setFocus()
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


def test_the_menu_of_a_stop_removes_it(gradient, target):
    gradient.select(2)
    actions = {action.text(): action for action in gradient.menu().actions()}
    assert list(actions) == ["Colour…", "Remove stop"]
    actions["Remove stop"].trigger()
    assert value(target, COLOUR) == STOPS[:2]


def test_arrows_move_the_chosen_stop_and_choose_another(gradient, target):
    gradient.view.setFocus()
    QTest.keyClick(gradient.view, Qt.Key.Key_Down)
    assert gradient.selected == 1
    QTest.keyClick(gradient.view, Qt.Key.Key_Right)
    QTest.keyClick(gradient.view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert value(target, COLOUR)[1][0] == pytest.approx(0.509)
    assert len(target.history) == 2
    QTest.keyClick(gradient.view, Qt.Key.Key_Up)
    assert gradient.selected == 0
    assert len(target.history) == 2


def test_a_share_is_typed_exactly(gradient, target):
    gradient.select(1)
    gradient.share.setFocus()
    gradient.share.begin_edit()
    QTest.keyClicks(gradient.share, "0.123456")
    QTest.keyClick(gradient.share, Qt.Key.Key_Return)
    assert value(target, COLOUR)[1][0] == 0.123456
    assert len(target.history) == 1


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


def test_choosing_another_stop_closes_the_colour_of_the_one_before(gradient, target):
    gradient.select(1)
    gradient.open_value()
    gradient.colour.dialog.setCurrentColor(QColor("#ff0000"))
    gradient.select(2)
    assert gradient.colour.dialog is None
    assert value(target, COLOUR) == (STOPS[0], (0.5, 1.0, 0.0, 0.0), STOPS[2])
    assert len(target.history) == 1


def test_there_is_an_end_to_stops(gradient, target):
    target.set_value(COLOUR, tuple((index / STOP_MAX, 0.1, 0.2, 0.3) for index in range(STOP_MAX)))
    count = len(target.history)
    assert not gradient.add_button.isEnabled()
    gradient.view.setFocus()
    QTest.keyClick(gradient.view, Qt.Key.Key_Insert)
    assert len(value(target, COLOUR)) == STOP_MAX
    assert len(target.history) == count


def test_news_while_a_stop_is_dragged_disturb_nothing(gradient, target):
    drag(gradient.view, 1, 40.0, release=False)
    held = gradient.stops
    target.set_value(COLOUR, STOPS[:2])
    assert gradient.stops == held
    mouse(gradient.view, QEvent.Type.MouseButtonRelease, 5, 5, LEFT, NONE)
    assert gradient.stops == STOPS[:2]


def test_a_chosen_stop_that_is_gone_gives_way_to_the_last(gradient, target):
    gradient.select(2)
    target.set_value(COLOUR, STOPS[:1])
    assert gradient.selected == 0
    assert gradient.share.value() == 0.0


# --- curves -------------------------------------------------------------------------------------------


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


def test_a_drag_stays_within_the_plot(opacity, target):
    drag(opacity.view, 0, 0.0, -400.0)
    assert value(target, OPACITY)[0] == (0.0, 1.0)
    drag(opacity.view, 0, 0.0, 400.0)
    assert value(target, OPACITY)[0] == (0.0, 0.0)


def test_a_double_click_adds_a_point_under_the_mouse(opacity, target):
    high, low = opacity.view.place_of(0), opacity.view.place_of(2)
    x, y = (high.x() + low.x()) / 2, (high.y() + low.y()) / 2
    double_click(opacity.view, x, y)
    assert value(target, OPACITY)[1] == pytest.approx((0.5, 0.5), abs=0.02)
    assert opacity.selected == 1


def test_arrows_move_a_point_by_hundredths_of_the_plot(inspector, target):
    editor = row(inspector, SIZE).editor
    editor.view.setFocus()
    QTest.keyClick(editor.view, Qt.Key.Key_Up)
    QTest.keyClick(editor.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert value(target, SIZE)[0] == (0.0, pytest.approx(1.0 + 0.02 - 0.2))
    assert len(target.history) == 2


def test_a_typed_value_beyond_the_plot_makes_it_higher(inspector, target):
    editor = row(inspector, SIZE).editor
    assert editor.plot.top == 2.0
    editor.open_value()
    QTest.keyClicks(editor.value, "3.75")
    QTest.keyClick(editor.value, Qt.Key.Key_Return)
    assert value(target, SIZE)[0] == (0.0, 3.75)
    assert editor.plot.top == 5.0
    target.undo()
    assert editor.plot.top == 2.0


@pytest.mark.parametrize(
    ("highest", "top"), [(1.0, 1.0), (2.5, 5.0), (5.0, 5.0), (7.0, 10.0), (20.0, 20.0), (21.0, 50.0)]
)
def test_the_top_of_a_plot_is_a_plain_number(highest, top):
    assert nice_above(highest) == pytest.approx(top)


def test_places_tell_about_themselves(opacity, gradient):
    assert opacity.view.text_at(opacity.view.place_of(1)) == "0.8 at 0.7 of the life"
    assert gradient.view.text_at(gradient.view.place_of(2)) == "1 of the life: #0000FF"
    assert "birth to death" in opacity.view.text_at(opacity.view.rect().topLeft().toPointF())


# --- both ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [COLOUR, OPACITY])
def test_the_label_stands_above_the_picture_and_is_marked(inspector, target, wanted):
    item = row(inspector, wanted)
    target.set_value(wanted, item.record.default)
    assert item.title.text() == item.record.label
    assert not item.title.font().bold()
    target.set_value(wanted, item.record.default[:1])
    assert item.title.font().bold()
    item.reset_button.click()
    assert value(target, wanted) == item.record.default
    assert not item.title.font().bold()


@pytest.mark.parametrize("wanted", [COLOUR, OPACITY])
def test_pictures_are_reached_by_tab_and_leave_the_wheel_to_the_panel(inspector, target, wanted):
    view = row(inspector, wanted).editor.view
    assert view.focusPolicy() & Qt.FocusPolicy.TabFocus
    inspector.resize(320, 260)
    bar = inspector.tree.verticalScrollBar()
    view.setFocus()
    bar.setValue(0)
    inspector.tree.scrollToItem(row(inspector, wanted))
    before = bar.value()
    wheel(view, 1)
    assert bar.value() < before
    assert target.calls == []


@pytest.mark.parametrize("wanted", [COLOUR, OPACITY])
def test_a_right_click_beside_the_stops_is_for_the_row(inspector, wanted):
    view = row(inspector, wanted).editor.view
    assert view.index_at(QPoint(view.width() // 4, 3).toPointF()) is None


def shapes(editor):
    return {action.text(): action for action in editor.shape_button.menu().actions() if not action.isSeparator()}


def test_a_curve_takes_an_easing_from_its_first_stop_to_its_last_as_one_edit(opacity, target):
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


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_curve_takes_a_preset_that_is_as_high_as_it_was(opacity, target, name):
    target.set_value(OPACITY, ((0.0, 0.0), (0.5, 0.5), (1.0, 0.2)))
    opacity.select(2)
    shapes(opacity)[name].trigger()
    stops = value(target, OPACITY)
    assert [share for share, _ in stops] == [share for share, _ in PRESETS[name]]
    assert max(height for _, height in stops) == 0.5
    assert opacity.selected < len(stops)
    target.set_value(OPACITY, ((0.0, 0.0),))
    shapes(opacity)[name].trigger()
    assert max(height for _, height in value(target, OPACITY)) == 1.0, "nothing but zeros says no height"


@pytest.mark.parametrize("width", [320, 640])
def test_sliders_are_as_wide_as_they_can_be(inspector, qtbot, width):
    inspector.resize(width, 700)
    for index in range(inspector.tree.topLevelItemCount()):
        inspector.tree.topLevelItem(index).setExpanded(True)
    rows = [item for item in inspector.tree.all_items() if isinstance(item, SettingRow) and not item.isHidden()]
    sliders = [item.editor for item in rows if getattr(item.editor, "slider", None) is not None]
    shown = [editor for editor in sliders if editor.isVisible()]
    assert len(shown) > 3
    for editor in shown:
        qtbot.waitUntil(lambda editor=editor: editor.width() > 0)
        assert editor.slider.width() + editor.field.width() + editor.layout().spacing() == editor.width()
        assert editor.field.width() <= editor.field.sizeHint().width()
