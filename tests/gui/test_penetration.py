"""Depth in skins in the viewport: colours, key, curves, and what it costs while it is off."""

import time

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew import resources
from sinew.sim.gl.task import finish
from sinew.sim.run.penetration import penetration
from sinew.sim.scene.scene import PLAYBACK, VIEW, ParamRef
from tests.gui.editor_harness import Session, add_cloth, picture, settled

STEPS = 6


@pytest.fixture
def stage(editor, qtbot):
    """The arm and a cloth through it, simulated."""
    character = editor.active.node.id
    cloth = add_cloth(editor)
    box = editor.client.engine.views.bounds(character)
    middle = (box.lo + box.hi) / 2.0
    editor.document.set_values(
        {
            ParamRef(cloth, "attachment", "node"): character,
            ParamRef(cloth, "transform", "position"): tuple(middle.tolist()),
            ParamRef(cloth, "cloth", "gravity"): (0.0, 0.0, 0.0),
        }
    )
    settled(editor)
    editor.playback.scrub(STEPS / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=120000):
        editor.seek.start()
    editor.playback.scrub(2 / 60)
    settled(editor)
    return editor, character, cloth


def show(editor, *, on):
    editor.document.set_value(ParamRef(VIEW, VIEW, "penetration"), on)
    ends = time.monotonic() + 120.0
    while True:
        settled(editor)
        if not editor.client.penetration.is_due:
            return picture(editor)
        QApplication.processEvents()
        assert time.monotonic() < ends


@pytest.mark.slow
def test_depths_are_coloured_plotted_and_follow_the_settings(stage):
    editor, character, cloth = stage
    measured, undo = editor.client.penetration, editor.document.undo_stack.count()
    plain = picture(editor)
    assert measured._second.engine is None, "costs nothing while it is off"
    shown = show(editor, on=True)
    assert editor.client.distances is measured
    assert (np.abs(shown.astype(int) - plain).max(axis=2) > 3).sum() > 50
    assert editor.document.undo_stack.count() == undo, "a view setting is no edit"
    with editor.viewport.gl_current():
        found = finish(penetration(editor.client.engine.simulation.systems[cloth]))
    points, depths = measured._points[cloth]
    np.testing.assert_array_equal(points, found.points)
    np.testing.assert_allclose(depths, found.depths, atol=1e-7)
    assert found.depths.max() > 1e-3
    (curve,) = measured.curves()
    assert len(curve.times) >= STEPS
    at = int(np.abs(np.array(curve.times) - 2 / 60).argmin())
    assert curve.most[at] == pytest.approx(found.depths.max(), abs=1e-7)
    assert curve.mean[at] == pytest.approx(found.inside.mean(), abs=1e-7)
    key = measured.key
    assert (key.title, key.unit) == ("Depth in the skin", "mm")
    assert key.hi >= 1e3 * max(curve.most)
    plot = editor.features["playing"].distance.plot
    assert [name for name, *_ in plot.distances_now()] == [curve.name]
    assert "Depth in the skin" in plot.text.text()
    editor.document.set_value(ParamRef(character, "model", "depth_sections"), ("another",))
    show(editor, on=True)
    (later,) = measured.curves()
    assert set(later.most) == {0.0}, "nothing cached is shown for other settings"
    editor.document.undo_stack.undo()
    show(editor, on=True)
    assert measured.curves()[0].most == curve.most
    show(editor, on=False)
    assert measured._second.engine is None
    assert measured.curves() == ()
    assert editor.client.distances is editor.client.compared


def test_a_garment_tells_that_it_is_deep_in_the_skin_while_playback_is_paused(fresh, qtbot):
    Session(qtbot).load(fresh, resources.path("models") / "humanoid" / "humanoid.ezm")
    skirt, head = fresh.edits.add("skirt"), fresh.panels.inspector.head
    fresh.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "run_up"), 0.0)
    settled(fresh)
    cloth = fresh.client.engine.simulation.systems[skirt].cloth
    within = cloth.model.positions * (0.7, 1.0, 0.7)
    fresh.stepper.alter(lambda: cloth.start_from(within))
    picture(fresh)
    qtbot.waitUntil(lambda: "Particles in the skin" in head.status.note, timeout=60000)
    with fresh.viewport.gl_current():
        found = finish(penetration(fresh.client.engine.simulation.systems[skirt]))
    told = f"Particles in the skin at this step: {len(found.inside):,}, at most {1e3 * found.inside.max():.0f} mm deep."
    assert told in head.status.note
    fresh.playback.toggle()
    qtbot.waitUntil(lambda: "Particles in the skin" not in head.status.note, timeout=60000)
