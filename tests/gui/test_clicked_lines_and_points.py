"""What is drawn as lines and points is selected by a click on it: strands, wires, springs, particles, marks."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view import DisplayMode
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Mouse, picture, place_of


@pytest.fixture
def editor(fresh):
    fresh.document.set_value(ParamRef("view", "view", "grid"), False)
    return fresh


def added(editor, name):
    """Adds something to the empty scene, hides what came with it, and lets go of it."""
    node = editor.edits.add(name)
    editor.document.select(Selection())
    picture(editor)
    return node


def step(editor, count):
    with editor.viewport.gl_current():
        editor.client.prepare()
        for index in range(count):
            editor.client.engine.step((index + 1) / 60.0)
        editor.client.engine.refresh(0.0)


def positions(editor, node):
    with editor.viewport.gl_current():
        return editor.client.engine.simulation.systems[node].arrays()["positions"].read().reshape(-1, 3)


def clicked(editor, place):
    Mouse(editor.viewport).click(place)
    return editor.document.selection


def test_a_strand_of_hair(editor):
    node = added(editor, "hair")
    editor.frame_all()
    picture(editor)
    with_hair = picture(editor)[..., :3].astype(int)
    visible = ParamRef(node, "node", "visible")
    editor.document.set_value(visible, False)
    rows, columns = np.nonzero(np.abs(with_hair - picture(editor)[..., :3]).sum(axis=2) > 60)
    editor.document.set_value(visible, True)
    picture(editor)
    assert len(rows) > 100
    for index in (0, len(rows) // 2, len(rows) - 1):  # the tips at the top, somewhere, and the lowest
        editor.document.select(Selection())
        assert clicked(editor, QPointF(columns[index], rows[index])) == Selection(node=node)
    assert clicked(editor, QPointF(4.0, 4.0)) == Selection()


@pytest.mark.parametrize("display", [DisplayMode.WIREFRAME, DisplayMode.SHADED])
def test_a_thread_of_a_cloth(editor, display):
    node = added(editor, "cloth")
    editor.document.set_value(ParamRef("view", "view", "display"), display)
    editor.frame_all()
    picture(editor)
    assert clicked(editor, place_of(editor, positions(editor, node)[5])) == Selection(node=node)
    editor.document.set_value(ParamRef("view", "view", "display"), DisplayMode.SHADED)


@pytest.mark.parametrize(("blending", "look"), [("additive", "round"), ("alpha", "streak"), ("opaque", "round")])
def test_a_particle(editor, blending, look):
    node = added(editor, "emitter")
    for name, value in (("blending", blending), ("look", look)):
        editor.document.set_value(ParamRef(node, "emitter", name), value)
    step(editor, 40)
    alive = positions(editor, node)
    alive = alive[np.isfinite(alive).all(axis=1)]
    picture(editor)
    with editor.viewport.gl_current():
        star = editor.client.engine.views.marks()[0].position
    far = alive[np.argmax(np.linalg.norm(alive - star, axis=1))]
    place, mark = place_of(editor, far), place_of(editor, star)
    assert np.hypot(place.x() - mark.x(), place.y() - mark.y()) > 20.0, "it is not the star that is clicked"
    assert clicked(editor, place) == Selection(node=node)
    assert clicked(editor, mark) == Selection(node=node)


def test_the_mark_of_a_light(editor):
    node = added(editor, "light")
    editor.frame_all()
    picture(editor)
    with editor.viewport.gl_current():
        place = next(mark.position for mark in editor.client.engine.views.marks() if mark.node_id == node)
    assert clicked(editor, place_of(editor, place)) == Selection(node=node)
