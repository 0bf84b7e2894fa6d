import re
import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew import resources
from sinew.sim.kinds.cloth import fitting
from sinew.sim.kinds.cloth.settings import ClothComparisonChoice, ClothLook, ClothSolving, ClothSource
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.render.render_view import DisplayOptions, Overlay
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.widgets.inspector.form import FactRow
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import SPRING_SHEET, Session, add_cloth, messages, play, set_values

SHEET = """v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 1 .5 0\ng flag\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"""


@pytest.fixture
def editor(fresh):
    set_values(fresh, add_cloth(fresh), **SPRING_SHEET)
    return fresh


def node(editor):
    return editor.document.scene.of_kind("cloth")[0]


def draw(editor):
    """Draws at once; a repaint may wait for the window system."""
    editor.viewport.grabFramebuffer()
    QApplication.processEvents()


def set_cloth(editor, **values):
    set_values(editor, node(editor).id, **values)


def system(editor):
    return editor.client.engine.simulation.systems[node(editor).id].cloth


def status(editor):
    return editor.panels.inspector.head.status


def meter(editor):
    return editor.kind_panels["cloth"].stability


def facts(editor):
    rows = [item for item in editor.panels.inspector.tree.all_items() if isinstance(item, FactRow)]
    return {item.text(0): item.text(1) for item in rows}


def wait_for_stability(qtbot, editor, substeps):
    def arrived():
        draw(editor)
        shown, settings = meter(editor), system(editor).settings
        expected = stability(system(editor).model, settings)
        return settings.substeps == substeps and shown is not None and shown.ratio == pytest.approx(expected.ratio)

    qtbot.waitUntil(arrived, timeout=60000)


def test_the_meter_shows_the_stability_of_the_selected_cloth_and_sets_substeps(qtbot, editor):
    wait_for_stability(qtbot, editor, 48)
    assert meter(editor).is_stable
    assert editor.kind_panels["cloth"].overlay.isVisible()
    set_cloth(editor, stretch_stiffness=30_000.0, substeps=4)
    wait_for_stability(qtbot, editor, 4)
    assert not meter(editor).is_stable
    before = editor.document.undo_stack.count()
    editor.kind_panels["cloth"].overlay.meter.substeps_action.trigger()
    assert editor.document.undo_stack.count() == before + 1
    substeps = node(editor).settings.substeps
    wait_for_stability(qtbot, editor, substeps)
    assert meter(editor).ratio <= 0.8
    editor.document.undo_stack.undo()
    assert node(editor).settings.substeps == 4
    cloth = node(editor).id
    editor.edits.select()
    assert not editor.kind_panels["cloth"].overlay.isVisible()
    editor.edits.select(cloth)
    draw(editor)
    assert editor.kind_panels["cloth"].overlay.isVisible()


@pytest.mark.slow
def test_a_fabric_is_softened_until_its_substeps_are_stable(qtbot, editor):
    set_cloth(editor, stretch_stiffness=30_000.0, substeps=4)
    wait_for_stability(qtbot, editor, 4)
    before, count = node(editor).settings, editor.document.undo_stack.count()
    editor.kind_panels["cloth"].overlay.meter.softer_action.trigger()
    assert editor.document.undo_stack.count() == count + 1
    assert editor.document.undo_stack.undo_text == "Soften Cloth"
    softer = node(editor).settings
    assert softer.substeps == 4
    ratio = softer.stretch_stiffness / before.stretch_stiffness
    assert 0.0 < ratio < 0.1
    assert softer.bend_stiffness / before.bend_stiffness == pytest.approx(ratio, rel=0.01)
    qtbot.waitUntil(lambda: meter(editor).ratio <= 0.8, timeout=60000)
    assert meter(editor).ratio > 0.75
    editor.document.undo_stack.undo()
    assert node(editor).settings == before


@pytest.mark.slow
def test_the_meter_of_lines_shows_what_load_the_substeps_hold(qtbot, editor):
    set_cloth(editor, solver=ClothSolving.LINES, stretch_stiffness=1e5, density=0.4, substeps=1)
    play(editor, 12)

    def arrived():
        draw(editor)
        return meter(editor) is not None and meter(editor).substeps > 1

    qtbot.waitUntil(arrived, timeout=60000)
    shown = editor.kind_panels["cloth"].overlay.meter
    assert re.fullmatch(r"load \d\.\d+, error [\d.]+ %", shown.bar.texts()[0])
    assert not shown.softer_action.isVisible()
    wanted = meter(editor).substeps
    shown.substeps_action.trigger()
    assert node(editor).settings.substeps == wanted


def test_counts_and_the_legend_of_the_strain(qtbot, editor):
    springs = f"{system(editor).model.springs.count:,}"
    assert facts(editor).items() >= {"Particles": "64", "Springs": springs, "Triangles": "98"}.items()
    assert facts(editor)["Mean distance"] == "–"
    set_cloth(editor, rival=ClothComparisonChoice.LINES, rival_substeps=6)
    play(editor, 8)

    def arrived():
        draw(editor)
        return facts(editor)["Strain of the other"].endswith(" %") and facts(editor)["Mean distance"].endswith(" mm")

    qtbot.waitUntil(arrived, timeout=60000)
    set_cloth(editor, rival=ClothComparisonChoice.NONE)
    set_cloth(editor, columns=10, look=ClothLook.STRAIN)
    draw(editor)
    assert facts(editor)["Particles"] == "80"
    assert editor.overlays.legend.isVisible()
    assert editor.overlays.legend.labels == ("0", "10", "20")
    assert editor.overlays.legend.accessibleName() == "Strain [%]: 0 to 20"
    set_cloth(editor, look=ClothLook.SURFACE)
    assert not editor.overlays.legend.isVisible()


def test_energies_are_plotted_while_it_plays(editor):
    editor.window.docks.reveal("plots")
    for _ in range(10):
        play(editor, 3)
    editor.kind_panels["cloth"].plots.redraw()
    time, total = editor.kind_panels["cloth"].plots.curves["total"].getOriginalDataset()
    assert len(time) >= 2
    statistics = system(editor).statistics
    assert time[-1] == statistics.time <= 1.0
    assert total[-1] == pytest.approx(statistics.kinetic + statistics.elastic + statistics.potential)
    editor.edits.select()
    assert editor.kind_panels["cloth"].plots.empty.isVisible()


def test_a_cloth_waits_for_its_mesh(qtbot, editor, tmp_path):
    set_cloth(editor, source=ClothSource.MESH, mesh_path="", mesh_section="")
    draw(editor)
    assert status(editor).note == "Choose a mesh file."
    path, broken = tmp_path / "sheet.obj", tmp_path / "broken.obj"
    path.write_text(SHEET, encoding="utf-8")
    set_cloth(editor, mesh_path=str(path))
    assert status(editor).note == f"Reading {path}"
    qtbot.waitUntil(lambda: path in editor.scene_files.assets.meshes, timeout=60000)
    draw(editor)
    assert status(editor).note == ""
    assert system(editor).model.particle_count == 5
    assert editor.scene_files.section_names(str(path)) == ("flag",)
    broken.write_text("v 1 2\n", encoding="utf-8")
    with qtbot.waitSignal(editor.scene_files.failed, timeout=60000):
        set_cloth(editor, mesh_path=str(broken))
    draw(editor)
    assert status(editor).note == f"{broken}: line 1: v has 2 numbers, 3 are needed"
    set_cloth(editor, texture="")
    assert messages(editor, Severity.ERROR) == ["line 1: v has 2 numbers, 3 are needed"], "once"
    set_cloth(editor, source=ClothSource.GRID)
    assert editor.scene_files.assets.meshes == {}


def test_a_section_of_the_model_becomes_cloth(qtbot, fresh, arm):
    editor = fresh
    Session(qtbot).load(editor, arm)
    model = editor.document.scene.of_kind("model")[0]
    editor.document.set_value(ParamRef(model.id, "transform", "position"), (0.0, 2.0, 0.0))
    menu = next(a.menu() for a in editor.window.menus.add.actions() if a.text() == "Cl&oth from Section")
    menu.aboutToShow.emit()
    (action,) = menu.actions()
    action.trigger()
    qtbot.waitUntil(lambda: bool(editor.document.scene.of_kind("cloth")), timeout=60000)
    draw(editor)
    cloth = system(editor).model
    box = editor.client.engine.model_of(model.id).mesh.bounds
    np.testing.assert_allclose(cloth.positions.min(axis=0), box.lo + np.array([0.0, 2.0, 0.0]), atol=1e-5)
    np.testing.assert_allclose(cloth.positions.max(axis=0), box.hi + np.array([0.0, 2.0, 0.0]), atol=1e-5)
    assert node(editor).attachment == Attachment(node=model.id)
    np.testing.assert_allclose(node(editor).transform.position, (0.0, 0.0, 0.0), atol=1e-9)
    section = node(editor).settings.mesh_section
    assert editor.document.scene.node(model.id).settings.hidden_sections == section
    surface, *_ = editor.client.engine.views.view(model.id).parts(DisplayOptions(editor.document.scene.view, Overlay()))
    assert surface.ranges == ()
    editor.document.undo_stack.undo()
    assert editor.document.scene.of_kind("cloth") == ()
    assert editor.document.scene.node(model.id).settings.hidden_sections == ""


@pytest.mark.slow
def test_a_garment_is_shown_once_it_is_fitted_without_another_event(fresh, qtbot, monkeypatch):
    Session(qtbot).load(fresh, resources.path("models") / "humanoid" / "humanoid.ezm")
    fit, may_fit = fitting.dressed, threading.Event()
    monkeypatch.setattr(fitting, "dressed", lambda *given: may_fit.wait(60.0) and fit(*given))
    skirt = fresh.edits.add("skirt")
    qtbot.waitUntil(lambda: not fresh.stepper.is_waiting, timeout=60000)
    qtbot.wait(1000)  # until the frames of the edit are drawn
    assert skirt in fresh.client.engine.simulation.progress, "else no frame is asked for once it is fitted"
    may_fit.set()
    qtbot.waitUntil(lambda: fresh.client.engine.simulation.systems[skirt].is_ready, timeout=60000)
