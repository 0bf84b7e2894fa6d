"""What everything that is simulated has in common in the whole editor: mute and solo, and the transport."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.resources import path as resource
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, picture


def play(editor, steps):
    if not editor.playback.playhead.playing:
        editor.playback.toggle()
    for _ in range(steps):
        editor.playback._clock.now += 1.0 / 60.0
        editor.playback.tick()
    picture(editor)
    QApplication.processEvents()


def positions(editor, node):
    with editor.viewport.gl_current():
        return editor.client.engine.simulation.systems[node].arrays()["positions"].read()


@pytest.fixture
def two_cloths(fresh):
    """An editor with two sheets of cloth, the second one selected."""
    nodes = [fresh.edits.add("cloth"), fresh.edits.add("cloth")]
    for node in nodes:
        fresh.document.set_values({ParamRef(node, "cloth", name): 6 for name in ("columns", "rows")})
    fresh.document.undo_stack.clear()
    picture(fresh)
    return fresh, *nodes


@pytest.mark.parametrize(("action", "name", "muted"), [("node.mute", "muted", 1), ("node.solo", "solo", 0)])
def test_a_silent_cloth_stands_still_and_says_why(two_cloths, action, name, muted):
    editor, *nodes = two_cloths
    before = {node: positions(editor, node) for node in nodes}
    editor.window.actions_table[action].trigger()
    assert getattr(editor.document.scene.node(nodes[1]), name)
    assert editor.document.undo_stack.count() == 1
    play(editor, 10)
    moved = [not np.array_equal(positions(editor, node), before[node]) for node in nodes]
    assert moved == [muted != 0, muted != 1]
    editor.document.select(Selection(node=nodes[muted]))
    QApplication.processEvents()
    note = editor.panels.inspector.head.status.note
    assert note == ("Muted: it is not simulated." if muted else "Muted: another cloth is solo.")
    assert editor.panels.outliner.model.entry_of((nodes[muted],)).dim
    editor.document.undo_stack.undo()
    assert not getattr(editor.document.scene.node(nodes[1]), name)


def test_the_outliner_mutes_what_is_simulated(two_cloths):
    editor, node, _ = two_cloths
    editor.panels.outliner.mute_requested.emit(node, True)
    assert editor.document.scene.node(node).muted
    assert editor.document.undo_stack.undoText() == "Turn on muted of Cloth"


def test_the_transport_plays_a_scene_that_has_particles_alone(fresh, qtbot):
    Session(qtbot).load(fresh, resource("projects") / "fountain.sinew")
    picture(fresh)
    QApplication.processEvents()
    transport = fresh.timeline.transport
    assert all(button.isEnabled() for button in (transport.buttons[0], transport.buttons[4], transport.buttons[5]))
    fresh.playback.step_simulation()
    assert fresh.stepper.step_count == 1
    transport.buttons[4].click()
    play(fresh, 5)
    assert fresh.stepper.step_count == 6
    transport.buttons[0].click()
    assert fresh.stepper.step_count == 0
