"""The engine owns its names: constant while it runs, none when it is gone."""

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.model import Material
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from tests.gl.render.worlds import FRONT, Stage, light_node, make_stage, model_node, model_of, quad, twisted_bar

LIGHT = light_node((2.0, 4.0, 3.0))


def everything(stage: Stage) -> None:
    """Draws a picture of every kind, so that everything that is made when first needed exists."""
    for display in DisplayMode:
        for comparison in SkinningComparison:
            stage.look(model_node(), LIGHT, time=0.5, display=display, comparison=comparison, bones=True, samples=4)
            stage.picture()
            stage.engine.compare("model", 1.0)
            stage.engine.pick(FRONT, stage.output.size, 80, 60)
    stage.picture(draft=True)


def alive(context: Context) -> list[str]:
    gc.collect()
    context.collect()
    return sorted(context.live)


def test_release_leaves_nothing_and_may_be_repeated(context: Context) -> None:
    stage = make_stage(context)
    stage.engine.set_model("model", twisted_bar(), {})
    everything(stage)
    assert len(alive(context)) > 20
    stage.engine.release()
    stage.engine.release()
    assert [name for name in alive(context) if "test output" not in name] == []
    stage.output.release()


def test_two_hundred_pictures_make_no_new_names(stage: Stage, context: Context) -> None:
    stage.resize(32, 24)
    stage.engine.set_model("model", twisted_bar(), {})
    everything(stage)
    before = alive(context)
    for index in range(200):
        stage.look(
            model_node(), LIGHT, time=index / 100.0,
            display=list(DisplayMode)[index % 5], comparison=list(SkinningComparison)[index % 3], bones=True, samples=4,
        )  # fmt: skip
        stage.picture(Camera(yaw=float(index)), draft=index % 2 == 0)
        stage.engine.compare("model", index / 60.0)
    assert alive(context) == before


def test_models_that_come_and_go_leave_nothing(stage: Stage, context: Context) -> None:
    stage.look(LIGHT)
    stage.picture()
    stage.engine.set_model("model", twisted_bar(), {})
    everything(stage)
    stage.engine.remove_model("model")
    before = alive(context)
    for _ in range(10):
        stage.engine.set_model("model", twisted_bar(), {})
        everything(stage)
        stage.engine.set_model("model", model_of(quad()), {})
        everything(stage)
        stage.engine.remove_model("model")
        stage.engine.remove_model("model")
    assert alive(context) == before


def test_a_scene_without_the_node_takes_its_model_away(stage: Stage, context: Context) -> None:
    stage.show({"model": twisted_bar()})
    stage.picture()
    stage.look()
    before = alive(context)
    stage.show({"model": twisted_bar()})
    assert len(alive(context)) > len(before)
    stage.engine.apply(Scene())
    assert stage.engine.model_of("model") is None
    assert alive(context) == before


def test_resizing_keeps_one_target(stage: Stage, context: Context) -> None:
    stage.show({"model": twisted_bar()}, samples=4)
    stage.picture()
    count = len(alive(context))
    for width in range(50, 60):
        stage.resize(width, 40)
        stage.picture()
    assert len(alive(context)) == count


def test_a_model_that_cannot_be_uploaded_is_not_there_by_half(stage: Stage, context: Context) -> None:
    stage.show({"model": model_of(quad())})
    stage.picture()
    stage.engine.remove_model("model")
    before = alive(context)
    empty = Path("empty.png")
    model = replace(model_of(quad()), materials=(Material("m", empty.name, empty),))
    with pytest.raises(GLLimitError, match=r"empty\.png"):
        stage.engine.set_model("model", model, {empty: np.zeros((4, 0, 4), np.uint8)})
    assert stage.engine.model_of("model") is None
    assert stage.engine.views.bounds() is None
    stage.picture()
    assert alive(context) == before
