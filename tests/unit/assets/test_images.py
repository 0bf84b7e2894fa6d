import io
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sinew.sim.assets import images
from sinew.sim.assets.images import SIDE_MAX, TOTAL_MAX, ImageBudget, ImageError, load_image, mip_image
from sinew.sim.assets.model import EmbeddedImage
from sinew.sim.maths.arrays import UInt8
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear

RGBA = np.random.default_rng(3).integers(0, 256, (5, 7, 4), dtype=np.uint8)


def png_header(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("suffix", ["png", "tga", "dds"])
def test_lossless_images_are_read_exactly(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(RGBA).save(path)
    pixels = load_image(path)
    assert pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous
    np.testing.assert_array_equal(pixels, RGBA)


def test_palette_with_transparency_and_grey(tmp_path):
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putdata([0, 1])
    palette.save(tmp_path / "p.png", transparency=1)
    np.testing.assert_array_equal(load_image(tmp_path / "p.png"), [[[10, 20, 30, 255], [40, 50, 60, 0]]])
    Image.fromarray(np.array([[0, 100, 255]], dtype=np.uint8)).save(tmp_path / "g.png")
    expected = [[[0, 0, 0, 255], [100, 100, 100, 255], [255, 255, 255, 255]]]
    np.testing.assert_array_equal(load_image(tmp_path / "g.png"), expected)


@pytest.mark.parametrize("size", [(100_000, 100_000), (SIDE_MAX + 1, 1), (12_000, 12_000), (9_000, 9_000)])
def test_bombs_are_refused_before_they_are_decoded(tmp_path, size):
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(*size))
    with pytest.raises(ImageError, match="pixels"):
        load_image(path)


def test_what_is_no_image_is_refused_in_one_line(tmp_path):
    text = tmp_path / "a.png"
    text.write_text("no image")
    with pytest.raises(ImageError, match=r"a\.png: is not an image of a known format"):
        load_image(text)
    with pytest.raises(ImageError, match="No such file"):
        load_image(tmp_path / "none.png")
    with pytest.raises(ImageError, match="not a regular file"):
        load_image(tmp_path)
    with pytest.raises(ImageError, match="null"):
        load_image(tmp_path / "a\0b.png")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        with pytest.raises(ImageError, match="not a regular file"):
            load_image(tmp_path / "pipe.png")


@pytest.mark.parametrize("suffix", ["png", "jpg", "tga", "bmp", "dds"])
def test_a_damaged_image_is_read_or_refused(tmp_path, suffix):
    path = tmp_path / f"whole.{suffix}"
    Image.fromarray(RGBA[..., :3] if suffix == "jpg" else RGBA).save(path)
    whole = path.read_bytes()
    random = np.random.default_rng(11)
    outcomes = set()
    for turn in range(150):
        data = bytearray(whole[: random.integers(len(whole))] if turn % 3 == 0 else whole)
        for at in random.integers(max(len(data), 1), size=random.integers(1, 6)) if data else ():
            data[at] = random.integers(256)
        damaged = tmp_path / f"damaged.{suffix}"
        damaged.write_bytes(bytes(data))
        try:
            outcomes.add(load_image(damaged).shape[2])
        except ImageError as error:
            outcomes.add("refused" if "\n" not in str(error) else str(error))
    assert outcomes <= {4, "refused"}
    assert "refused" in outcomes


def test_large_images_are_read_band_by_band_and_exactly(tmp_path):
    pixels = np.random.default_rng(5).integers(0, 256, (700, 9, 4), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "tall.png")
    np.testing.assert_array_equal(load_image(tmp_path / "tall.png"), pixels)
    deep = np.linspace(0, 65535, 700).astype(np.uint16).reshape(700, 1)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(load_image(tmp_path / "deep.png")[..., 0], deep // 257)


@pytest.mark.parametrize("kind", ["png", "jpg", "tga"])
@pytest.mark.parametrize("size", [(1, 1000), (64, 96), (33, 65)])
def test_an_image_beyond_the_budget_shrinks_by_halves(tmp_path, kind, size):
    path = tmp_path / f"a.{kind}"
    grey = np.full((size[1], size[0], 3), 100, np.uint8)
    Image.fromarray(grey).save(path)
    budget = ImageBudget(600)
    pixels = load_image(path, budget)
    (note,) = budget.take_notes()
    factor = int(note.partition("with 1/")[2].partition(" ")[0])
    assert pixels.shape[0] * pixels.shape[1] <= 300 < 4 * (pixels.shape[0] + 1) * (pixels.shape[1] + 1)
    assert pixels.shape[:2] == (-(-size[1] // factor), -(-size[0] // factor))
    assert np.abs(pixels[..., :3].astype(int) - 100).max() <= 2
    assert (pixels[..., 3] == 255).all()
    assert budget.take_notes() == []


def test_a_budget_leaves_something_for_every_image(tmp_path):
    """Sixteen images of 8192 x 8192, which are 8 KB each on the disk, would be 4 GB."""
    budget = ImageBudget()
    factors = [budget.take(tmp_path / "a.png", (8192, 8192)) for _ in range(16)]
    assert factors == sorted(factors)
    assert factors[0] == 1
    assert sum((8192 // factor) ** 2 for factor in factors) <= TOTAL_MAX
    assert len(budget.take_notes()) == sum(factor > 1 for factor in factors)


def test_images_that_are_released_give_their_budget_back(tmp_path):
    budget = ImageBudget(100)
    assert budget.take(tmp_path / "a.png", (7, 7)) == 1
    assert budget.take(tmp_path / "a.png", (7, 7)) == 2
    budget.give_back(49 + 16)
    assert budget.take(tmp_path / "a.png", (7, 7)) == 1
    budget.give_back(49)
    (tmp_path / "short.png").write_bytes(png_header(7, 7))
    for _ in range(5):
        with pytest.raises(ImageError):
            load_image(tmp_path / "short.png", budget)
    assert budget.take(tmp_path / "a.png", (7, 7)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="measures as POSIX does")
@pytest.mark.parametrize("kind", ["tga"])
def test_the_largest_image_takes_twice_its_pixels_at_most(tmp_path, kind):
    """Decoded by the library and as an array: more copies once took four times as much."""
    path = tmp_path / f"a.{kind}"
    save = {"compression": "tga_rle"} if kind == "tga" else {}
    Image.new("RGBA", (8192, 4096), (1, 2, 3, 4)).save(path, **save)
    code = (
        "import resource, sys; from pathlib import Path; from sinew.sim.assets.images import load_image;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; image = load_image(Path(sys.argv[1]));"
        "print(image.shape, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    shape, _, peak = done.stdout.strip().rpartition(" ")
    assert shape == "(4096, 8192, 4)"
    assert int(peak) < 2 * 128 + 40


def progressive(side: int, more: int = 0) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (side, side), 90).save(stream, "JPEG", progressive=True)
    data = stream.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * more + data[-2:]


def test_a_jpeg_of_hundreds_of_scans_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(progressive(3000, 400))
    with pytest.raises(ImageError, match=r"has 40\d scans of 3000 x 3000 pixels; allowed: 1073741824 in all"):
        load_image(path)
    with pytest.raises(ImageError, match="scans"):
        load_image(EmbeddedImage("a", path.read_bytes()))


def test_progressive_jpegs_are_read(tmp_path):
    path = tmp_path / "a.jpg"
    data, comment = progressive(1000), b"\xff\xda" * 4000
    path.write_bytes(data[:2] + b"\xff\xfe" + (2 + len(comment)).to_bytes(2, "big") + comment + data[2:])
    assert load_image(path).shape == (1000, 1000, 4), "bytes of a comment are no scans"


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


def test_large_levels_can_be_left_out() -> None:
    assert len(mip_image(np.zeros((4, 0, 4), np.uint8)).levels) == 1
    image = mip_image(noise(20, 5, opaque=True))
    assert [level.shape[:2] for level in image.within(10).levels] == [(10, 2), (5, 1), (2, 1), (1, 1)]
    assert image.within(20).pixels is image.pixels
