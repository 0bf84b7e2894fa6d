"""What the editor shows of the selected cloth, and what can be done with it there."""

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from sinew.sim.kinds.cloth.kind import PRESETS
from sinew.sim.kinds.cloth.settings import ClothLook, ClothSource
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.render.render_view import DisplayOptions, Overlay
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.widgets.inspector.form import FactRow
from sinew.widgets.messages import Severity

SHEET = """v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 1 .5 0\ng flag\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"""


@pytest.fixture
def clock(one_editor):
    return one_editor.playback._clock


def with_sheet(editor):
    """This editor with a small sheet of cloth."""
    editor.edits.add("cloth")
    set_cloth(editor, columns=8, rows=8)
    draw(editor)
    return editor


@pytest.fixture
def editor(fresh):
    return with_sheet(fresh)


def node(editor):
    return editor.document.scene.of_kind("cloth")[0]


def draw(editor):
    """Draws at once; a repaint may wait for the window system."""
    editor.viewport.grabFramebuffer()
    QApplication.processEvents()


def set_cloth(editor, **values):
    editor.document.set_values({ParamRef(node(editor).id, "cloth", name): value for name, value in values.items()})


def system(editor):
    return editor.client.engine.simulation.systems[node(editor).id].cloth


def positions(editor):
    with editor.viewport.gl_current():
        return system(editor).positions()


def status(editor):
    return editor.panels.inspector.head.status


def meter(editor):
    return editor.kind_panels["cloth"].stability


def facts(editor):
    rows = [item for item in editor.panels.inspector.tree.all_items() if isinstance(item, FactRow)]
    return {item.text(0): item.text(1) for item in rows}


def run(editor, clock, seconds):
    """Plays for a while of simulated time, with pictures in between."""
    if not editor.playback.playhead.playing:
        editor.playback.toggle()
    for _ in range(round(seconds * 20)):
        clock.now += 0.05
        editor.playback.tick()
        draw(editor)
        QApplication.processEvents()


def messages(editor, severity=Severity.WARNING):
    return [message.text for message in editor.panels.messages.messages if message.severity is severity]


def wait_for_stability(qtbot, editor, substeps):
    """Waits until the meter shows the cloth with this many substeps."""

    def arrived():
        draw(editor)
        shown, settings = meter(editor), system(editor).settings
        expected = stability(system(editor).model, settings)
        return settings.substeps == substeps and shown is not None and shown.ratio == pytest.approx(expected.ratio)

    qtbot.waitUntil(arrived, timeout=60000)


def test_the_meter_follows_the_substeps_and_mends_them_in_one_edit(qtbot, editor):
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


def test_a_fabric_is_softened_in_one_edit_until_the_substeps_of_now_hold_it(qtbot, editor):
    set_cloth(editor, stretch_stiffness=30_000.0, substeps=4)
    wait_for_stability(qtbot, editor, 4)
    before, count = node(editor).settings, editor.document.undo_stack.count()
    editor.kind_panels["cloth"].overlay.meter.softer_action.trigger()
    assert editor.document.undo_stack.count() == count + 1
    assert editor.document.undo_stack.undoText() == "Soften Cloth"
    softer = node(editor).settings
    assert softer.substeps == 4
    ratio = softer.stretch_stiffness / before.stretch_stiffness
    assert 0.0 < ratio < 0.1
    assert softer.bend_stiffness / before.bend_stiffness == pytest.approx(ratio, rel=0.01)
    qtbot.waitUntil(lambda: meter(editor).ratio <= 0.8, timeout=60000)
    assert meter(editor).ratio > 0.75
    editor.document.undo_stack.undo()
    assert node(editor).settings == before


def test_the_meter_goes_with_the_selection(qtbot, editor):
    wait_for_stability(qtbot, editor, 48)
    editor.edits.select()
    assert not editor.kind_panels["cloth"].overlay.isVisible()
    editor.edits.select(node(editor).id)
    draw(editor)
    assert editor.kind_panels["cloth"].overlay.isVisible()


def test_the_counts_are_those_of_the_simulation(editor):
    springs = f"{system(editor).model.springs.count:,}"
    assert facts(editor) == {"Particles": "64", "Springs": springs, "Triangles": "98"}
    set_cloth(editor, columns=10)
    draw(editor)
    assert facts(editor)["Particles"] == "80"


def test_the_legend_of_the_strain_is_in_percent(editor):
    assert not editor.overlays.legend.isVisible()
    set_cloth(editor, look=ClothLook.STRAIN)
    assert editor.overlays.legend.isVisible()
    assert editor.overlays.legend.labels() == ("0", "10", "20")
    assert editor.overlays.legend.accessibleName() == "Strain [%]: 0 to 20"
    set_cloth(editor, look=ClothLook.SURFACE)
    assert not editor.overlays.legend.isVisible()


def test_the_plots_record_while_it_plays(editor, clock):
    editor.window.docks.reveal("plots")
    run(editor, clock, 1.0)
    editor.kind_panels["cloth"].plots.redraw()
    time, total = editor.kind_panels["cloth"].plots.curves["total"].getOriginalDataset()
    assert len(time) >= 2
    statistics = system(editor).statistics
    assert time[-1] == statistics.time <= 1.0
    assert total[-1] == pytest.approx(statistics.kinetic + statistics.elastic + statistics.potential)
    editor.edits.select()
    assert editor.kind_panels["cloth"].plots.empty.isVisible()


# --- a cloth that blows up ----------------------------------------------------------------------------


@pytest.fixture
def stopped(editor, clock):
    """The cloth of the editor, blown up."""
    set_cloth(editor, stretch_stiffness=30_000.0, substeps=1)
    run(editor, clock, 1.0)
    assert system(editor).stopped
    return editor


def test_a_stopped_cloth_is_told_with_an_offer(stopped):
    (text,) = messages(stopped)
    assert text.startswith("Cloth: stopped at ")
    assert text.endswith("Reset or resume it in the inspector.")
    assert stopped.panels.inspector.head.notice.isVisible()


def test_resume_goes_on_from_the_last_good_state(stopped):
    place = positions(stopped)
    set_cloth(stopped, stretch_stiffness=100.0, substeps=48)
    stopped.panels.inspector.head.resume_button.click()
    assert system(stopped).stopped == ""
    np.testing.assert_array_equal(positions(stopped), place)
    draw(stopped)
    assert not stopped.panels.inspector.head.notice.isVisible()


def test_reset_brings_it_back_to_the_start(stopped):
    stopped.panels.inspector.head.reset_button.click()
    assert system(stopped).stopped == ""
    assert system(stopped).step_count == 0
    np.testing.assert_allclose(positions(stopped), system(stopped).model.positions, atol=1e-6)


# --- presets ------------------------------------------------------------------------------------------


def test_a_preset_is_one_edit(editor):
    before, count = node(editor).settings, editor.document.undo_stack.count()
    editor.panels.inspector.head.presets.chosen.emit("Denim")
    assert {name: getattr(node(editor).settings, name) for name in PRESETS["Denim"]} == PRESETS["Denim"]
    assert editor.panels.inspector.head.presets.combo.currentText() == "Denim"
    assert editor.document.undo_stack.count() == count + 1
    assert editor.document.undo_stack.undoText() == "Use Denim for Cloth"
    editor.document.undo_stack.undo()
    assert node(editor).settings == before
    assert editor.panels.inspector.head.presets.combo.currentIndex() == -1


def test_own_presets_are_there_at_the_next_start(session):
    editor = with_sheet(session.start())
    set_cloth(editor, density=0.77)
    bar = editor.panels.inspector.head.presets
    bar.saved.emit("Heavy")
    assert bar.combo.currentText() == "Heavy"
    editor.document.undo_stack.setClean()
    session.close(editor)
    second = session.start()
    second.edits.add("cloth")
    bar = second.panels.inspector.head.presets
    assert bar.combo.findText("Heavy") >= 0
    bar.chosen.emit("Heavy")
    assert node(second).settings.density == 0.77
    bar.deleted.emit("Heavy")
    assert bar.combo.findText("Heavy") == -1


def test_a_shipped_name_cannot_be_taken(editor):
    editor.panels.inspector.head.presets.saved.emit("Silk")
    assert messages(editor, Severity.ERROR) == ["Silk is a preset of Sinew; choose another name"]


# --- files --------------------------------------------------------------------------------------------


def make_mesh(editor, path):
    set_cloth(editor, source=ClothSource.MESH, mesh_path=str(path), mesh_section="")
    draw(editor)


def test_a_cloth_waits_for_its_mesh(qtbot, editor, tmp_path):
    path = tmp_path / "sheet.obj"
    path.write_text(SHEET, encoding="utf-8")
    set_cloth(editor, source=ClothSource.MESH, mesh_path=str(path), mesh_section="")
    assert status(editor).note == f"Reading {path}"
    qtbot.waitUntil(lambda: path in editor.scene_files.assets.meshes, timeout=60000)
    draw(editor)
    assert status(editor).note == ""
    assert system(editor).model.particle_count == 5
    assert editor.scene_files.section_names(str(path)) == ("flag",)
    set_cloth(editor, source=ClothSource.GRID)
    assert editor.scene_files.assets.meshes == {}


def test_a_cloth_without_a_file_says_what_it_needs(editor):
    make_mesh(editor, "")
    assert status(editor).note == "Choose a mesh file."


def test_a_mesh_that_cannot_be_read_is_told_once(qtbot, editor, tmp_path):
    path = tmp_path / "broken.obj"
    path.write_text("v 1 2\n", encoding="utf-8")
    with qtbot.waitSignal(editor.scene_files.failed, timeout=60000):
        make_mesh(editor, path)
    draw(editor)
    assert messages(editor, Severity.ERROR) == ["line 1: v has 2 numbers, 3 are needed"]
    assert status(editor).note == f"{path}: line 1: v has 2 numbers, 3 are needed"
    set_cloth(editor, texture="")
    assert len(messages(editor, Severity.ERROR)) == 1


def test_a_texture_arrives(qtbot, editor, tmp_path):
    path = tmp_path / "fabric.png"
    Image.new("RGB", (2, 2), (10, 200, 30)).save(path)
    set_cloth(editor, texture=str(path))
    qtbot.waitUntil(lambda: path in editor.scene_files.assets.textures, timeout=60000)
    assert editor.scene_files.assets.textures[path].pixels[0, 0].tolist() == [10, 200, 30, 255]


def test_a_section_of_the_model_becomes_cloth(qtbot, session, arm):
    editor = session.open(arm)
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
