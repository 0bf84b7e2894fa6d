"""Ghosts over the viewport: of kept steps and of the bake, from every kind, and without a trace in what is shown."""

import msgspec
import numpy as np
import pytest

from sim.scene.scene import PLAYBACK, VIEW, ParamRef
from sim.scene.view import ViewSettings
from sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, picture

STEP = 10


@pytest.fixture
def stage(fresh, arm, qtbot):
    """An arm, a small cloth and sparks of a bone, with 20 steps that are kept; step 10 is shown."""
    Session(qtbot).load(fresh, arm)
    figure, bone = fresh.active.node.id, fresh.active.model.skeleton.names[-1]
    fresh.edits.add("cloth")
    cloth = fresh.document.selection.node
    fresh.document.set_values({ParamRef(cloth, "cloth", name): 8 for name in ("columns", "rows")})
    fresh.document.select(Selection(node=figure, bone=bone))
    sparks = fresh.edits.add("emitter.sparks")
    fresh.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 10)
    fresh.document.select(Selection())
    picture(fresh)
    simulate(fresh, qtbot)
    return fresh, figure, cloth, sparks


def simulate(editor, qtbot):
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=20000):
        editor.seek.start()
    editor.playback.scrub(STEP / 60)
    picture(editor)


def show(editor, **values):
    """Sets what is shown of ghosts, and waits until all are drawn."""
    editor.document.set_values({ParamRef(VIEW, VIEW, name): value for name, value in values.items()})
    return settled(editor)


def settled(editor):
    picture(editor)
    ghosts = editor.client.ghosts
    for _ in range(200):
        if not ghosts.is_due:
            break
        picture(editor)
    assert not ghosts.is_due
    return picture(editor)


def bits(editor):
    with editor.viewport.gl_current():
        return msgspec.msgpack.decode(editor.client.engine.state())


def changed(one, other):
    return int((np.abs(one.astype(int) - other).max(axis=2) > 3).sum())


def test_what_moves_is_seen_before_and_after_and_leaves_no_trace(stage):
    editor, figure, cloth, sparks = stage
    plain, state = picture(editor), bits(editor)
    assert editor.client.ghosts._engine is None, "costs nothing while it is off"
    undo = editor.document.undo_stack.count()
    everything = show(editor, ghosts=True)
    assert changed(everything, plain) > 500
    by_node = {}
    for node in (figure, cloth, sparks):
        editor.document.select(Selection(node=node))
        with_ghosts = settled(editor)
        editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), False)
        without = picture(editor)
        by_node[node] = changed(with_ghosts, without)
        editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), True)
    assert all(count > 20 for count in by_node.values()), by_node
    editor.document.select(Selection())
    assert changed(settled(editor), everything) == 0, "the same picture again"
    more = show(editor, ghost_count=1, ghost_spacing=4)
    assert changed(more, plain) > 0
    assert changed(more, everything) > 0
    assert bits(editor) == state
    assert changed(show(editor, ghosts=False), plain) == 0
    assert editor.client.ghosts._engine is None
    assert bits(editor) == state
    assert editor.document.undo_stack.count() == undo, "how it looks is not in the history"


def test_only_kept_steps_have_ghosts_and_none_are_drawn_while_it_plays(stage, qtbot):
    editor, *_ = stage
    show(editor, ghosts=True, ghost_count=3, ghost_spacing=2)
    assert sorted(ghost.step for ghost in editor.client.ghosts._wanted) == [2, 6, 10, 14, 18]
    editor.playback.scrub(20 / 60)
    settled(editor)
    assert sorted(ghost.step for ghost in editor.client.ghosts._wanted) == [8, 12, 16, 20], "the scene ends"
    made = {ghost.step for ghost, _ in editor.client.ghosts._made}
    assert made == {8, 12, 16, 20}
    editor.playback.toggle()
    picture(editor)
    assert editor.client.ghosts._wanted == []
    editor.playback.pause()


def test_they_are_saved_with_the_project(stage, tmp_path, qtbot):
    editor, *_ = stage
    show(editor, ghosts=True, ghost_count=5)
    editor.files.save_to(tmp_path / "a.sinew")
    Session(qtbot).load(editor, tmp_path / "a.sinew")
    view = editor.document.scene.view
    assert (view.ghosts, view.ghost_count, view.ghost_spacing) == (True, 5, ViewSettings().ghost_spacing)
    show(editor, ghosts=False)


def test_the_bake_is_drawn_over_what_is_simulated_and_the_distance_is_told(stage, tmp_path, qtbot, monkeypatch):
    editor, _, cloth, _ = stage
    told = []
    monkeypatch.setattr(editor.client.ghosts, "_told", told.append)
    editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(editor.baking.ended, timeout=20000):
        editor.baking.start()
    editor.baking.free()
    simulate(editor, qtbot)
    show(editor, bake_ghost=True)
    assert told[-1].startswith("cloth is 0 mm from its bake at most, 0 mm in the mean")
    baked = positions(editor, cloth)
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 1.0))
    simulate(editor, qtbot)
    plain = show(editor, bake_ghost=False)
    shown = show(editor, bake_ghost=True)
    assert changed(shown, plain) > 100
    ways = np.linalg.norm(positions(editor, cloth) - baked, axis=-1)
    assert told[-1].startswith(f"cloth is {ways.max() * 1e3:.3g} mm from its bake at most, {ways.mean() * 1e3:.3g} mm")
    show(editor, bake_ghost=False)


def positions(editor, node):
    with editor.viewport.gl_current():
        return editor.client.engine.simulation.systems[node].arrays()["positions"].read().astype(np.float64)
