"""A model that is uploaded in steps: nothing changes before the last one, and the outcome is the same."""

import gc
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.images import mip_image
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl import buffer as buffers
from sinew.sim.gl.context import Context
from sinew.sim.gl.task import finish
from tests.gl.render.worlds import Stage, model_node, model_of, quad, twisted_bar

BYTES = 256


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "UPLOAD_STEP", BYTES)


def alive(context: Context) -> list[str]:
    gc.collect()
    context.collect()
    return sorted(context.live)


def test_the_steps_show_what_an_upload_at_once_shows(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    model, images = twisted_bar(), {Path("a.png"): np.full((4, 4, 4), 200, np.uint8)}
    mips = {path: mip_image(image) for path, image in images.items()}
    stage.look(model_node())
    prepared = prepare_model(model)
    count = sum(1 for _ in stage.engine.model_upload("model", prepared, mips))
    assert count > prepared.records.rest.nbytes // BYTES
    stage.look(model_node(), time=0.5)
    sliced, records = stage.picture(), stage.engine.views.characters["model"].primary.read()
    monkeypatch.undo()
    stage.engine.set_model("model", model, images)
    stage.look(model_node(), time=0.5)
    assert sliced.std() > 1.0
    assert np.array_equal(stage.picture(), sliced)
    assert stage.engine.views.characters["model"].primary.read().tobytes() == records.tobytes()


def test_buffers_of_any_length_arrive_whole(context: Context) -> None:
    for length in (0, 1, BYTES // 4 - 1, BYTES // 4, BYTES // 4 + 1, 1000):
        data = np.arange(length, dtype=np.uint32)
        buffer = finish(buffers.upload_buffer(context, data))
        copy = finish(buffers.copy_buffer(buffer))
        assert np.array_equal(buffer.read(), data)
        assert np.array_equal(copy.read(), data)
        buffer.release()
        copy.release()


def test_the_old_model_stays_until_the_last_step(stage: Stage) -> None:
    old, new = model_of(quad()), twisted_bar()
    stage.show({"model": old})
    before = stage.picture()
    steps = stage.engine.model_upload("model", prepare_model(new), {})
    for _ in steps:
        assert stage.engine.model_of("model") is old
        assert np.array_equal(stage.picture(), before)
    assert stage.engine.model_of("model") is new


@pytest.mark.parametrize("count", [1, 3, 8])
def test_an_upload_that_is_given_up_leaves_nothing(stage: Stage, context: Context, count: int) -> None:
    stage.show({"model": model_of(quad())})
    stage.picture()
    before = alive(context)
    steps = stage.engine.model_upload("model", prepare_model(twisted_bar()), {})
    assert len(list(islice(steps, count))) == count
    assert len(list(context.live)) > len(before)
    steps.close()
    del steps
    assert alive(context) == before
