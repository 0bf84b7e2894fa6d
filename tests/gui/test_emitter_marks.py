"""Emitters in the viewport: their stars are clicked, their particles counted."""

from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Mouse, picture, place_of


def test_a_click_on_the_star_selects_the_emitter(session):
    editor = session.start()
    editor.window.actions_table["add.emitter"].trigger()
    (node,) = editor.document.scene.of_kind("emitter")
    editor.document.set_value(ParamRef(node.id, "transform", "position"), (0.0, 1.0, 0.0))
    editor.document.select(Selection())
    picture(editor)
    star, mouse = place_of(editor, (0.0, 1.0, 0.0)), Mouse(editor.viewport)
    hints = []
    editor.tools.hint.connect(hints.append)
    mouse.hover(star)
    assert hints[-1] == f"{node.name}: click to select"
    mouse.click(star)
    assert editor.document.selection == Selection(node=node.id)
    mouse.click(place_of(editor, (0.0, 1.6, 0.0)))
    assert editor.document.selection.node is None
    editor.document.set_value(ParamRef(node.id, "node", "visible"), False)
    picture(editor)
    mouse.click(star)
    assert editor.document.selection.node is None


def test_the_statistics_count_particles_where_there_are_emitters(session):
    editor = session.start()
    picture(editor)
    assert "Particles" not in dict(editor.overlays.statistics.rows())
    editor.window.actions_table["add.emitter"].trigger()
    for _ in range(30):
        editor.window.actions_table["simulate.step"].trigger()
        picture(editor)
    with editor.viewport.gl_current():
        living = editor.client.engine.simulation.systems[editor.document.selected.id].emitter.count()
    assert living > 100
    assert picture(editor).any()
    assert dict(editor.overlays.statistics.rows())["Particles"] == f"{living:,}"
