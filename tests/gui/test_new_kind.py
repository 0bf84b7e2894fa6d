"""The examples of `tests/plugins` in the editor: menu, outliner, inspector, undo, file, bone, clock and mouse.

The other half is `tests/architecture/test_new_kind.py`.
"""

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from acme_ripple.kind import RIPPLE
from acme_rope.kind import ROPE
from sinew.sim.scene.params import Role
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import FactRow
from tests.gui.editor_harness import Clock, Mouse, place_of, play, positions, settled
from tests.plugins.packages import registered


@pytest.fixture
def roped(session, tiny):
    with registered(ROPE):
        editor = session.start(clock=Clock())
        session.load(editor, tiny)
        yield editor
        session.close_all()


def added(editor):
    editor.window.actions_table["add.rope"].trigger()
    QApplication.processEvents()
    return editor.document.selected


def test_it_is_added_edited_undone_saved_attached_played_and_dragged(session, roped, tmp_path):
    entry = next(action for action in roped.window.menus.add.actions() if action.objectName() == "add.rope")
    assert entry.text() == "&Rope"
    node = added(roped)
    assert roped.panels.outliner.model.entry_of((node.id,)).name == "rope"
    rows = {row.ref.name for row in roped.panels.inspector.tree.settings() if row.ref.part == "acme.rope"}
    assert rows == {"knots", "length", "radius", "drag", "field_weight", "colour"}
    roped.document.set_value(ParamRef(node.id, "acme.rope", "length"), 2.5)
    assert roped.document.undo_stack.undo_text == "Set length of rope"
    roped.document.undo_stack.undo()
    assert roped.document.scene.node(node.id).settings.length == 1.0
    roped.document.undo_stack.redo()
    scene = roped.document.scene
    assert roped.files.save_to(tmp_path / "a.sinew")
    session.load(roped, tmp_path / "a.sinew")
    assert roped.document.scene == scene
    assert not [m for m in roped.panels.messages.messages if "rope" in m.text]
    character = roped.document.scene.nodes[0]
    bone = roped.store.loaded(character.id).model.skeleton.names[-1]
    roped.document.select(Selection(node=character.id, bone=bone))
    node = added(roped)
    assert (node.attachment.node, node.attachment.bone) == (character.id, bone)
    records = {
        row.record.declared.role for row in roped.panels.inspector.tree.settings() if row.ref.part == "attachment"
    }
    assert records == {Role.CARRIER, Role.BONE}
    settled(roped)
    start = positions(roped, node.id)
    play(roped, 20)
    now = positions(roped, node.id)
    with roped.viewport.gl_current():
        place = roped.client.engine.views.places.world_from_node(node)[:3, 3]
    assert not np.array_equal(now, start)
    np.testing.assert_allclose(now[0], place, atol=1e-5)
    roped.playback.reset_simulation()
    roped.playback.pause()
    for other in roped.document.scene.nodes:
        roped.document.remove_node(other.id)
    node = added(roped)
    roped.document.select(Selection())
    roped.features["view"].frame_all()
    settled(roped)
    knot = positions(roped, node.id)[12]
    start = place_of(roped, knot)
    Mouse(roped.viewport).click(start)
    assert roped.document.selection.node == node.id
    roped.client.timing.wanted = True
    samples = []
    roped.client.measured.connect(samples.extend)
    for _ in range(12):
        play(roped, 1)
    assert any("rope" in part.path for sample in samples for part in sample.slices)
    roped.playback.reset_simulation()
    roped.playback.pause()
    settled(roped)
    mouse = Mouse(roped.viewport)
    mouse.press(start)
    for distance in (4.0, 30.0, 60.0):
        mouse.move(start + QPointF(distance, 0.0))
    assert roped.stepper.grab.node == node.id
    for _ in range(30):
        roped.playback._clock.now += 1.0 / 60.0
        roped.playback.tick()
    moved = positions(roped, node.id)[12]
    mouse.release(start + QPointF(60.0, 0.0))
    assert roped.stepper.grab is None
    assert np.linalg.norm(moved - knot) > 0.05


@pytest.fixture
def watered(session, tiny):
    with registered(RIPPLE):
        editor = session.start(clock=Clock())
        session.load(editor, tiny)
        yield editor
        session.close_all()


def test_a_kind_without_a_panel_shows_its_measures_and_offers_the_substeps_that_it_needs(watered):
    watered.window.actions_table["add.ripple"].trigger()
    QApplication.processEvents()
    node = watered.document.selected
    settled(watered)
    QApplication.processEvents()
    measures = [row for row in watered.panels.inspector.tree.all_items() if row.text(0) in ("Height", "Speed")]
    rows = [row for row in measures if isinstance(row, FactRow)]
    assert [(row.label, row.value) for row in rows] == [("Height", "0 m"), ("Speed", "0 m/s")]
    watered.document.set_value(ParamRef(node.id, "acme.ripple", "speed"), 20.0)
    settled(watered)
    QApplication.processEvents()
    head = watered.panels.inspector.head
    assert head.status.warning == "needs 17 substeps to be stable, not 4"
    assert head.remedy_button.text() == "Set substeps to 17"
    head.status.remedy.run()
    assert watered.document.selected.settings.substeps == 17
    settled(watered)
    QApplication.processEvents()
    assert (head.status.warning, head.status.remedy) == ("", None)
    watered.document.undo_stack.undo()
    assert watered.document.selected.settings.substeps == 4
