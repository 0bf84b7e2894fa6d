"""Hair in the whole editor: added to what is selected, changed, undone, saved, muted, and without its model."""

import pytest
from PySide6.QtWidgets import QApplication

from sim.kinds.hair.settings import HairShow, HairSolver, HairSource
from sim.scene.scene import ParamRef
from sim.scene.view_state import Selection
from tests.gui.editor_harness import Clock, picture


@pytest.fixture
def editor(session, tiny):
    """An editor with a small figure."""
    made = session.start(clock=Clock())
    session.load(made, tiny)
    return made


def added(editor, action="add.hair"):
    editor.window.actions_table[action].trigger()
    QApplication.processEvents()
    return editor.document.selected


def strands_of(editor, node):
    picture(editor)
    return editor.client.engine.system(node.id).strands


def test_it_grows_on_what_is_selected(editor):
    figure = editor.document.scene.nodes[0]
    editor.document.select(Selection())
    on_ball = added(editor)
    assert on_ball.settings.source is HairSource.ELLIPSOID
    editor.document.select(Selection(node=figure.id))
    on_model = added(editor, "add.hair.short-fur")
    assert (on_model.attachment.node, on_model.settings.source) == (figure.id, HairSource.FACES)
    bone = editor.store.loaded(figure.id).model.skeleton.names[-1]
    editor.document.select(Selection(node=figure.id, bone=bone))
    on_bone = added(editor)
    assert (on_bone.settings.density_bone, on_bone.attachment.bone) == (bone, "")
    assert all(strands_of(editor, node) is not None for node in (on_ball, on_model, on_bone))
    editor.rooms["hair"].add_on_section(editor.store.loaded(figure.id).model.mesh.sections[0].name)
    on_section = editor.document.selected
    assert strands_of(editor, on_section) is not None
    assert on_section.settings.density_section
    assert not editor.panels.messages.model.messages


def test_it_is_changed_undone_saved_and_read_again(editor, tmp_path, qtbot):
    node = added(editor)
    first = strands_of(editor, node)
    rows = {row.ref.name for row in editor.panels.inspector.tree.settings() if row.ref.part == "hair"}
    assert {"solver", "bending_length", "root_colour"} <= rows
    for name, value in (("curl_radius", 0.01), ("solver", HairSolver.LAYERS), ("show", HairShow.BEND)):
        editor.document.set_value(ParamRef(node.id, "hair", name), value)
        assert strands_of(editor, node) is first
    assert editor.rooms["hair"].legend().title == "Bend"
    editor.document.set_value(ParamRef(node.id, "hair", "knots"), 7)
    assert strands_of(editor, node).settings.knots == 7
    scene = editor.document.scene
    assert editor.files.save_to(tmp_path / "a.sinew")
    for _ in range(4):
        editor.document.undo_stack.undo()
    assert editor.document.scene.node(node.id).settings == node.settings
    with qtbot.waitSignal(editor.files.opened, timeout=20000):
        editor.files.open(tmp_path / "a.sinew")
    assert editor.document.scene == scene


def test_without_its_model_it_says_so_and_wild_springs_have_a_remedy(editor):
    figure = editor.document.scene.nodes[0]
    editor.document.select(Selection(node=figure.id))
    node = added(editor)
    panel = editor.rooms["hair"]
    assert panel.note(node, editor.client.engine.system(node.id)) == ""
    wild = {"solver": HairSolver.SPRINGS, "spring_stiffness": 1e4, "substeps": 1}
    for name, value in wild.items():
        editor.document.set_value(ParamRef(node.id, "hair", name), value)
    node = editor.document.scene.node(node.id)
    remedy = panel.remedy(node, None)
    remedy.run()
    node = editor.document.scene.node(node.id)
    assert remedy.text == f"Set substeps to {node.settings.substeps}"
    assert panel.remedy(node, None) is None
    editor.document.remove_node(figure.id)
    picture(editor)
    assert "no longer in the scene" in panel.note(editor.document.scene.node(node.id), None)
