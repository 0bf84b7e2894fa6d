"""A model that is rehearsed before it is shown: the driver has met everything that its first pictures draw with."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.program import Program
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.render.render_view import Overlay
from sinew.sim.scene.view import DisplayMode
from tests.gl.render.worlds import Stage, light_node, model_node, model_of, quad, twisted_bar

LAMP = (3.0, 6.0, 4.0)
Drawn = set[tuple[str, str, str, int]]


def alive(context: Context) -> list[str]:
    gc.collect()
    context.collect()
    return sorted(context.live)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drawn]:
    """Vertex array, program, primitive and samples of every draw call."""
    calls: Drawn = set()
    draw = VertexArray.draw

    def record(self: VertexArray, program: Program, mode: str = "triangles", **rest: int) -> None:
        calls.add((self.label, program.label, mode, int(GL.glGetIntegerv(GL.GL_SAMPLES))))
        draw(self, program, mode, **rest)

    monkeypatch.setattr(VertexArray, "draw", record)
    return calls


@pytest.mark.parametrize(
    "view",
    [{"grid": True}, {"bones": True}, {"grid": False, "axes": False}, *({"display": mode} for mode in DisplayMode)],
    ids=str,
)
def test_the_first_pictures_draw_with_nothing_new(stage: Stage, drawn: Drawn, view: dict[str, object]) -> None:
    stage.look(model_node(), light_node(LAMP), **({"samples": 4, "grid": True} | view))
    for _ in stage.engine.model_upload("model", prepare_model(twisted_bar()), {}, warmed_up=True):
        pass
    warmed_up = set(drawn)
    drawn.clear()
    for draft in (True, False):
        stage.picture(overlay=Overlay(marks=True), draft=draft)
    assert {samples for *_, samples in drawn} >= {0, 4}
    assert drawn <= warmed_up


def test_nothing_of_it_is_seen_or_left(stage: Stage, context: Context) -> None:
    stage.show({"model": model_of(quad())}, light_node(LAMP), samples=4)
    before = stage.picture()
    stage.picture(draft=True)
    count = 0
    for _ in stage.engine.model_upload("model", prepare_model(twisted_bar()), {}, warmed_up=True):
        assert np.array_equal(stage.picture(), before)
        count += 1
    assert count > 15
    stage.engine.advance(0.5)
    after, left = stage.picture(), alive(context)
    stage.engine.set_model("model", twisted_bar(), {})
    stage.engine.advance(0.5)
    assert np.array_equal(stage.picture(), after)
    assert alive(context) == left


def test_one_that_is_given_up_leaves_nothing(stage: Stage, context: Context) -> None:
    prepared = prepare_model(twisted_bar())
    stage.show({"model": prepared.model}, light_node(LAMP), samples=4)
    for draft in (True, False):
        stage.picture(overlay=Overlay(marks=True), draft=draft)
    before = alive(context)
    for count in (8, 10, 13, 18):
        steps = stage.engine.model_upload("model", prepared, {}, warmed_up=True)
        for _ in range(count):
            next(steps)
        steps.close()
        del steps
        assert alive(context) == before
