"""Textures become RGBA bytes; what cannot is refused in one line."""

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sim.assets.images import SIDE_MAX, ImageError, load_image

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
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_bombs_are_refused_before_they_are_decoded(tmp_path, size):
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(*size))
    with pytest.raises(ImageError, match="pixels"):
        load_image(path)


def test_what_is_no_image_is_refused_in_one_line(tmp_path):
    text = tmp_path / "a.png"
    text.write_text("no image")
    with pytest.raises(ImageError, match=r"a\.png: is no image of a known format"):
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
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
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
