import math

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.session.renderer import ViewportRenderer
from sinew.app.tasks import Priority
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.emitter.settings import Blending, EmissionMode, EmitterSettings
from sinew.sim.render.progressive.scheduler import PendingImage, RenderScheduler
from sinew.sim.scene.scene import Node, ParamRef
from tests.conftest import slow
from tests.gui.editor_harness import picture


@pytest.fixture
def editor(editor):
    """The shared editor with the arm, drawn."""
    editor.frames.drawn = True
    picture(editor)
    QApplication.processEvents()
    yield editor
    editor.frames.drawn, editor.client.timing.wanted = False, False


@pytest.fixture
def calls(monkeypatch):
    """Calls of the scheduler in order: "draft", "full", "begin" and "show", with a model or without."""
    made = []
    draw, begin, show = RenderScheduler.draw, RenderScheduler.begin, PendingImage.show

    def note(render_view, what):
        made.append(what if any(view.counts().vertices for view in render_view.views) else f"{what} of nothing")

    def drawn(self, output, render_view, *, draft=False, **quality):
        note(render_view, "draft" if draft else "full")
        draw(self, output, render_view, draft=draft, **quality)

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
    return editor.client.engine.pictures


def on_screen(editor):
    """The pixels of the last image, without drawing another, shape (H, W, 4)."""
    viewport = editor.viewport
    with viewport.gl_current():
        context = editor.client.engine.context
        output = Framebuffer.wrap(context, viewport.defaultFramebufferObject(), viewport.pixel_size())
        return output.read_pixels(flip=True)


@pytest.fixture
def drafted(editor, calls, monkeypatch, qtbot):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", 0.0)
    pictures_of(editor)._cost, pictures_of(editor)._last = 1.0, math.inf
    editor.viewport.update()
    qtbot.waitUntil(lambda: "draft" in calls, timeout=60000)
    return editor


@pytest.fixture
def begun(drafted, monkeypatch, qtbot):
    monkeypatch.setattr(PendingImage, "done", False)
    qtbot.waitUntil(lambda: pictures_of(drafted).pending is not None, timeout=60000)
    return drafted


def test_a_draft_is_followed_by_the_full_image(drafted, calls, monkeypatch, qtbot):
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"], timeout=60000)
    qtbot.waitUntil(lambda: not drafted.tasks.has(Priority.DRAW), timeout=60000)
    shown = on_screen(drafted)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", math.inf)
    np.testing.assert_array_equal(shown[..., :3], picture(drafted)[..., :3])
    assert calls[-1] == "full"


def test_a_full_image_of_a_former_scene_is_not_shown(begun, calls, qtbot):
    begun.viewport.update()
    assert pictures_of(begun).pending is None
    qtbot.waitUntil(lambda: calls[-1] != "begin", timeout=60000)
    assert calls[-1] in ("draft", "full")
    assert "show" not in calls


def test_a_full_image_that_began_with_another_step_is_drawn_anew(begun, calls, monkeypatch, qtbot):
    """A bake simulates while the playhead stands still; parts of an image would show different steps."""
    pending, made = pictures_of(begun).pending, len(calls)
    monkeypatch.setattr(ViewportRenderer, "step", "another")
    qtbot.waitUntil(lambda: len(calls) > made, timeout=60000)
    assert calls[made] in ("draft", "full")
    assert pictures_of(begun).pending is not pending
    assert "show" not in calls


def test_the_window_keeps_its_image_until_the_full_one_is_done(begun, calls, monkeypatch, qtbot):
    before, made = on_screen(begun), list(calls)
    pending = pictures_of(begun).pending
    begun.viewport.grabFramebuffer()
    np.testing.assert_array_equal(on_screen(begun), before)
    assert pictures_of(begun).pending is pending
    assert calls == made
    monkeypatch.setattr(PendingImage, "done", True)
    qtbot.waitUntil(lambda: calls[-1] == "show", timeout=60000)
    qtbot.waitUntil(lambda: not begun.tasks.has(Priority.DRAW), timeout=60000)


def test_several_sizes_are_drawn_once(editor, calls):
    size = editor.viewport.size()
    for less in (40, 20, 0):
        editor.viewport.resize(size.width() - less, size.height())
    assert calls == []
    QApplication.processEvents()
    assert calls == ["full"]
    editor.viewport.update()
    editor.window.show_progress("a file", 0.1)
    QApplication.processEvents()
    assert calls == ["full"] * 2, "progress draws none of its own"
    editor.window.show_progress("", 1.0)


def test_another_framebuffer_of_the_same_size_is_not_left_empty(begun, calls):
    size = begun.viewport.size()
    for less in (20, 0):
        begun.viewport.resize(size.width() - less, size.height())
    made = len(calls)
    QApplication.processEvents()
    assert calls[made] in ("draft", "full")
    assert np.ptp(on_screen(begun)[..., :3]) > 100


@pytest.mark.parametrize("long", [0.0, slow(math.inf)])
def test_a_single_image_is_a_draft_only_if_it_is_very_slow(editor, calls, monkeypatch, qtbot, long):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.LONG_PICTURE", long)
    pictures_of(editor)._cost, pictures_of(editor)._last = 1.0, -math.inf
    editor.viewport.update()
    qtbot.waitUntil(lambda: bool(calls), timeout=60000)
    assert calls[0] == ("full" if math.isinf(long) else "draft")


def test_measured_images_are_drawn_at_once(drafted, calls, qtbot):
    drafted.client.timing.wanted = True
    drafted.viewport.update()
    qtbot.waitUntil(lambda: drafted.client.timing.status.enabled, timeout=60000)
    calls.clear()
    drafted.viewport.update()
    qtbot.waitUntil(lambda: "full" in calls, timeout=60000)
    assert "begin" not in calls


def test_a_new_model_is_drawn_in_pieces(session, arm, calls, monkeypatch, qtbot):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SLOW_PICTURE", 0.0)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.LONG_PICTURE", 0.0)
    monkeypatch.setattr(GL, "glGenerateMipmap", None)
    editor = session.start(drawn=True)
    if not editor.client.engine.context.capabilities.is_software:
        pytest.skip("pictures of a new model are drafts on software renderers only")
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(arm)
    qtbot.waitUntil(lambda: "begin" in calls and calls[-1] == "show", timeout=60000)
    assert "full" not in calls


@pytest.fixture
def sparkling(editor):
    editor.document.add_node(Node(id="sparks", settings=EmitterSettings()))
    picture(editor)
    QApplication.processEvents()
    return editor


def test_particles_of_a_new_look_are_shown_once_their_shaders_are_ready(sparkling, calls, qtbot):
    before, made = on_screen(sparkling), list(calls)
    sparkling.document.set_value(ParamRef("sparks", "emitter", "blending"), Blending.ALPHA)
    sparkling.viewport.grabFramebuffer()
    assert pictures_of(sparkling).postponed
    assert calls == made
    np.testing.assert_array_equal(on_screen(sparkling), before)
    qtbot.waitUntil(lambda: len(calls) > len(made), timeout=60000)
    assert not pictures_of(sparkling).postponed
    sparkling.document.set_value(ParamRef("sparks", "emitter", "size"), 0.5)
    sparkling.viewport.grabFramebuffer()
    assert not pictures_of(sparkling).postponed


@pytest.mark.slow
def test_very_many_particles_are_drawn_in_pieces(editor, calls, monkeypatch, qtbot):
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.AT_ONCE", 50)
    if not editor.client.engine.context.capabilities.is_software:
        pytest.skip("a graphics card draws all at once")
    editor.document.add_node(Node(id="sparks", settings=EmitterSettings(mode=EmissionMode.FULL, capacity=100)))
    systems = editor.client.engine.simulation.systems
    qtbot.waitUntil(lambda: not pictures_of(editor).postponed and "sparks" in systems, timeout=60000)
    calls.clear()
    editor.playback.step_simulation()
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"], timeout=60000)
    assert set(calls) == {"draft", "begin", "show"}
    drafts = calls.count("draft")
    editor.document.set_value(ParamRef("sparks", "emitter", "size"), 0.5)
    qtbot.waitUntil(lambda: calls.count("draft") > drafts, timeout=60000)
    qtbot.waitUntil(lambda: calls[-2:] == ["begin", "show"], timeout=60000)
    assert "full" not in calls


def test_an_image_that_stands_still_gets_smoother_until_something_changes(editor, monkeypatch, qtbot):
    pictures = pictures_of(editor)
    plain = picture(editor)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SAMPLES", 4)
    editor.viewport.update()
    qtbot.waitUntil(lambda: pictures._sample == 4 and not editor.tasks.has(Priority.DRAW), timeout=60000)
    smooth = picture(editor).astype(int)
    difference = np.abs(smooth - plain)[..., :3].max(axis=2)
    assert 0.001 < (difference > 2).mean() < 0.2, "edges only"
    assert pictures.is_complete, "nothing is left to do"
    np.testing.assert_array_equal(picture(editor), smooth)
    editor.viewport.update()
    assert pictures._sample == 0
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SAMPLES", 0)
    np.testing.assert_array_equal(picture(editor), plain)


@pytest.mark.slow
def test_another_step_starts_the_samples_anew(sparkling, monkeypatch, qtbot):
    """A seek or a bake simulates while nothing is edited and the playhead stands still."""
    editor, pictures = sparkling, pictures_of(sparkling)
    editor.playback.step_simulation()
    picture(editor)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SAMPLES", 32)
    editor.viewport.update()
    qtbot.waitUntil(lambda: pictures._sample >= 4, timeout=60000)
    runner = editor.client.runner
    with editor.viewport.gl_current():
        for step in range(2, 40):
            runner.advance(step)
    monkeypatch.setattr("sinew.sim.render.progressive.scheduler.SAMPLES", 4)
    qtbot.waitUntil(lambda: pictures._last_sample == 4, timeout=60000)
    qtbot.waitUntil(lambda: pictures._sample == 4 and not editor.tasks.has(Priority.DRAW), timeout=60000)
    shown = picture(editor)
    editor.viewport.update()
    qtbot.waitUntil(lambda: pictures._sample == 4 and not editor.tasks.has(Priority.DRAW), timeout=60000)
    np.testing.assert_array_equal(shown, picture(editor))
