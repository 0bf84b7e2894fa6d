"""What the mouse and the keys do to a cloth in the whole editor."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sim.clock import STEP_TIME
from sim.collider_settings import ColliderShape
from sim.render.shot import ParticleRef
from sim.scene import ParamRef
from tests.gui.editor_harness import Clock, Mouse, picture, place_of

COLUMNS = ROWS = 12
LOWER_LEFT = COLUMNS * (ROWS - 1)
MIDDLE = COLUMNS * (ROWS // 2) + COLUMNS // 2
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Stage:
    """An editor with one small cloth that fills the viewport, and a clock that stands."""

    def __init__(self, session):
        self.clock = Clock()
        self.editor = session.start(clock=self.clock)
        self.playback, self.document = self.editor.playback, self.editor.document
        self.playback._timer.setInterval(100000)  # ticks come from the test
        self.editor.edits.add_cloth()
        self.node = self.document.scene.of_kind("cloth")[0].id
        for name, value in (("columns", COLUMNS), ("rows", ROWS)):
            self.document.set_value(ParamRef(self.node, "cloth", name), value)
        self.document.undo_stack.clear()
        picture(self.editor)
        self.editor.frame_all()
        picture(self.editor)
        self.mouse, self.shift = Mouse(self.editor.viewport), Mouse(self.editor.viewport, modifiers=SHIFT)

    @property
    def cloth(self):
        return self.editor.client.engine.simulation.cloths[self.node]

    @property
    def marks(self):
        return self.editor.tools.cloth.marks

    @property
    def settings(self):
        return self.document.scene.node(self.node).cloth

    @property
    def steps(self):
        return self.editor.stepper.step_count

    def positions(self):
        with self.editor.viewport.gl_current():
            return self.cloth.positions().astype(np.float64)

    def pixel(self, particle):
        return place_of(self.editor, self.positions()[particle])

    def run(self, steps):
        for _ in range(steps):
            self.clock.now += STEP_TIME
            self.playback.tick()
        picture(self.editor)

    def hover(self, particle):
        self.mouse.hover(self.pixel(particle))
        self.editor.tools.cloth._look()

    def trigger(self, action_id):
        self.editor.window.actions_table[action_id].trigger()


@pytest.fixture
def stage(session):
    return Stage(session)


# --- hover ------------------------------------------------------------------------------------------------


def test_the_particle_under_the_mouse_is_marked_and_named(stage, qtbot):
    hints = []
    stage.editor.tools.hint.connect(hints.append)
    bare = picture(stage.editor)
    stage.mouse.hover(stage.pixel(MIDDLE))
    qtbot.waitUntil(lambda: stage.marks.hovered is not None)
    assert stage.marks.hovered == ParticleRef(stage.node, MIDDLE)
    assert f"Particle {MIDDLE}" in hints[-1]
    changed = np.argwhere((picture(stage.editor) != bare).any(axis=2)).mean(axis=0)
    middle = stage.pixel(MIDDLE)
    assert np.allclose(changed, (middle.y(), middle.x()), atol=2.0)
    stage.editor.viewport.left.emit()
    assert stage.marks.hovered is None
    np.testing.assert_array_equal(picture(stage.editor), bare)


def test_hovering_reads_three_particles_and_not_the_cloth(stage, monkeypatch):
    places = {particle: stage.pixel(particle) for particle in range(MIDDLE, MIDDLE + 4)}
    monkeypatch.setattr(type(stage.cloth), "positions", lambda _: pytest.fail("read the whole cloth"))
    for particle, place in places.items():
        stage.mouse.hover(place)
        stage.editor.tools.cloth._look()
        assert stage.marks.hovered == ParticleRef(stage.node, particle)


def test_a_collider_in_front_hides_the_particles_behind_it(stage):
    stage.hover(MIDDLE)
    assert stage.marks.hovered is not None
    stage.editor.edits.add_collider(ColliderShape.SPHERE)
    sphere = stage.document.selection.node
    place = stage.positions()[MIDDLE] + 0.6 * stage.document.view_state.camera.rotation()[2]
    stage.document.set_value(ParamRef(sphere, "transform", "position"), tuple(map(float, place)))
    picture(stage.editor)
    stage.hover(MIDDLE)
    assert stage.marks.hovered is None


# --- pulling ----------------------------------------------------------------------------------------------


def test_a_pulled_particle_follows_the_mouse_while_playing_and_is_let_go(stage):
    stage.playback.toggle()
    start = stage.pixel(LOWER_LEFT)
    target = start + QPointF(-40.0, -60.0)
    stage.mouse.press(start)
    stage.mouse.move(start + QPointF(-10.0, -10.0))
    stage.mouse.move(target)
    stage.run(30)
    assert (stage.pixel(LOWER_LEFT) - target).manhattanLength() < 1.0
    assert not stage.cloth.halted
    stage.mouse.release(target)
    assert stage.editor.stepper.grab is None
    stage.run(30)
    assert (stage.pixel(LOWER_LEFT) - target).manhattanLength() > 20.0
    assert stage.document.undo_stack.count() == 0


def test_a_pull_does_not_jump_when_it_begins_beside_the_particle(stage):
    stage.playback.toggle()
    before = stage.positions()[LOWER_LEFT]
    press = stage.pixel(LOWER_LEFT) + QPointF(3.0, -3.0)
    stage.mouse.press(press)
    stage.mouse.move(press + QPointF(0.0, -5.0))
    assert stage.editor.stepper.grab.particle == LOWER_LEFT
    stage.mouse.move(press)
    assert np.allclose(stage.editor.stepper.grab.hand, before, atol=1e-6)
    stage.run(20)
    assert np.allclose(stage.positions()[LOWER_LEFT], before, atol=1e-4)


def test_pulling_a_held_cloth_simulates_only_while_the_button_is_down(stage):
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


def test_escape_lets_go(stage):
    start = stage.pixel(LOWER_LEFT)
    stage.mouse.press(start)
    stage.mouse.move(start + QPointF(0.0, -50.0))
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    assert stage.editor.stepper.grab is None
    stage.run(3)
    assert stage.steps == 0


@pytest.mark.parametrize("way", [QPointF(900.0, 400.0), QPointF(-2500.0, 0.0), QPointF(0.0, 3000.0)])
def test_a_pull_far_beyond_what_the_cloth_can_reach_does_not_break_it(stage, way):
    stage.playback.toggle()
    start = stage.pixel(LOWER_LEFT)
    stage.mouse.press(start)
    stage.mouse.move(start + way)
    stage.run(90)
    with stage.editor.viewport.gl_current():
        stage.cloth.check()
    assert not stage.cloth.halted
    stage.mouse.release(start + way)
    stage.run(90)
    with stage.editor.viewport.gl_current():
        stage.cloth.check()
    assert not stage.cloth.halted
    assert np.isfinite(stage.positions()).all()
    assert np.abs(stage.positions()).max() < 10.0
