import threading

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.app.kinds.cloth.brush_tool import MapPaint
from sinew.app.project.project_file import save_project
from sinew.sim.kinds.cloth import system
from sinew.sim.kinds.cloth.maps import UNLIMITED_DISTANCE, ClothMap, ClothTopology, packed, unpacked, values_on
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset
from sinew.sim.maths.points import nearest_vertices
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from tests.gui.editor_harness import NodeStage, picture, place_of, set_values, settled

COLUMNS, ROWS = 13, 9


class Stage(NodeStage):
    def __init__(self, editor):
        editor.document.select(Selection())
        node = editor.edits.add("cloth")
        set_values(editor, node, columns=COLUMNS, rows=ROWS, pins=PinPreset.NONE, gravity=(0.0, 0.0, 0.0))
        super().__init__(editor, node)
        self.frame()

    @property
    def panel(self):
        return self.editor.kind_panels["cloth"]

    @property
    def tool(self):
        return self.panel.brush

    def choose(self, one):
        self.tool.bar.map.setCurrentIndex(self.tool.bar.map.findData(one))

    def pixel(self, column, row):
        with self.editor.viewport.gl_current():
            return place_of(self.editor, self.system.cloth.positions()[row * COLUMNS + column].astype(float))

    def values(self, one):
        maps = self.settings.maps
        return unpacked(maps[0])[one].reshape(ROWS, COLUMNS) if maps else None


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


def test_a_stroke_paints_pins_as_one_edit_that_is_undone_and_saved(stage, tmp_path, qtbot):
    plain = picture(stage.editor)
    stage.editor.window.actions_table["cloth.paint"].trigger()
    coloured = picture(stage.editor)
    assert (coloured != plain).any(axis=2).sum() > 1000, "the map is shown in colours"
    stage.tool.set_radius(0.6 * (stage.pixel(1, 0) - stage.pixel(0, 0)).manhattanLength())
    first, last = stage.pixel(2, 0), stage.pixel(5, 0)
    stage.mouse.press(first)
    for share in (0.3, 0.6, 1.0):
        stage.mouse.move(first + share * (last - first))
    assert (picture(stage.editor) != coloured).any(), "live"
    assert stage.settings.maps == ()
    stage.mouse.release(last)
    settled(stage.editor)
    assert stage.document.undo_stack.count() == 1
    assert stage.document.undo_stack.undo_text == "Set pins of Cloth"
    values = stage.values(ClothMap.PIN)
    assert (values[0, 2:6] > 0.9).all()
    assert not values[1:].any()
    assert not values[0, 7:].any()
    painted = stage.settings.maps
    stage.document.undo_stack.undo()
    settled(stage.editor)
    assert stage.settings.maps == ()
    assert not stage.system.cloth.weights.any()
    stage.document.undo_stack.redo()
    stage.shift.drag(last, last + QPointF(1.0, 0.0))
    assert stage.document.undo_stack.undo_text == "Erase pins of Cloth"
    assert stage.values(ClothMap.PIN)[0, 5] < 0.1
    stage.document.undo_stack.undo()
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    assert stage.tool.brush is None
    assert stage.editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(stage.editor.files.opened, timeout=60000):
        stage.editor.files.open(tmp_path / "a.sinew")
    settled(stage.editor)
    assert stage.settings.maps == painted
    assert (stage.system.cloth.weights[2:6] > 0.9).all()


def test_distances_are_mirrored_smoothed_and_removed(stage):
    stage.tool.take(MapPaint.SET)
    stage.choose(ClothMap.DISTANCE)
    assert stage.panel.legend().unit == "m"
    stage.tool.mirror = True
    stage.tool.set_radius(2.2 * (stage.pixel(1, 0) - stage.pixel(0, 0)).manhattanLength())
    stage.mouse.click(stage.pixel(2, 4))
    values = stage.values(ClothMap.DISTANCE)
    np.testing.assert_array_equal(values, values[:, ::-1])
    assert values[4, 2] == pytest.approx(0.05, rel=0.1)
    assert values[0, 6] == UNLIMITED_DISTANCE
    assert 0.1 < values[4, 3] < 2.0
    stage.run(3)
    stage.tool.take(MapPaint.ADD)
    stage.shift.drag(stage.pixel(2, 4), stage.pixel(2, 4) + QPointF(1.0, 0.0))
    assert stage.document.undo_stack.undo_text == "Smooth largest distance of Cloth"
    assert stage.values(ClothMap.DISTANCE)[4, 2] > values[4, 2]
    stage.tool.bar.reset.click()
    assert stage.settings.maps == ()
    stage.document.undo_stack.undo()
    stage.document.undo_stack.undo()
    np.testing.assert_array_equal(stage.values(ClothMap.DISTANCE), values)


@pytest.mark.slow
def test_maps_of_another_large_mesh_are_resampled_on_a_worker(session, tmp_path, qtbot, monkeypatch):
    x, z = np.meshgrid(np.linspace(0.0, 1.0, 12), np.linspace(0.0, 1.0, 14))
    corner = np.arange(12 * 13).reshape(13, 12)[:, :-1].ravel() + 1
    lines = [f"v {a:.6f} 1.0 {b:.6f}" for a, b in zip(x.ravel(), z.ravel(), strict=True)]
    lines += [f"f {n} {n + 12} {n + 13}\nf {n} {n + 13} {n + 1}" for n in corner.tolist()]
    (tmp_path / "sheet.obj").write_text("\n".join(lines))
    rows = ClothTopology("other", np.random.default_rng(1).uniform(size=(500, 3)) * (1.0, 0.0, 1.0))
    maps = packed({ClothMap.PIN: (rows.places[:, 0] < 0.5).astype(float)}, rows)
    settings = ClothSettings(
        source=ClothSource.MESH, mesh_path=str(tmp_path / "sheet.obj"), maps=maps, pins=PinPreset.NONE
    )
    save_project(tmp_path / "a.sinew", Scene(nodes=(Node(id="c", name="Cloth", settings=settings),)), ViewState())
    threads = []
    monkeypatch.setattr(system, "_LARGE", 1)
    monkeypatch.setattr(system, "values_on", lambda *a: (threads.append(threading.current_thread()), values_on(*a))[1])
    editor = session.open(tmp_path / "a.sinew")
    simulation = editor.client.engine.simulation
    qtbot.waitUntil(lambda: picture(editor) is not None and simulation.systems["c"].is_ready, timeout=60000)
    assert threads
    assert threading.main_thread() not in threads
    found = simulation.systems["c"].cloth
    expected = nearest_vertices(found.topology.in_box, rows.in_box)
    assert found.values[ClothMap.PIN] == pytest.approx((rows.places[expected, 0] < 0.5).astype(float))
    assert not simulation.systems["c"].is_preparing
    set_values(editor, "c", maps=())
    settled(editor)
    assert simulation.systems["c"].cloth.values == {}
