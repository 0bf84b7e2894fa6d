"""Slow pictures: drafts while they follow one another, then one in full that nobody waits for."""

import math

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.tasks import Priority
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.emitter.settings import Blending, EmissionMode, EmitterSettings
from sinew.sim.render.progressive.scheduler import PendingImage, RenderScheduler
from sinew.sim.scene.scene import Node, ParamRef
from tests.gui.editor_harness import picture


@pytest.fixture
def calls(monkeypatch):
    """What the engine was asked for, in order: "draft", "full", "begin" and "show", with a model or without."""
    made = []
    draw, begin, show = RenderScheduler.draw, RenderScheduler.begin, PendingImage.show

    def note(render_view, what):
        made.append(what if any(view.counts().vertices for view in render_view.views) else f"{what} of nothing")

    def drawn(self, output, render_view, *, draft=False):
        note(render_view, "draft" if draft else "full")
        draw(self, output, render_view, draft=draft)

    def begun(self, size, render_view):
        note(render_view, "begin")
        return begin(self, size, render_view)

    def shown(self, output):
        made.append("show")
        show(self, output)

    monkeypatch.setattr(RenderScheduler, "draw", drawn)
    monkeypatch.setattr(RenderScheduler, "begin", begun)
    monkeypatch.setattr(PendingImage, "show", shown)
    return made


def pictures_of(editor):
    """What decides when and how the pictures of an editor are drawn."""
    return editor.client.engine.pictures


def on_screen(editor):
    """The pixels of the last picture, without drawing another, shape (H, W, 4)."""
    viewport = editor.viewport
    with viewport.gl_current():
        context = editor.client.engine.context
        output = Framebuffer.wrap(context, viewport.defaultFramebufferObject(), viewport.pixel_size())
        return output.read_pixels(flip=True)


@pytest.fixture
def drafted(editor, calls, monkeypatch, qtbot):
    """An editor that has shown a draft."""
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", 0.0)
    pictures_of(editor)._cost, pictures_of(editor)._last = 1.0, math.inf
    editor.viewport.update()
    qtbot.waitUntil(lambda: "draft" in calls)
    return editor


@pytest.fixture
def begun(drafted, monkeypatch, qtbot):
    """An editor whose full picture is on its way and never done."""
    monkeypatch.setattr(PendingImage, "done", False)
    qtbot.waitUntil(lambda: pictures_of(drafted).pending is not None)
    return drafted


def test_a_draft_is_followed_by_the_picture_in_full(drafted, calls, monkeypatch, qtbot):
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"])
    qtbot.waitUntil(lambda: not drafted.tasks.has(Priority.DRAW))
    shown = on_screen(drafted)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", math.inf)
    np.testing.assert_array_equal(shown[..., :3], picture(drafted)[..., :3])
    assert calls[-1] == "full"


def test_what_has_changed_meanwhile_is_not_shown(begun, calls, qtbot):
    begun.viewport.update()
    assert pictures_of(begun).pending is None
    qtbot.waitUntil(lambda: calls[-1] != "begin")
    assert calls[-1] in ("draft", "full")
    assert "show" not in calls


def test_painted_before_it_is_done_the_window_keeps_what_it_shows(begun, calls, monkeypatch, qtbot):
    before, made = on_screen(begun), list(calls)
    pending = pictures_of(begun).pending
    begun.viewport.grabFramebuffer()
    np.testing.assert_array_equal(on_screen(begun), before)
    assert pictures_of(begun).pending is pending
    assert calls == made
    monkeypatch.setattr(PendingImage, "done", True)
    qtbot.waitUntil(lambda: calls[-1] == "show")
    qtbot.waitUntil(lambda: not begun.tasks.has(Priority.DRAW))


def test_another_size_is_drawn_anew(begun, calls, qtbot):
    pictures_of(begun).pending.size = (1, 1)
    begun.viewport.show_pending()
    qtbot.waitUntil(lambda: calls[-1] != "begin")
    assert calls[-1] in ("draft", "full")


def test_a_layout_that_takes_several_sizes_is_drawn_once(editor, calls):
    size = editor.viewport.size()
    for less in (40, 20, 0):
        editor.viewport.resize(size.width() - less, size.height())
    assert calls == []
    QApplication.processEvents()
    assert calls == ["full"]


def test_progress_draws_no_picture_of_its_own(editor, calls):
    editor.viewport.update()
    editor.window.show_progress("a file", 0.1)
    assert calls == []
    QApplication.processEvents()
    assert calls == ["full"]


def test_another_framebuffer_of_the_same_size_is_not_left_empty(begun, calls):
    size = begun.viewport.size()
    for less in (20, 0):
        begun.viewport.resize(size.width() - less, size.height())
    made = len(calls)
    QApplication.processEvents()
    assert calls[made] in ("draft", "full")
    assert np.ptp(on_screen(begun)[..., :3]) > 100


@pytest.mark.parametrize("long", [0.0, math.inf])
def test_one_that_comes_alone_is_a_draft_only_where_it_takes_very_long(editor, calls, monkeypatch, qtbot, long):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.LONG_PICTURE", long)
    pictures_of(editor)._cost, pictures_of(editor)._last = 1.0, -math.inf
    editor.viewport.update()
    qtbot.waitUntil(lambda: bool(calls))
    assert calls[0] == ("full" if math.isinf(long) else "draft")


def test_measured_pictures_are_drawn_at_once(drafted, calls, qtbot):
    drafted.client.set_timing(True)
    calls.clear()
    drafted.viewport.update()
    qtbot.waitUntil(lambda: "full" in calls)
    assert "begin" not in calls


def test_a_model_arrives_in_pieces_and_its_picture_too(session, arm, calls, monkeypatch, qtbot):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", 0.0)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.LONG_PICTURE", 0.0)
    monkeypatch.setattr(GL, "glGenerateMipmap", None)
    editor = session.start()
    if not editor.client.engine.context.capabilities.is_software:
        pytest.skip("pictures of a new model are drafts on software renderers only")
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(arm)
    qtbot.waitUntil(lambda: "begin" in calls and calls[-1] == "show", timeout=60000)
    assert "full" not in calls


@pytest.fixture
def sparkling(editor):
    """An editor that shows an emitter."""
    editor.document.add_node(Node(id="sparks", settings=EmitterSettings()))
    picture(editor)
    QApplication.processEvents()
    return editor


def test_particles_of_a_new_look_are_shown_once_the_driver_has_met_them(sparkling, calls, qtbot):
    before, made = on_screen(sparkling), list(calls)
    sparkling.document.set_value(ParamRef("sparks", "emitter", "blending"), Blending.ALPHA)
    sparkling.viewport.grabFramebuffer()
    assert pictures_of(sparkling).postponed
    assert calls == made
    np.testing.assert_array_equal(on_screen(sparkling), before)
    qtbot.waitUntil(lambda: len(calls) > len(made))
    assert not pictures_of(sparkling).postponed
    sparkling.document.set_value(ParamRef("sparks", "emitter", "size"), 0.5)
    sparkling.viewport.grabFramebuffer()
    assert not pictures_of(sparkling).postponed


def test_what_is_painted_for_the_first_time_is_not_postponed(sparkling, calls):
    sparkling.document.set_value(ParamRef("sparks", "emitter", "blending"), Blending.ALPHA)
    pictures_of(sparkling)._last_target, made = None, len(calls)
    sparkling.viewport.grabFramebuffer()
    assert len(calls) == made + 1
    assert not pictures_of(sparkling).postponed


def test_very_many_particles_are_never_drawn_in_one_go(editor, calls, monkeypatch, qtbot):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.AT_ONCE", 50)
    if not editor.client.engine.context.capabilities.is_software:
        pytest.skip("a graphics card draws all at once")
    editor.document.add_node(Node(id="sparks", settings=EmitterSettings(mode=EmissionMode.FULL, capacity=100)))
    systems = editor.client.engine.simulation.systems
    qtbot.waitUntil(lambda: not pictures_of(editor).postponed and "sparks" in systems)
    calls.clear()
    editor.playback.step_simulation()
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"])
    assert set(calls) == {"draft", "begin", "show"}
    drafts = calls.count("draft")
    editor.document.set_value(ParamRef("sparks", "emitter", "size"), 0.5)
    qtbot.waitUntil(lambda: calls.count("draft") > drafts)
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"])
    assert "full" not in calls
