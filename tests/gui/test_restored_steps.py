import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from sinew.app.kinds.hair.brush_tool import Brush
from sinew.resources import path as resource
from sinew.sim.kinds.emitter.handles import KnobKind
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import NodeStage, Session, place_of, play, settled

BACK = 12  # the step that is restored; later ones are cached


class Stage(NodeStage):
    def __init__(self, editor, qtbot, project, node):
        Session(qtbot).load(editor, resource("projects") / f"{project}.sinew")
        editor.document.select(Selection(node=node))
        super().__init__(editor, node)

    def set(self, name, value):
        self.document.set_value(ParamRef(self.node, self.document.scene.node(self.node).kind, name), value)
        settled(self.editor)

    def play(self, steps):
        play(self.editor, steps)
        self.editor.playback.pause()

    def go_back(self):
        self.editor.playback.scrub(BACK * STEP_TIME)
        settled(self.editor)
        assert self.editor.stepper.step_count == BACK

    @property
    def tool(self):
        return self.editor.kind_panels[self.document.scene.node(self.node).kind].tool

    def seen(self, candidates):
        for particle in candidates:
            spot = place_of(self.editor, self.place(particle))
            found = self.tool.particle_at(spot)
            if found is not None and found.node == self.node:
                return found.particle, spot
        raise AssertionError("no particle is to be seen")

    def is_sound(self):
        return not self.editor.panels.messages.messages and not self.system.stopped

    def place(self, particle):
        with self.editor.viewport.gl_current():
            return np.array(self.system.particle_position(particle))

    def drag(self, particle, by):
        """Pulls a particle for a few steps; returns its distance from the cached steps [m]."""
        self.go_back()
        self.play(6)
        free = self.place(particle)
        self.go_back()
        start = place_of(self.editor, self.place(particle))
        self.mouse.press(start)
        self.mouse.move(start + 0.5 * by)
        self.mouse.move(start + by)
        self.play(6)
        pulled = self.place(particle)
        self.mouse.release(start + by)
        return np.linalg.norm(pulled - free)


def test_a_cloth_is_pinned_and_dragged_on_a_restored_step(fresh, qtbot):
    stage = Stage(fresh, qtbot, "cape", "cape")
    fresh.features["view"].frame_all()
    fresh.playback.scrub(0.0)
    settled(fresh)
    stage.play(20)
    stage.go_back()
    count = stage.system.cloth.model.particle_count
    particle, spot = stage.seen(range(count // 2, count))
    stage.mouse.hover(spot)
    stage.editor.kind_panels["cloth"].tool.look()
    stage.editor.window.actions_table["simulate.pin"].trigger()
    stage.play(3)
    assert stage.system.cloth.pins.flags[particle]
    assert stage.is_sound()
    stage.document.undo_stack.undo()
    settled(fresh)
    other, _ = stage.seen(range(count // 2 + 3, count))
    assert stage.drag(other, QPointF(-50.0, 0.0)) > 0.01
    assert stage.is_sound()
    stage.play(15)
    assert stage.is_sound()


@pytest.mark.slow
def test_hair_is_dragged_combed_and_cut_on_a_restored_step(fresh, qtbot):
    stage = Stage(fresh, qtbot, "hair", "hair")
    stage.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "run_up"), 0.0)
    for name, value in {"guides": 60, "children": 300, "root_radius": 2e-3}.items():
        stage.set(name, value)
    fresh.features["view"].frame_all()
    stage.play(20)
    stage.go_back()
    knots = stage.settings.knots
    strands = stage.system.strands
    particle, _ = stage.seen(guide * knots + knots // 2 for guide in range(strands.growth.guides.count))
    assert stage.drag(particle, QPointF(-20.0, -20.0)) > 0.001
    assert stage.is_sound()
    for brush in (Brush.COMB, Brush.CUT):
        stage.go_back()
        before = stage.system.strands.growth.guides
        stage.editor.kind_panels["hair"].brush.toggle(brush)
        _, spot = stage.seen(range(particle, particle + 20 * knots))
        stage.mouse.drag(spot, spot + QPointF(30.0, 5.0))
        stage.editor.kind_panels["hair"].brush.toggle(brush)
        stage.play(6)
        assert stage.system.strands.growth.guides is not before
        assert stage.is_sound()


def test_knobs_of_an_emitter_are_dragged_on_a_restored_step(fresh, qtbot):
    stage = Stage(fresh, qtbot, "fountain", "fountain")
    stage.play(20)
    stage.go_back()
    handles = stage.editor.kind_panels["emitter"].tool._handles()
    knob = next(one for one in handles.knobs if one.kind is KnobKind.SPEED)
    start = QPointF(*handles.view.pixels(knob.points)[0].tolist())
    before = stage.settings
    stage.mouse.drag(start, start + QPointF(0.0, -20.0))
    assert stage.settings != before
    stage.play(6)
    assert stage.is_sound()


def test_particles_of_cached_steps_are_counted(fresh, qtbot):
    stage = Stage(fresh, qtbot, "sparks", "sparks")
    stage.play(30)
    living = {}
    for step in (30, *range(4, BACK + 1, 4)):
        fresh.playback.scrub(step * STEP_TIME)
        settled(fresh)
        living[step] = stage.system.emitter.alive
        with fresh.viewport.gl_current():
            assert living[step] == np.count_nonzero(stage.system.emitter.read()["position"][:, 3] >= 0.0)
        QApplication.processEvents()
        assert fresh.kind_panels["emitter"].head._status.alive == living[step]
        assert int(dict(fresh.overlays.statistics.rows)["Particles"].replace(",", "")) >= living[step]
    assert living[BACK] < living[30]
