from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.images import MipImage, mip_image
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl import buffer as buffers
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render import texture_upload
from sinew.sim.render.texture_upload import upload_image
from tests.gl.render.worlds import Stage, alive, model_node, model_of, quad, twisted_bar

BYTES = 256


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "UPLOAD_STEP", BYTES)


@pytest.mark.usefixtures("small_steps")
def test_a_model_uploaded_in_steps_is_the_same(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.usefixtures("small_steps")
def test_buffers_of_any_length_are_uploaded(context: Context) -> None:
    for length in (0, 1, BYTES // 4 - 1, BYTES // 4, BYTES // 4 + 1, 1000):
        data = np.arange(length, dtype=np.uint32)
        buffer = finish(buffers.upload_buffer(context, data))
        copy = finish(buffers.copy_buffer(buffer))
        assert np.array_equal(buffer.read(), data)
        assert np.array_equal(copy.read(), data)
        buffer.release()
        copy.release()


@pytest.mark.usefixtures("small_steps")
def test_the_old_model_stays_until_the_last_step(stage: Stage) -> None:
    old, new = model_of(quad()), twisted_bar()
    stage.show({"model": old})
    before = stage.picture()
    steps = stage.engine.model_upload("model", prepare_model(new), {})
    for _ in steps:
        assert stage.engine.model_of("model") is old
        assert np.array_equal(stage.picture(), before)
    assert stage.engine.model_of("model") is new


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("count", [1, 8])
def test_a_cancelled_upload_leaves_nothing(stage: Stage, context: Context, count: int) -> None:
    stage.show({"model": model_of(quad())})
    stage.picture()
    before = alive(context)
    steps = stage.engine.model_upload("model", prepare_model(twisted_bar()), {})
    assert len(list(islice(steps, count))) == count
    assert len(list(context.live)) > len(before)
    steps.close()
    del steps
    assert alive(context) == before


def noise(height: int, width: int) -> MipImage:
    return mip_image(np.random.default_rng(5).integers(0, 256, (height, width, 4), dtype=np.uint8))


@pytest.mark.parametrize("step_bytes", [1, 100])
def test_every_level_is_uploaded(context: Context, monkeypatch: pytest.MonkeyPatch, step_bytes: int) -> None:
    monkeypatch.setattr(texture_upload, "STEP_BYTES", step_bytes)
    image = noise(13, 30)
    texture = finish(upload_image(context, image))
    assert texture.size == (30, 13)
    for level, texels in enumerate(image.levels):
        np.testing.assert_array_equal(texture.read(level), texels)


def test_no_step_uploads_more_than_its_limit(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = Texture2D.write_rows

    def count(self: Texture2D, array: np.ndarray, **place: int) -> None:
        written[-1] += array.nbytes
        write(self, array, **place)

    monkeypatch.setattr(Texture2D, "write_rows", count)
    monkeypatch.setattr(texture_upload, "STEP_BYTES", 1000)
    image = noise(40, 25)
    written.append(0)
    for _ in upload_image(context, image):
        written.append(0)
    assert sum(written) == sum(level.nbytes for level in image.levels)
    assert max(written) < 2 * 1000
    assert len(written) > sum(written) // 2000


def test_an_image_beyond_the_limit_is_smaller(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    image = noise(24, 9)
    monkeypatch.setattr(type(context.capabilities), "max_texture_size", 12, raising=False)
    texture = finish(upload_image(context, image))
    assert texture.size == (4, 12)
    np.testing.assert_array_equal(texture.read(), image.levels[1])


def test_rows_that_do_not_fit_a_level_are_refused(context: Context) -> None:
    texture = Texture2D(context, (8, 4), "rgba8", mipmaps=True, label="map")
    for shape, place in [((1, 8, 4), {"first": 4}), ((1, 8, 4), {"level": 1}), ((3, 4, 4), {"level": 1})]:
        with pytest.raises(GLError, match="'map'"):
            texture.write_rows(np.zeros(shape, np.uint8), **place)
