"""Textures, read back and sampled."""

import numpy as np
import pytest

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.texture import FORMATS, BufferTexture, Texture2D, pixel_format


@pytest.mark.parametrize("name", [name for name, pixels in FORMATS.items() if not pixels.is_depth])
def test_every_colour_format_keeps_its_texels(context: Context, name: str) -> None:
    pixels = pixel_format(name)
    random = np.random.default_rng(3)
    shape = (3, 5, pixels.channels)  # a width that is not a multiple of four bytes
    data = random.integers(0, 200, shape).astype(pixels.dtype)
    texture = Texture2D(context, (5, 3), name)
    texture.write(data)
    np.testing.assert_array_equal(texture.read(), data)


@pytest.mark.parametrize("name", ["depth24", "depth32f"])
def test_depth_formats_keep_depth(context: Context, name: str) -> None:
    data = np.linspace(0.0, 1.0, 15, dtype=np.float32).reshape(3, 5, 1)
    texture = Texture2D(context, (5, 3), name, filtering="nearest")
    texture.write(data)
    np.testing.assert_allclose(texture.read(), data, atol=1e-6)


@pytest.mark.parametrize(
    "data", [np.zeros((2, 2, 4), np.float32), np.zeros((2, 3, 4), np.uint8), np.zeros((2, 2), np.uint8)]
)
def test_texels_that_do_not_fit_are_refused(context: Context, data: np.ndarray) -> None:
    texture = Texture2D(context, (2, 2), "rgba8", label="map")
    with pytest.raises(GLError, match="'map'"):
        texture.write(data)


@pytest.mark.parametrize("size", [(0, 4), (4, -1), (1 << 20, 4)])
def test_impossible_sizes_are_refused_and_leave_nothing(context: Context, size: tuple[int, int]) -> None:
    with pytest.raises(GLLimitError):
        Texture2D(context, size)
    assert context.live == []


def test_buffer_texture_counts_whole_texels_and_follows_the_buffer(context: Context) -> None:
    buffer = Buffer(context, np.zeros(9, np.float32))
    texture = BufferTexture(context, buffer)
    assert texture.texel_count == 2
    buffer.orphan(np.zeros(16, np.float32))
    assert texture.texel_count == 4
    assert BufferTexture(context, buffer, "r32ui").texel_count == 16


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="rgba8"):
        pixel_format("rgba9")
