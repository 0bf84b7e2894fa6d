"""Smaller levels of images against averages by area in double precision."""

import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.assets import images
from sinew.sim.assets.images import mip_image
from sinew.sim.maths.arrays import UInt8
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear

Float64 = npt.NDArray[np.float64]
SIZES = [(8, 8), (7, 5), (1, 6), (9, 1), (33, 18), (3, 64)]


def coverage(length: int) -> Float64:
    """Part of each result that every texel makes up, shape (results, length): the overlap of their intervals."""
    count = max(1, length // 2)
    edges = np.linspace(0.0, length, count + 1)
    texels = np.arange(length)
    overlap = np.minimum(edges[1:, None], texels + 1) - np.maximum(edges[:-1, None], texels)
    return np.maximum(overlap, 0.0) * (count / length)


def reference(image: UInt8) -> list[Float64]:
    """Levels below the first, colours in sRGB from 0 to 255, each made of the unrounded one before."""
    colour, alpha = linear_from_srgb(image[..., :3] / 255.0), image[..., 3:] / 255.0
    levels = []
    while max(colour.shape[:2]) > 1:
        down, across = coverage(colour.shape[0]), coverage(colour.shape[1])

        def average(values: Float64, down: Float64 = down, across: Float64 = across) -> Float64:
            return np.einsum("ij,jkc,lk->ilc", down, values, across)

        cover = average(alpha)
        visible = np.divide(average(colour * alpha), cover, out=np.zeros_like(average(colour)), where=cover > 0.0)
        colour, alpha = np.where(cover > 0.0, visible, average(colour)), cover
        levels.append(np.concatenate([srgb_from_linear(colour), alpha], axis=2) * 255.0)
    return levels


def noise(height: int, width: int, *, opaque: bool) -> UInt8:
    image = np.random.default_rng(height * 100 + width).integers(0, 256, (height, width, 4), dtype=np.uint8)
    image[..., 3] = 255 if opaque else np.where(image[..., 3] < 128, 0, image[..., 3])
    return image


@pytest.mark.parametrize("opaque", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_every_level_is_the_average_of_light_over_the_area(size: tuple[int, int], opaque: bool) -> None:
    image = noise(*size, opaque=opaque)
    levels = mip_image(image).levels
    expected = reference(image)
    assert levels[0] is image
    assert len(levels) == len(expected) + 1 == max(size).bit_length()
    for level, wanted in zip(levels[1:], expected, strict=True):
        assert level.shape == wanted.shape
        # Half a unit is rounding; the rest is single precision.
        np.testing.assert_allclose(level, wanted, rtol=0.0, atol=0.51)


def test_bands_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    image = noise(37, 21, opaque=False)
    whole, pauses = mip_image(image).levels, []
    monkeypatch.setattr(images, "BAND_TEXELS", 64)
    banded = mip_image(image, pause=lambda: pauses.append(None)).levels
    assert len(pauses) > len(banded)
    for one, other in zip(whole, banded, strict=True):
        np.testing.assert_array_equal(one, other)


def test_black_and_white_average_to_half_the_light() -> None:
    image = np.full((2, 2, 4), 255, np.uint8)
    image[0, 0, :3] = image[1, 1, :3] = 0
    assert mip_image(image).levels[1][0, 0].tolist() == [188, 188, 188, 255]


def test_what_is_hidden_does_not_bleed() -> None:
    image = np.zeros((2, 2, 4), np.uint8)
    image[:, 0] = 200, 100, 0, 255
    image[:, 1] = 0, 255, 255, 0
    assert mip_image(image).levels[1][0, 0].tolist() == [200, 100, 0, 128]


def test_a_hidden_area_keeps_its_colour() -> None:
    image = np.full((2, 2, 4), 90, np.uint8)
    image[..., 3] = 0
    assert mip_image(image).levels[1][0, 0].tolist() == [90, 90, 90, 0]


def test_giving_up_ends_between_bands() -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    with pytest.raises(Enough):
        mip_image(noise(4, 4, opaque=True), pause=stop)


def test_large_levels_can_be_left_out() -> None:
    image = mip_image(noise(20, 5, opaque=True))
    assert [level.shape[:2] for level in image.within(10).levels] == [(10, 2), (5, 1), (2, 1), (1, 1)]
    assert image.within(20).pixels is image.pixels


def test_an_image_without_texels_has_no_smaller_level() -> None:
    assert len(mip_image(np.zeros((4, 0, 4), np.uint8)).levels) == 1
