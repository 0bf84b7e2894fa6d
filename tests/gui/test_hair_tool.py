"""What the mouse does to hair in the whole editor: strands are shown, chosen, pulled and let go."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from sim.kinds.hair.settings import HairSolver
from sim.scene.clock import STEP_TIME
from sim.scene.scene import ParamRef
from sim.scene.view_state import Selection
from tests.gui.editor_harness import Clock, Mouse, picture, place_of

SMALL = {"guides": 60, "children": 300, "knots": 8, "length": 0.3, "radii": (0.2, 0.2, 0.2), "root_radius": 2e-3}


class Stage:
    """An editor with hair on a ball that fills the viewport, and a clock that stands."""

    def __init__(self, session):
        self.clock = Clock()
        self.editor = session.start(clock=self.clock)
        self.playback, self.document = self.editor.playback, self.editor.document
        self.playback._timer.setInterval(100000)  # ticks come from the test
        self.document.select(Selection())
        self.editor.edits.add("hair")
        self.node = self.document.scene.of_kind("hair")[0].id
        for name, value in SMALL.items():
            self.set(name, value)
        self.document.undo_stack.clear()
        picture(self.editor)
        self.editor.frame_all()
        picture(self.editor)
        self.mouse = Mouse(self.editor.viewport)
        self.shift = Mouse(self.editor.viewport, modifiers=Qt.KeyboardModifier.ShiftModifier)

    def set(self, name, value):
        self.document.set_value(ParamRef(self.node, "hair", name), value)

    @property
    def system(self):
        return self.editor.client.engine.simulation.systems[self.node]

    @property
    def strands(self):
        return self.system.strands

    @property
    def panel(self):
        return self.editor.rooms["hair"]

    def places(self):
        """Knots of the strands that are drawn, shape (N, K, 3)."""
        with self.editor.viewport.gl_current():
            return self.strands.shown.positions().astype(np.float64)

    def guides(self):
        """Knots of the guides, shape (G, K, 3)."""
        with self.editor.viewport.gl_current():
            return self.strands.positions().astype(np.float64)

    def foremost(self):
        """A place of the viewport where a strand is drawn, and what is picked there."""
        camera = self.document.view_state.camera
        toward = np.array(camera.rotation()[2].to_tuple())
        places = self.places()[:, 5]
        for strand in np.argsort(-(places @ toward)):
            place = place_of(self.editor, places[strand])
            particle = self.panel.tool._picker.particle(place)
            if particle is not None and particle.particle % 8 > 4:
                return place, particle
        raise AssertionError("no strand is to be seen")

    def run(self, steps):
        for _ in range(steps):
            self.clock.now += STEP_TIME
            self.playback.tick()
        picture(self.editor)


@pytest.fixture
def stage(session):
    return Stage(session)


def test_the_strand_under_the_mouse_is_marked_named_and_chosen(stage):
    hints = []
    stage.editor.tools.hint.connect(hints.append)
    bare = picture(stage.editor)
    place, particle = stage.foremost()
    stage.mouse.hover(place)
    stage.panel.tool.look()
    assert stage.editor.desk.marks.hovered == particle
    guide, length = particle.particle // 8, stage.strands.growth.guides.lengths
    assert hints[-1].startswith(f"Guide {guide} · {length[guide]:.3g} m")
    changed = np.argwhere((picture(stage.editor) != bare).any(axis=2))
    line = np.array([(p.y(), p.x()) for p in (place_of(stage.editor, k) for k in stage.guides()[guide])])
    apart = np.linalg.norm(changed[:, None] - line, axis=2)
    assert apart.min(axis=0).max() < 3.0, "the whole guide is drawn"
    stage.editor.viewport.left.emit()
    np.testing.assert_array_equal(picture(stage.editor), bare)
    stage.mouse.click(place)
    assert stage.editor.desk.marks.chosen == {stage.node: (particle.particle,)}
    assert stage.document.selection.node == stage.node
    assert not np.array_equal(picture(stage.editor), bare)


@pytest.mark.parametrize("solver", list(HairSolver))
def test_a_strand_is_pulled_while_time_stands_and_while_it_runs(stage, solver):
    stage.set("solver", solver)
    picture(stage.editor)
    place, particle = stage.foremost()
    guide, knot = divmod(particle.particle, 8)
    start = stage.guides()[guide, knot]
    inward = place_of(stage.editor, stage.guides()[guide, 0]) - place_of(stage.editor, start)
    target = place + 0.3 * inward + 0.3 * QPointF(-inward.y(), inward.x())  # within reach
    stage.mouse.press(place)
    stage.mouse.move(place + 0.5 * (target - place))
    stage.mouse.move(target)
    wanted = place_of(stage.editor, start) + (target - place)
    stage.run(12)  # nothing plays: pulling simulates, the playhead stays
    assert (place_of(stage.editor, stage.guides()[guide, knot]) - wanted).manhattanLength() < 2.5
    assert stage.editor.stepper.step_count == 12
    assert stage.playback.playhead.time == 0.0
    stage.mouse.release(target)
    assert stage.editor.stepper.grab is None
    stage.playback.toggle()
    stage.run(60)
    assert not stage.strands.halted
    assert (place_of(stage.editor, stage.guides()[guide, knot]) - wanted).manhattanLength() > 4.0
    assert stage.document.undo_stack.count() == int(solver is not HairSolver.ROD)
