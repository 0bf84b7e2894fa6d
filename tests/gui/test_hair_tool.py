import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.app.kinds.hair.brush_tool import Brush
from sinew.sim.kinds.hair.costs import PASSES, RIVAL
from sinew.sim.kinds.hair.settings import ComparisonSolverChoice, HairSolver
from sinew.sim.profile.sample import TimeSource
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from tests.conftest import slow
from tests.gui.editor_harness import NodeStage, picture, place_of, set_values, settled

SMALL = {"guides": 60, "children": 300, "knots": 8, "length": 0.3, "radii": (0.2, 0.2, 0.2), "root_radius": 2e-3}


class Stage(NodeStage):
    def __init__(self, editor):
        editor.document.select(Selection())
        node = editor.edits.add("hair")
        set_values(editor, node, **SMALL)
        super().__init__(editor, node)
        self.frame()

    def set(self, name, value):
        self.document.set_value(ParamRef(self.node, "hair", name), value)

    @property
    def strands(self):
        return self.system.strands

    @property
    def panel(self):
        return self.editor.kind_panels["hair"]

    def places(self):
        """Knots of the strands that are drawn, shape (N, K, 3)."""
        with self.editor.viewport.gl_current():
            return self.strands.shown.positions().astype(np.float64)

    def guides(self):
        """Knots of the guides, shape (G, K, 3)."""
        with self.editor.viewport.gl_current():
            return self.strands.positions().astype(np.float64)

    def foremost(self):
        camera = self.document.view_state.camera
        toward = np.array(camera.rotation()[2].to_tuple())
        places = self.places()[:, 5]
        for strand in np.argsort(-(places @ toward)):
            place = place_of(self.editor, places[strand])
            particle = self.panel.tool.particle_at(place)
            if particle is not None and particle.particle % 8 > 4:
                return place, particle
        raise AssertionError("no strand is to be seen")


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


def test_the_strand_under_the_mouse_is_marked_and_selected(stage):
    hints = []
    stage.editor.tools.hint.connect(hints.append)
    bare = picture(stage.editor)
    place, particle = stage.foremost()
    stage.mouse.hover(place)
    stage.panel.tool.look()
    assert stage.editor.context.marks.hovered == particle
    guide, length = particle.particle // 8, stage.strands.growth.guides.lengths
    assert hints[-1].startswith(f"Guide {guide} · {length[guide]:.3g} m")
    changed = np.argwhere((picture(stage.editor) != bare).any(axis=2))
    line = np.array([(p.y(), p.x()) for p in (place_of(stage.editor, k) for k in stage.guides()[guide])])
    apart = np.linalg.norm(changed[:, None] - line, axis=2)
    assert apart.min(axis=0).max() < 3.0, "the whole guide is drawn"
    stage.editor.viewport.left.emit()
    np.testing.assert_array_equal(picture(stage.editor), bare)
    stage.mouse.click(place)
    assert stage.editor.context.marks.chosen == {stage.node: (particle.particle,)}
    assert stage.document.selection.node == stage.node
    assert not np.array_equal(picture(stage.editor), bare)


@pytest.mark.parametrize("solver", [HairSolver.ROD, *(slow(one) for one in HairSolver if one is not HairSolver.ROD)])
def test_a_strand_is_pulled_while_paused_and_released(stage, solver):
    stage.set("solver", solver)
    settled(stage.editor)
    place, particle = stage.foremost()
    guide, knot = divmod(particle.particle, 8)
    start = stage.guides()[guide, knot]
    inward = place_of(stage.editor, stage.guides()[guide, 0]) - place_of(stage.editor, start)
    target = place + 0.3 * inward + 0.3 * QPointF(-inward.y(), inward.x())  # within reach
    stage.mouse.press(place)
    stage.mouse.move(place + 0.5 * (target - place))
    stage.mouse.move(target)
    wanted = place_of(stage.editor, start) + (target - place)
    stage.run(12)  # paused: pulling simulates, the playhead stays
    assert (place_of(stage.editor, stage.guides()[guide, knot]) - wanted).manhattanLength() < 2.5
    assert stage.editor.stepper.step_count == 12
    assert stage.playback.playhead.time == 0.0
    stage.mouse.release(target)
    assert stage.editor.stepper.grab is None
    stage.playback.toggle()
    stage.run(30)
    assert not stage.strands.stopped
    assert (place_of(stage.editor, stage.guides()[guide, knot]) - wanted).manhattanLength() > 4.0
    assert stage.document.undo_stack.count() == int(solver is not HairSolver.ROD)


def groom_of(stage):
    return stage.strands.growth.guides


@pytest.mark.slow
def test_a_stroke_is_one_edit_that_is_undone_and_saved_bit_identical(stage, tmp_path, qtbot):
    before, bare = groom_of(stage), picture(stage.editor)
    stage.editor.window.actions_table["hair.comb"].trigger()
    assert stage.panel.brush.bar.buttons["COMB"].isChecked()
    place, _ = stage.foremost()
    target = place + QPointF(60.0, 0.0)
    stage.mouse.press(place)
    for share in (0.25, 0.5, 0.75, 1.0):
        stage.mouse.move(place + share * (target - place))
        shown = picture(stage.editor)
    assert (shown != bare).any(axis=2).sum() > 300, "live, while paused"
    assert groom_of(stage) is before
    assert stage.document.undo_stack.count() == 0
    stage.mouse.release(target)
    settled(stage.editor)
    assert stage.document.undo_stack.count() == 1
    assert stage.document.undo_stack.undo_text.startswith("Comb ")
    combed = groom_of(stage)
    right = np.array(stage.document.view_state.camera.rotation()[0].to_tuple())
    shift = (combed.offsets(combed.frames) - before.offsets(before.frames))[:, -1] @ right
    touched = (combed.edges != before.edges).any(axis=(1, 2))
    assert touched.any()
    assert shift[touched].mean() > 0.01
    np.testing.assert_array_equal(combed.lengths, before.lengths)
    stage.document.undo_stack.undo()
    settled(stage.editor)
    assert groom_of(stage).edges.tobytes() == before.edges.tobytes()
    stage.document.undo_stack.redo()
    stage.editor.viewport.setFocus()
    stage.panel.brush.take(None)
    settled(stage.editor)
    assert groom_of(stage).edges.tobytes() == combed.edges.tobytes()
    assert stage.editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(stage.editor.files.opened, timeout=60000):
        stage.editor.files.open(tmp_path / "a.sinew")
    settled(stage.editor)
    assert groom_of(stage).edges.tobytes() == combed.edges.tobytes()
    stage.document.select(Selection(node=stage.node))
    stage.panel.brush.bar.reset.click()
    settled(stage.editor)
    assert groom_of(stage).edges.tobytes() == before.edges.tobytes()


def test_a_cut_shortens_and_escape_cancels(stage):
    stage.panel.brush.toggle(Brush.CUT)
    place, _ = stage.foremost()
    before = groom_of(stage)
    stage.mouse.press(place)
    stage.mouse.move(place + QPointF(30.0, 0.0))
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    settled(stage.editor)
    assert groom_of(stage) is before
    assert stage.document.undo_stack.count() == 0
    assert stage.panel.brush.brush is Brush.CUT
    stage.mouse.click(place)
    settled(stage.editor)
    cut = groom_of(stage)
    assert (cut.lengths <= before.lengths).all()
    assert cut.lengths.min() < 0.9 * before.lengths.min()
    with stage.editor.viewport.gl_current():
        sizes = np.linalg.norm(np.diff(stage.strands.offsets(), axis=1), axis=2).sum(axis=1)
    np.testing.assert_allclose(sizes, cut.lengths, rtol=1e-4)
    stage.shift.drag(place, place + QPointF(10.0, 0.0))
    assert stage.document.undo_stack.undo_text.startswith("Lengthen ")
    wide = stage.panel.brush.radius
    stage.editor.window.actions_table["hair.wider"].trigger()
    assert stage.panel.brush.radius > wide
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    assert stage.panel.brush.brush is None


def test_the_groom_is_shown_while_it_is_brushed(stage):
    stage.playback.toggle()
    stage.run(30)
    stage.playback.toggle()
    swung, simulated = picture(stage.editor), stage.guides()
    stage.panel.brush.toggle(Brush.COMB)
    assert not np.array_equal(picture(stage.editor), swung)
    groomed = stage.places()
    np.testing.assert_array_equal(stage.guides(), simulated)
    stage.document.select(Selection())
    assert stage.panel.brush.brush is None
    stage.document.select(Selection(node=stage.node))
    np.testing.assert_array_equal(picture(stage.editor), swung)
    assert not np.array_equal(stage.places(), groomed)


@pytest.mark.slow
def test_the_inspector_shows_the_selected_strand_the_comparison_and_costs(stage):
    facts = stage.panel._facts
    place, particle = stage.foremost()
    stage.mouse.click(place)
    stage.set("rival", ComparisonSolverChoice.SPRINGS)
    stage.editor.window.actions_table["timing.measure"].trigger()
    stage.editor.window.docks.reveal("plots")
    stage.playback.toggle()
    for _ in range(12):
        stage.run(4)
    QTest.qWait(50)
    stage.panel.follow(stage.document.selected, stage.system)
    texts = {row.label: row.value for row in facts._rows}
    guide, length = particle.particle // 8, stage.strands.growth.guides.lengths
    assert (texts["Selected strand"], texts["Its length"]) == (f"Guide {guide}", f"{length[guide]:.3g} m")
    assert texts["Its bend"].endswith(" rad")
    assert 0.0 < float(texts["Mean distance"].split()[0]) < float(texts["Largest distance"].split()[0])
    assert texts["Solver, a substep"].startswith("rod: ")
    assert texts["Other, a substep"].startswith("springs: ")
    named = {name: float(texts[name].split()[0]) for name in (*PASSES, RIVAL, "Sum") if texts[name] != "–"}
    assert named["Solve"] > 0.0
    assert named["Sum"] == pytest.approx(sum(named.get(name, 0.0) for name in (*PASSES, RIVAL)), rel=0.05)
    assert texts["Source"] in [source.value for source in TimeSource]
    stage.panel.plots.redraw()
    time, energy = stage.panel.plots.curves["energy"].getOriginalDataset()
    assert len(time) > 1
    assert max(energy) > 0.0
    assert stage.panel.plots.isVisible()
