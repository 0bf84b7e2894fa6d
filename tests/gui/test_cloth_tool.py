import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.sim.kinds.cloth.settings import PinPreset
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.scene import ParamRef
from tests.gui.editor_harness import NodeStage, add_cloth, picture, place_of, settled

COLUMNS = ROWS = 12
LOWER_LEFT = COLUMNS * (ROWS - 1)
MIDDLE = COLUMNS * (ROWS // 2) + COLUMNS // 2
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Stage(NodeStage):
    def __init__(self, editor):
        super().__init__(editor, add_cloth(editor, COLUMNS))
        self.frame()

    @property
    def cloth(self):
        return self.system.cloth

    @property
    def marks(self):
        return self.editor.kind_panels["cloth"].tool.marks

    @property
    def steps(self):
        return self.editor.stepper.step_count

    def positions(self):
        with self.editor.viewport.gl_current():
            return self.cloth.positions().astype(np.float64)

    def pixel(self, particle):
        return place_of(self.editor, self.positions()[particle])

    def hover(self, particle):
        self.mouse.hover(self.pixel(particle))
        self.editor.kind_panels["cloth"].tool.look()

    def trigger(self, action_id):
        self.editor.window.actions_table[action_id].trigger()


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


@pytest.fixture
def armed(editor):
    return Stage(editor)


def test_the_particle_under_the_mouse_is_marked(stage, qtbot):
    hints = []
    stage.editor.tools.hint.connect(hints.append)
    bare = picture(stage.editor)
    stage.mouse.hover(stage.pixel(MIDDLE))
    qtbot.waitUntil(lambda: stage.marks.hovered is not None, timeout=60000)
    assert stage.marks.hovered == ParticleRef(stage.node, MIDDLE)
    assert f"Particle {MIDDLE}" in hints[-1]
    changed = np.argwhere((picture(stage.editor) != bare).any(axis=2)).mean(axis=0)
    middle = stage.pixel(MIDDLE)
    assert np.allclose(changed, (middle.y(), middle.x()), atol=2.0)
    stage.editor.viewport.left.emit()
    assert stage.marks.hovered is None
    np.testing.assert_array_equal(picture(stage.editor), bare)


def test_a_particle_of_a_node_that_was_removed_is_not_marked(stage):
    gone = ParticleRef(stage.node, MIDDLE)
    stage.editor.document.remove_node(stage.node)
    settled(stage.editor)
    stage.marks.hover(gone)  # as from an image that was drawn before
    stage.marks.choose({stage.node: (MIDDLE,)})
    assert stage.marks.hovered is None
    assert stage.marks.chosen == {}


def test_a_collider_in_front_hides_the_particles_behind_it(stage):
    stage.hover(MIDDLE)
    assert stage.marks.hovered is not None
    stage.editor.edits.add("sphere")
    sphere = stage.document.selection.node
    place = stage.positions()[MIDDLE] + 0.6 * stage.document.view_state.camera.rotation()[2]
    stage.document.set_value(ParamRef(sphere, "transform", "position"), tuple(map(float, place)))
    settled(stage.editor)
    stage.hover(MIDDLE)
    assert stage.marks.hovered is None


@pytest.mark.slow
def test_a_pulled_particle_follows_the_mouse_until_release(stage):
    stage.playback.toggle()
    start = stage.pixel(LOWER_LEFT)
    target = start + QPointF(-40.0, -60.0)
    stage.mouse.press(start)
    stage.mouse.move(start + QPointF(-10.0, -10.0))
    stage.mouse.move(target)
    stage.run(30)
    assert (stage.pixel(LOWER_LEFT) - target).manhattanLength() < 1.0
    assert not stage.cloth.stopped
    stage.mouse.release(target)
    assert stage.editor.stepper.grab is None
    stage.run(30)
    assert (stage.pixel(LOWER_LEFT) - target).manhattanLength() > 20.0
    assert stage.document.undo_stack.count() == 0


def test_pulling_while_paused_simulates_until_release_or_escape(stage):
    start = stage.pixel(LOWER_LEFT)
    stage.run(5)
    assert stage.steps == 0
    stage.mouse.press(start)
    stage.mouse.move(start + QPointF(0.0, -50.0))
    stage.run(30)
    assert stage.steps == 30
    assert stage.playback.playhead.time == 0.0
    assert (stage.pixel(LOWER_LEFT) - start - QPointF(0.0, -50.0)).manhattanLength() < 1.0
    stage.mouse.release(start + QPointF(0.0, -50.0))
    rest = stage.positions()
    stage.run(5)
    assert stage.steps == 30
    np.testing.assert_array_equal(stage.positions(), rest)
    start = stage.pixel(LOWER_LEFT)
    stage.mouse.press(start)
    stage.mouse.move(start + QPointF(0.0, -50.0))
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    assert stage.editor.stepper.grab is None
    stage.run(3)
    assert stage.steps == 30


@pytest.mark.slow
def test_a_pull_far_beyond_reach_does_not_break_the_cloth(stage):
    way = QPointF(-2500.0, 0.0)
    stage.playback.toggle()
    start = stage.pixel(LOWER_LEFT)
    stage.mouse.press(start)
    stage.mouse.move(start + way)
    stage.run(30)
    with stage.editor.viewport.gl_current():
        stage.cloth.check()
    assert not stage.cloth.stopped
    stage.mouse.release(start + way)
    stage.run(30)
    with stage.editor.viewport.gl_current():
        stage.cloth.check()
    assert not stage.cloth.stopped
    assert np.isfinite(stage.positions()).all()
    assert np.abs(stage.positions()).max() < 10.0


def around(stage, particles):
    pixels = np.array([(place.x(), place.y()) for place in map(stage.pixel, particles)])
    low, high = pixels.min(axis=0) - 4.0, pixels.max(axis=0) + 4.0
    return QPointF(*low), QPointF(*high)


def test_the_rubber_band_selects_particles(stage):
    bare = picture(stage.editor)
    corner = [0, 1, COLUMNS, COLUMNS + 1]
    stage.shift.drag(*around(stage, corner))
    assert stage.marks.chosen == {stage.node: tuple(corner)}
    assert stage.editor.stepper.grab is None
    assert (picture(stage.editor) != bare).any()
    assert stage.document.undo_stack.count() == 0
    stage.trigger("edit.deselect")
    assert stage.marks.count == 0


def test_shift_click_adds_and_removes_a_particle_and_a_click_clears(stage):
    for particle in (MIDDLE, MIDDLE + 2):
        stage.shift.click(stage.pixel(particle))
    assert stage.marks.chosen == {stage.node: (MIDDLE, MIDDLE + 2)}
    stage.shift.click(stage.pixel(MIDDLE))
    assert stage.marks.chosen == {stage.node: (MIDDLE + 2,)}
    stage.mouse.click(stage.pixel(MIDDLE))
    assert stage.marks.count == 0
    assert stage.document.selection.node == stage.node


def test_the_selection_ends_with_its_particles(stage):
    stage.shift.click(stage.pixel(MIDDLE))
    stage.document.set_value(ParamRef(stage.node, "cloth", "density"), 0.5)
    assert stage.marks.count == 1
    stage.document.set_value(ParamRef(stage.node, "cloth", "columns"), COLUMNS + 1)
    assert stage.marks.count == 0
    settled(stage.editor)
    stage.trigger("edit.delete")
    settled(stage.editor)


def test_p_pins_and_unpins_the_particle_under_the_mouse(stage):
    hints = []
    stage.editor.tools.hint.connect(hints.append)
    stage.trigger("simulate.pin")
    assert "Shift+Drag" in hints[-1], "no particle is marked"
    assert stage.document.undo_stack.count() == 0
    stage.hover(MIDDLE)
    stage.trigger("simulate.pin")
    settled(stage.editor)
    assert stage.cloth.pins.flags[MIDDLE]
    assert stage.settings.pin_list == str(MIDDLE)
    assert stage.document.undo_stack.count() == 1
    assert stage.document.undo_stack.undo_text == f"Pin particle {MIDDLE}"
    stage.trigger("simulate.pin")
    settled(stage.editor)
    assert not stage.cloth.pins.flags[MIDDLE]
    assert stage.document.undo_stack.undo_text == f"Unpin particle {MIDDLE}"
    stage.document.undo_stack.undo()
    settled(stage.editor)
    assert stage.cloth.pins.flags[MIDDLE]


def test_p_pins_and_unpins_all_selected_particles(stage):
    row = [0, 1, 2]  # the first one is pinned already, as an upper corner
    stage.shift.drag(*around(stage, row))
    assert stage.marks.chosen == {stage.node: tuple(row)}
    stage.trigger("simulate.pin")
    settled(stage.editor)
    assert stage.cloth.pins.flags[row].all()
    assert stage.document.undo_stack.count() == 1
    stage.trigger("simulate.pin")
    settled(stage.editor)
    assert not stage.cloth.pins.flags[row].any()
    assert stage.cloth.pins.flags.sum() == 1
    stage.document.undo_stack.undo()
    stage.document.undo_stack.undo()
    assert stage.settings.pin_list == ""


def entries(menu):
    return {action.text().replace("&", ""): action for action in menu.actions() if action.text()}


def test_a_pin_preset_of_the_menu_replaces_all_pins_as_one_entry(stage):
    stage.hover(MIDDLE)
    stage.trigger("simulate.pin")
    menu = stage.editor.features["objects"].menu.menu_at(stage.pixel(MIDDLE))
    presets = entries(entries(menu)["Pins"].menu())
    assert not any(action.isChecked() for action in presets.values())
    presets["Top edge"].trigger()
    settled(stage.editor)
    assert stage.settings.pins is PinPreset.TOP
    assert stage.cloth.pins.flags.tolist() == [True] * COLUMNS + [False] * (COLUMNS * (ROWS - 1))
    assert stage.document.undo_stack.count() == 2
    stage.document.undo_stack.undo()
    assert stage.settings.pins is PinPreset.CORNERS
    assert stage.settings.pin_list == str(MIDDLE)


def simulated(stage, steps=10):
    stage.playback.toggle()
    stage.run(steps)
    stage.playback.pause()
    assert stage.steps == steps


@pytest.mark.slow
def test_a_scrub_to_the_start_resets_and_others_hold(armed):
    stage = armed
    rest = stage.positions()
    simulated(stage)
    moved = stage.positions()
    stage.editor.timeline.ruler.scrub_to(0.5)
    settled(stage.editor)
    assert stage.steps == 10
    np.testing.assert_array_equal(stage.positions(), moved)
    stage.editor.timeline.ruler.scrub_to(0.0)
    assert stage.steps == 0
    np.testing.assert_array_equal(stage.positions(), rest)


def add_sphere(stage, place):
    stage.editor.edits.add("sphere")
    sphere = stage.document.selection.node
    stage.document.set_value(ParamRef(sphere, "transform", "position"), tuple(map(float, place)))
    stage.document.undo_stack.clear()
    settled(stage.editor)
    return sphere


@pytest.mark.slow
def test_a_sphere_is_pushed_into_a_moving_cloth_as_one_edit(stage):
    behind = stage.positions()[MIDDLE] + [0.0, 0.0, -0.8]
    sphere = add_sphere(stage, behind)
    stage.trigger("handle.move")
    stage.playback.toggle()
    stage.run(10)
    ahead = behind + np.array([0.0, 0.0, 1.1])
    start, end = place_of(stage.editor, behind), place_of(stage.editor, ahead)
    handles = stage.editor.handles._handles()
    tip = QPointF(*handles.view.pixels(handles.curve(2))[1])
    stage.mouse.press(tip)
    for share in np.linspace(0.05, 1.0, 20):
        stage.mouse.move(tip + (end - start) * float(share))
        stage.run(2)
    moved = np.array(stage.document.scene.node(sphere).transform.position)
    assert np.allclose(moved[:2], behind[:2], atol=1e-6)  # along the axis only
    assert moved[2] > behind[2] + 0.5
    stage.mouse.release(tip + end - start)
    stage.run(20)
    distances = np.linalg.norm(stage.positions() - moved, axis=1)
    assert distances.min() > 0.3 - 1e-3  # its radius
    assert distances.min() < 0.35  # it does touch
    assert stage.positions()[:, 2].max() > 0.05
    assert stage.document.undo_stack.count() == 1
    stage.document.undo_stack.undo()
    assert np.allclose(stage.document.scene.node(sphere).transform.position, behind)


@pytest.mark.slow
def test_escape_cancels_the_drag_of_a_handle_while_playing(stage):
    sphere = add_sphere(stage, stage.positions()[MIDDLE] + [0.0, 0.0, 0.8])
    before, actions = stage.document.scene.node(sphere), stage.editor.window.actions_table
    stage.playback.toggle()
    for mode in ("move", "rotate", "scale"):
        stage.trigger(f"handle.{mode}")
        assert [one for one in ("move", "rotate", "scale") if actions[f"handle.{one}"].isChecked()] == [mode]
        stage.run(2)
        handles = stage.editor.handles._handles()
        place = QPointF(*handles.view.pixels(handles.curve(1))[-1])
        stage.mouse.press(place)
        stage.mouse.move(place + QPointF(20.0, 20.0))
        stage.run(2)
        assert stage.document.scene.node(sphere) != before
        QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
        stage.run(2)
        assert stage.document.scene.node(sphere) == before
        assert stage.document.undo_stack.count() == 0


def middle_of(stage, node):
    box = stage.editor.client.engine.views.bounds(node)
    return (box.lo + box.hi) / 2.0


def test_handles_follow_a_collider_on_a_bone_of_a_scaled_model(armed):
    stage = armed
    model = stage.document.scene.of_kind("model")[0]
    stage.document.set_value(ParamRef(model.id, "transform", "scale"), (2.0, 2.0, 2.0))
    bone = stage.editor.store.loaded(model.id).model.skeleton.names[1]
    stage.editor.edits.select(model.id, bone)
    stage.editor.edits.add("sphere")
    sphere = stage.document.selection.node
    stage.document.set_value(ParamRef(sphere, "transform", "position"), (0.1, 0.05, 0.0))
    stage.trigger("handle.move")
    settled(stage.editor)
    placed = middle_of(stage, sphere)
    handles = stage.editor.handles._handles()
    assert np.allclose(handles.centre, placed, atol=1e-9)
    start = QPointF(*handles.view.pixels([handles.centre])[0])
    target = start + QPointF(-30.0, 20.0)
    stage.mouse.drag(start, target)
    settled(stage.editor)
    placed = middle_of(stage, sphere)
    assert (place_of(stage.editor, placed) - target).manhattanLength() < 0.5


@pytest.mark.slow
def test_contacts_are_marked(stage):
    place = stage.positions()[MIDDLE] + [0.0, 0.0, -0.15]
    add_sphere(stage, place)
    simulated(stage, 80)  # first it bounces, then it rests on the sphere
    stage.editor.edits.set_view("solids", False)
    bare = picture(stage.editor)
    stage.trigger("overlay.contacts")
    marked = np.argwhere((picture(stage.editor) != bare).any(axis=2))[:, ::-1]
    assert len(marked)
    gaps = np.linalg.norm(stage.positions() - place, axis=1) - 0.3 - 0.5 * stage.settings.thickness
    touching = np.flatnonzero(gaps < 1e-3)
    assert 0 < len(touching) < 60
    places = np.array([(pixel.x(), pixel.y()) for pixel in map(stage.pixel, touching)])
    distances = np.linalg.norm(marked[:, None] - places[None], axis=2)
    assert distances.min(axis=1).max() < 6.0  # every mark belongs to a touch
    assert distances.min(axis=0).max() < 4.0  # and every touch is marked
