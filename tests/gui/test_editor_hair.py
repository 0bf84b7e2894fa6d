import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form
from sinew.sim.kinds.hair import generation as growing
from sinew.sim.kinds.hair.settings import HairDisplay, HairSolver, HairSource
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, set_values, settled, trigger
from tests.strand_samples import arcs, hair_bytes


@pytest.fixture
def editor(fresh, tiny, qtbot):
    Session(qtbot).load(fresh, tiny)
    return fresh


def added(editor, action="add.hair"):
    trigger(editor, action)
    set_values(editor, editor.document.selection.node, guides=20, children=60)
    QApplication.processEvents()
    return editor.document.selected


def strands_of(editor, node):
    settled(editor)
    return editor.client.engine.simulation.systems[node.id].strands


@pytest.mark.slow
def test_it_grows_on_the_selection(editor):
    character = editor.document.scene.nodes[0]
    editor.document.select(Selection())
    on_ball = added(editor)
    assert on_ball.settings.source is HairSource.ELLIPSOID
    editor.document.select(Selection(node=character.id))
    on_model = added(editor, "add.hair.short-fur")
    assert (on_model.attachment.node, on_model.settings.source) == (character.id, HairSource.FACES)
    bone = editor.store.loaded(character.id).model.skeleton.names[-1]
    editor.document.select(Selection(node=character.id, bone=bone))
    on_bone = added(editor)
    assert (on_bone.settings.density_bone, on_bone.attachment.bone) == (bone, "")
    assert all(strands_of(editor, node) is not None for node in (on_ball, on_model, on_bone))
    editor.kind_panels["hair"].add_on_section(editor.store.loaded(character.id).model.mesh.sections[0].name)
    on_section = editor.document.selected
    set_values(editor, on_section.id, guides=20, children=60)
    assert strands_of(editor, on_section) is not None
    assert on_section.settings.density_section
    assert not editor.panels.messages.messages


def test_it_is_changed_undone_saved_and_read_again(editor, tmp_path, qtbot):
    node = added(editor)
    first = strands_of(editor, node)
    rows = {row.ref.name for row in editor.panels.inspector.tree.settings() if row.ref.part == "hair"}
    assert {"solver", "bending_length", "root_colour"} <= rows
    for name, value in (("curl_radius", 0.01), ("solver", HairSolver.LAYERS), ("show", HairDisplay.BEND)):
        editor.document.set_value(ParamRef(node.id, "hair", name), value)
        assert strands_of(editor, node) is first
    assert editor.kind_panels["hair"].legend().title == "Bend"
    editor.document.set_value(ParamRef(node.id, "hair", "knots"), 7)
    assert strands_of(editor, node).settings.knots == 7
    scene = editor.document.scene
    assert editor.files.save_to(tmp_path / "a.sinew")
    for _ in range(4):
        editor.document.undo_stack.undo()
    assert editor.document.scene.node(node.id).settings == node.settings
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(tmp_path / "a.sinew")
    assert editor.document.scene == scene


def test_a_lost_model_is_reported_and_unstable_springs_have_a_remedy(editor):
    character = editor.document.scene.nodes[0]
    editor.document.select(Selection(node=character.id))
    node = added(editor)
    panel = editor.kind_panels["hair"]
    assert strands_of(editor, node) is not None
    assert panel.note(node, editor.client.engine.simulation.systems.get(node.id)) == ""
    wild = {"solver": HairSolver.SPRINGS, "spring_stiffness": 1e4, "substeps": 1}
    for name, value in wild.items():
        editor.document.set_value(ParamRef(node.id, "hair", name), value)
    node = editor.document.scene.node(node.id)
    remedy = panel.remedy(node, None)
    remedy.run()
    node = editor.document.scene.node(node.id)
    assert remedy.text == f"Set substeps to {node.settings.substeps}"
    assert panel.remedy(node, None) is None
    editor.document.remove_node(character.id)
    settled(editor)
    assert "no longer in the scene" in panel.note(editor.document.scene.node(node.id), None)


def test_former_strands_are_shown_while_others_grow(editor, qtbot):
    node = added(editor)
    first = strands_of(editor, node)
    engine = editor.client.engine
    editor.playback.toggle()
    editor.document.set_value(ParamRef(node.id, "hair", "length"), 0.6)
    with editor.viewport.gl_current():
        editor.client.prepare()
    # Their settings and cached steps stay active until the others have grown.
    assert engine.simulation.systems[node.id].strands is first
    assert engine.world.active_settings[node.id].length == first.settings.length
    qtbot.waitUntil(lambda: engine.simulation.systems[node.id].strands is not first, timeout=60000)
    editor.playback.toggle()
    assert engine.simulation.systems[node.id].strands.settings.length == 0.6
    assert not engine.world.active_settings
    editor.document.set_value(ParamRef(node.id, "hair", "length"), 0.7)
    editor.document.set_value(ParamRef(node.id, "hair", "length"), 0.6)
    assert strands_of(editor, node).settings.length == 0.6


@pytest.mark.slow
def test_slow_growth_shows_progress_and_is_cancelled(editor, qtbot, monkeypatch):
    node = added(editor)
    first = strands_of(editor, node)
    system, panel = editor.client.engine.simulation.systems.get(node.id), editor.kind_panels["hair"]
    qtbot.waitUntil(lambda: not editor.window._cancel.isVisible(), timeout=60000)
    go_on, grow = threading.Event(), growing.grown_whole

    def slow(*args, pause):
        while not go_on.wait(0.005):
            pause(0.4)
        return grow(*args, pause=pause)

    monkeypatch.setattr(growing, "grown_whole", slow)
    editor.document.set_value(ParamRef(node.id, "hair", "seed"), 9)
    qtbot.waitUntil(lambda: editor.window._cancel.isVisible(), timeout=60000)
    assert editor.window._loading.text() == f"Preparing {node.name}"
    assert editor.window._bar.value() == 40
    qtbot.mouseClick(editor.window._cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not editor.window._cancel.isVisible(), timeout=60000)
    assert system.strands is first
    changed = editor.document.scene.node(node.id)
    assert "was cancelled" in panel.note(changed, system)
    go_on.set()
    panel.remedy(changed, system).run()
    qtbot.waitUntil(lambda: system.strands is not first, timeout=60000)
    assert system.strands.settings.seed == 9
    assert panel.note(changed, system) == ""


@pytest.mark.slow
def test_a_dropped_file_is_read_saved_and_located_again(editor, tmp_path, qtbot, monkeypatch):
    character = editor.document.scene.nodes[0]
    path = tmp_path / "curls.hair"
    path.write_bytes(hair_bytes(list(arcs())))
    assert editor.files.drop_text([path]) == "Drop to add curls.hair to the scene"
    editor.files.drop([path])
    node = editor.document.selected
    assert (node.settings.source, node.attachment.node, node.name) == (HairSource.FILE, character.id, "curls")
    qtbot.waitUntil(lambda: path in editor.scene_files.assets.strands, timeout=60000)
    assert strands_of(editor, node).growth.guides.count == 5
    assert {"guides", "comb", "density_texture"} <= KINDS["hair"].part(Form).idle(node)
    project = tmp_path / "a.sinew"
    assert editor.files.save_to(project)
    assert '"file": "curls.hair"' in project.read_text()
    editor.document.undo_stack.undo()
    assert not editor.document.scene.has(node.id)
    path.rename(tmp_path / "other.hair")
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(project)
    qtbot.waitUntil(lambda: bool(editor.scene_files.fault_of(str(path))), timeout=60000)
    lines = [message.line() for message in editor.panels.messages.messages if "curls.hair" in message.line()]
    assert len(lines) == 1
    assert "no such file" in lines[0]
    editor.document.select(Selection(node=node.id))
    settled(editor)
    panel = editor.kind_panels["hair"]
    remedy = panel.remedy(editor.document.selected, None)
    assert remedy.text == "Locate…"
    monkeypatch.setattr(editor.dialogs, "strands_path", lambda _: tmp_path / "other.hair")
    remedy.run()
    qtbot.waitUntil(lambda: tmp_path / "other.hair" in editor.scene_files.assets.strands, timeout=60000)
    assert strands_of(editor, node).growth.guides.count == 5
