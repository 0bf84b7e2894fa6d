import gc

import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.kinds.emitter.settings import Blending, ParticleLook
from sinew.sim.render.progressive import scheduler
from sinew.sim.render.progressive.frame_plan import LARGEST_CHUNK, LONG_TURN, SHORT_TURN, SMALLEST_CHUNK, ChunkBudget
from sinew.sim.render.render_view import Overlay
from tests.gl.render.particle_stage import emitter_node, place_particles
from tests.gl.render.worlds import FRONT, Stage, light_node, model_node, twisted_bar


def test_it_is_the_frame_that_drawing_at_once_gives(stage: Stage, context: Context) -> None:
    view = {"samples": 4, "grid": True, "bones": True}
    stage.show({"model": twisted_bar()}, model_node(), light_node((3.0, 6.0, 4.0)), time=0.5, **view)
    overlay = Overlay(marks=True)
    expected = stage.picture(overlay=overlay)
    stage.output.clear()
    pending = stage.engine.begin(stage.output.size, FRONT, overlay)
    context.finish()
    assert pending.done
    assert pending.size == stage.output.size
    pending.show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)
    assert expected.std() > 1.0
    stage.output.clear()
    stage.engine.begin(stage.output.size, FRONT, overlay).show(stage.output)  # waits
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)


def test_a_cancelled_frame_leaves_nothing(stage: Stage, context: Context) -> None:
    stage.show({"model": twisted_bar()}, samples=4)
    expected = stage.picture()
    context.collect()
    before = sorted(context.live)
    pending = stage.engine.begin(stage.output.size, FRONT)
    del pending
    gc.collect()
    context.collect()
    assert sorted(context.live) == before
    np.testing.assert_array_equal(stage.picture(), expected)


PLACES = np.random.default_rng(3).uniform((-1.5, 0.2, -1.5), (1.5, 2.8, 1.5), (200, 3))


@pytest.mark.parametrize(
    ("look", "blending", "softness"),
    [
        (ParticleLook.ROUND, Blending.ALPHA, 0.3),
        (ParticleLook.STREAK, Blending.ADDITIVE, 0.0),
        (ParticleLook.ROUND, Blending.OPAQUE, 0.0),
    ],
)
def test_particles_drawn_in_parts_give_the_same_frame(stage, monkeypatch, look, blending, softness):
    stage.show({"model": twisted_bar()}, emitter_node(look=look, blending=blending, softness=softness), samples=4)
    place_particles(stage, PLACES, velocity=(1.0, 0.5, 0.0))
    bare = stage.engine.simulation.systems["emitter"].emitter
    expected = stage.picture()
    monkeypatch.setattr(scheduler, "AT_ONCE", len(PLACES) - 1)
    monkeypatch.setattr(ChunkBudget, "note", lambda *_: None)
    stage.engine.pictures._budget.piece = 30
    if stage.engine.pictures.takes_one_go(stage.engine.render_view(FRONT)):
        pytest.skip("a graphics card draws all at once")
    pending, turns = stage.engine.begin(stage.output.size, FRONT), 0
    while not pending.done:
        pending.hand_out(0.0)
        stage.engine.context.invalidate()
        stage.engine.context.bind_default_framebuffer()
        stage.engine.context.finish()
        turns += 1
    assert turns >= 7
    stage.output.clear()
    pending.show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)
    bare.spawned = 0
    assert np.abs(stage.picture() - expected).max() > 20.0


def test_parts_become_smaller_if_they_take_long() -> None:
    budget = ChunkBudget()
    budget.note(0.5 * SHORT_TURN)
    assert budget.piece == LARGEST_CHUNK
    budget.note(2.0 * LONG_TURN)
    budget.note(0.5 * (SHORT_TURN + LONG_TURN))
    assert budget.piece == LARGEST_CHUNK // 2
    for _ in range(20):
        budget.note(2.0 * LONG_TURN)
    assert budget.piece == SMALLEST_CHUNK
    for _ in range(20):
        budget.note(0.5 * SHORT_TURN)
    assert budget.piece == LARGEST_CHUNK
