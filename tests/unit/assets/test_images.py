"""Textures become RGBA bytes; what cannot is refused in one line."""

import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew.sim.assets.images import SIDE_MAX, TOTAL_MAX, ImageBudget, ImageError, load_image
from sinew.sim.assets.model import EmbeddedImage

RGBA = np.random.default_rng(3).integers(0, 256, (5, 7, 4), dtype=np.uint8)


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds nothing."""

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


def test_an_image_without_alpha_is_opaque(tmp_path):
    path = tmp_path / "a.bmp"
    Image.fromarray(RGBA[..., :3]).save(path)
    pixels = load_image(path)
    np.testing.assert_array_equal(pixels[..., :3], RGBA[..., :3])
    assert (pixels[..., 3] == 255).all()


def test_a_photo_is_close_to_what_was_stored(tmp_path):
    x, y = np.meshgrid(np.linspace(0, 255, 64), np.linspace(0, 255, 32))
    smooth = np.stack([x, y, (x + y) / 2], axis=-1).astype(np.uint8)
    path = tmp_path / "a.jpg"
    Image.fromarray(smooth).save(path, quality=95)
    difference = load_image(path)[..., :3].astype(int) - smooth
    assert np.abs(difference).max() < 16


def test_palette_with_transparency_and_grey(tmp_path):
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putdata([0, 1])
    palette.save(tmp_path / "p.png", transparency=1)
    np.testing.assert_array_equal(load_image(tmp_path / "p.png"), [[[10, 20, 30, 255], [40, 50, 60, 0]]])
    Image.fromarray(np.array([[0, 100, 255]], dtype=np.uint8)).save(tmp_path / "g.png")
    expected = [[[0, 0, 0, 255], [100, 100, 100, 255], [255, 255, 255, 255]]]
    np.testing.assert_array_equal(load_image(tmp_path / "g.png"), expected)


def test_sixteen_bit_grey_is_scaled(tmp_path):
    values = np.array([[0, 257, 32896, 65535]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / "deep.png")
    assert load_image(tmp_path / "deep.png")[0, :, 0].tolist() == [0, 1, 128, 255]


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are files on POSIX only")
def test_a_named_pipe_does_not_block(tmp_path):
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
    for turn in range(300):
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


def test_textures_of_real_models(assets: Path):
    pixels = load_image(assets / "ezm" / "dude" / "head.jpg")
    with Image.open(assets / "ezm" / "dude" / "head.jpg") as image:
        assert pixels.shape == (image.height, image.width, 4)
    basket = load_image(assets / "ezm" / "beshon" / "beshon_basket_map.tga")
    assert basket.shape[2] == 4
    assert basket[..., :3].std() > 1.0


def test_large_images_are_read_band_by_band_and_exactly(tmp_path):
    pixels = np.random.default_rng(5).integers(0, 256, (700, 9, 4), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "tall.png")
    np.testing.assert_array_equal(load_image(tmp_path / "tall.png"), pixels)
    deep = np.linspace(0, 65535, 700).astype(np.uint16).reshape(700, 1)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(load_image(tmp_path / "deep.png")[..., 0], deep // 257)


@pytest.mark.parametrize("kind", ["png", "jpg", "tga"])
@pytest.mark.parametrize("size", [(1, 1000), (1000, 1), (64, 96), (33, 65), (16, 600)])
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


def test_averages_are_those_of_squares(tmp_path):
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:2, :2] = 200
    pixels[2:, 2:] = (10, 20, 30, 255)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    small = load_image(tmp_path / "a.png", ImageBudget(8))
    np.testing.assert_array_equal(small, [[[200, 200, 200, 200], [0, 0, 0, 0]], [[0, 0, 0, 0], [10, 20, 30, 255]]])


def test_a_budget_leaves_something_for_every_image(tmp_path):
    """Sixteen pictures of 8192 x 8192, which are 8 KB each on the disk, would be 4 GB."""
    budget = ImageBudget()
    factors = [budget.take(tmp_path / "a.png", (8192, 8192)) for _ in range(16)]
    assert factors == sorted(factors)
    assert factors[0] == 1
    assert sum((8192 // factor) ** 2 for factor in factors) <= TOTAL_MAX
    assert len(budget.take_notes()) == sum(factor > 1 for factor in factors)


def test_what_is_not_kept_is_given_back(tmp_path):
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
@pytest.mark.parametrize("kind", ["tga", "png"])
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
    """A progressive JPEG of squares whose last scan is repeated."""
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
    path.write_bytes(progressive(4000))
    assert load_image(path).shape == (4000, 4000, 4)


def test_bytes_of_a_comment_are_no_scans(tmp_path):
    data = progressive(3000)
    comment = b"\xff\xda" * 400
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:2] + b"\xff\xfe" + (2 + len(comment)).to_bytes(2, "big") + comment + data[2:])
    assert load_image(path).shape == (3000, 3000, 4)
