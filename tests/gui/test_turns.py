"""Work of one turn of the event loop is done once, and only where something changed."""

from sinew.app.session.actions import Actions
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.run.engine import Engine
from sinew.sim.scene.scene import ParamRef
from sinew.widgets.inspector.form_tree import FormTree
from tests.gui.editor_harness import picture


def counted(monkeypatch, cls, name):
    calls, plain = [], getattr(cls, name)
    monkeypatch.setattr(cls, name, lambda one, *rest: (calls.append(rest), plain(one, *rest))[1])
    return calls


def dim(editor, value):
    light = editor.document.scene.of_kind("light")[0]
    editor.document.set_value(ParamRef(light.id, "light", "intensity"), value)


def test_a_frame_applies_the_scene_once(editor, qtbot, monkeypatch):
    monkeypatch.setattr(editor.frames, "drawn", True)
    picture(editor)
    pictures = editor.client.engine.pictures
    qtbot.waitUntil(lambda: pictures.is_complete and pictures.pending is None, timeout=60000)
    applied, painted = counted(monkeypatch, Engine, "apply"), counted(monkeypatch, ViewportRenderer, "gl_draw")

    def paint():
        """Paints one frame; Qt delays it until the frame before is shown."""
        painted.clear()
        applied.clear()
        editor.viewport.update()
        qtbot.waitUntil(lambda: bool(painted), timeout=60000)

    paint()
    assert len(applied) == len(painted) == 1
    dim(editor, 0.5)
    paint()
    assert len(applied) == len(painted) == 1
    assert editor.client.engine.applied.allowed is editor.document.scene


def test_states_of_actions_follow_several_edits_at_once(editor, qtbot, monkeypatch):
    table = editor.window.actions_table
    refreshed = counted(monkeypatch, Actions, "refresh")
    for value in (0.5, 0.6, 0.7):
        dim(editor, value)
    assert () not in refreshed
    assert table["edit.undo"].isEnabled()
    assert refreshed.count(()) == 1, "who asks for an action gets its present state"
    dim(editor, 0.8)
    qtbot.waitUntil(lambda: refreshed.count(()) == 2, timeout=60000)
    editor.edits.select()
    assert refreshed.count(()) == 3, "a selection is followed at once"


def test_rows_of_the_inspector_are_hidden_anew_only_when_others_have_no_effect(editor, monkeypatch):
    editor.edits.select(editor.document.scene.of_kind("light")[0].id)
    picture(editor)
    hidden = counted(monkeypatch, FormTree, "hide_settings")
    dim(editor, 0.5)
    assert hidden == []
