import numpy as np
import pytest
from PySide6.QtCore import QPointF

from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view import DisplayMode
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Mouse, picture, place_of, positions, set_values, settled


@pytest.fixture
def editor(fresh):
    fresh.document.set_value(ParamRef("view", "view", "grid"), False)
    return fresh


def added(editor, name):
    node = editor.edits.add(name)
    editor.document.select(Selection())
    settled(editor)
    return node


def step(editor, count):
    with editor.viewport.gl_current():
        editor.client.prepare()
        for index in range(count):
            editor.client.engine.step((index + 1) / 60.0)
        editor.client.engine.refresh(0.0)


def clicked(editor, place):
    Mouse(editor.viewport).click(place)
    return editor.document.selection


def test_a_strand_of_hair(editor):
    node = added(editor, "hair")
    editor.features["view"].frame_all()
    settled(editor)
    with_hair = picture(editor)[..., :3].astype(int)
    visible = ParamRef(node, "node", "visible")
    editor.document.set_value(visible, False)
    rows, columns = np.nonzero(np.abs(with_hair - picture(editor)[..., :3]).sum(axis=2) > 60)
    editor.document.set_value(visible, True)
    settled(editor)
    assert len(rows) > 100
    for index in (0, len(rows) // 2, len(rows) - 1):  # the tips at the top, somewhere, and the lowest
        editor.document.select(Selection())
        assert clicked(editor, QPointF(columns[index], rows[index])) == Selection(node=node)
    assert clicked(editor, QPointF(4.0, 4.0)) == Selection()


def test_a_thread_of_a_cloth(editor):
    node = added(editor, "cloth")
    for display in (DisplayMode.WIREFRAME, DisplayMode.SHADED):
        editor.document.set_value(ParamRef("view", "view", "display"), display)
        editor.document.select(Selection())
        editor.features["view"].frame_all()
        settled(editor)
        assert clicked(editor, place_of(editor, positions(editor, node)[5])) == Selection(node=node)


def test_a_particle_the_star_of_its_emitter_and_the_mark_of_a_light(editor):
    node, hints = added(editor, "emitter"), []
    editor.tools.hint.connect(hints.append)
    step(editor, 40)
    alive = positions(editor, node)
    alive = alive[np.isfinite(alive).all(axis=1)]
    with editor.viewport.gl_current():
        star = editor.client.engine.views.marks()[0].position
    far = alive[np.argmax(np.linalg.norm(alive - star, axis=1))]
    place, mark = place_of(editor, far), place_of(editor, star)
    assert np.hypot(place.x() - mark.x(), place.y() - mark.y()) > 20.0, "the star is elsewhere"
    for blending, look in (("additive", "round"), ("alpha", "streak"), ("opaque", "round")):
        set_values(editor, node, blending=blending, look=look)
        settled(editor)
        for clicked_place in (place, mark):
            editor.document.select(Selection())
            assert clicked(editor, clicked_place) == Selection(node=node)
    editor.document.select(Selection())
    Mouse(editor.viewport).hover(mark)
    assert hints[-1] == "Emitter: click to select"
    editor.document.set_value(ParamRef(node, "node", "visible"), False)
    settled(editor)
    assert clicked(editor, mark) == Selection()
    node = added(editor, "light")
    editor.features["view"].frame_all()
    settled(editor)
    with editor.viewport.gl_current():
        place = next(mark.position for mark in editor.client.engine.views.marks() if mark.node_id == node)
    assert clicked(editor, place_of(editor, place)) == Selection(node=node)
