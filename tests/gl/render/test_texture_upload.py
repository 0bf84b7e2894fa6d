"""Images with their levels reach the GPU in bounded steps and arrive whole."""

import numpy as np
import pytest

from sinew.sim.assets.images import MipImage, mip_image
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render import texture_upload
from sinew.sim.render.texture_upload import upload_image


def noise(height: int, width: int) -> MipImage:
    return mip_image(np.random.default_rng(5).integers(0, 256, (height, width, 4), dtype=np.uint8))


@pytest.mark.parametrize("step_bytes", [1, 100, 1 << 20])
def test_every_level_arrives_as_it_was_made(context: Context, monkeypatch: pytest.MonkeyPatch, step_bytes: int) -> None:
    monkeypatch.setattr(texture_upload, "STEP_BYTES", step_bytes)
    image = noise(13, 30)
    texture = finish(upload_image(context, image))
    assert texture.size == (30, 13)
    for level, texels in enumerate(image.levels):
        np.testing.assert_array_equal(texture.read(level), texels)


def test_no_step_takes_more_than_its_share(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_image_beyond_the_limit_begins_with_a_smaller_level(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = noise(24, 9)
    monkeypatch.setattr(type(context.capabilities), "max_texture_size", 12, raising=False)
    texture = finish(upload_image(context, image))
    assert texture.size == (4, 12)
    np.testing.assert_array_equal(texture.read(), image.levels[1])


def test_an_image_without_texels_is_refused(context: Context) -> None:
    with pytest.raises(GLLimitError):
        finish(upload_image(context, mip_image(np.zeros((4, 0, 4), np.uint8))))


def test_rows_that_do_not_fit_a_level_are_refused(context: Context) -> None:
    texture = Texture2D(context, (8, 4), "rgba8", mipmaps=True, label="map")
    for shape, place in [((1, 8, 4), {"first": 4}), ((1, 8, 4), {"level": 1}), ((3, 4, 4), {"level": 1})]:
        with pytest.raises(GLError, match="'map'"):
            texture.write_rows(np.zeros(shape, np.uint8), **place)
