import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.images import ImageError
from sinew.sim.assets.panorama_reader import PIXEL_MAX, load_panorama

HEADER = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"


def file_of(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "light.hdr"
    path.write_bytes(data)
    return path


def packed(texels: np.ndarray) -> bytes:
    """Rows with separate channels: runs of at least four equal values, and literals."""
    out = b""
    for row in texels:
        out += bytes((2, 2, len(row) >> 8, len(row) & 255))
        for channel in row.T:
            place = 0
            while place < len(channel):
                end = place + 1
                while end < len(channel) and channel[end] == channel[place] and end - place < 127:
                    end += 1
                if end - place >= 4:
                    out += bytes((128 + end - place, channel[place]))
                else:
                    end = min(place + 3, len(channel))
                    out += bytes((end - place, *channel[place:end]))
                place = end
    return out


def texels_of(height: int, width: int) -> np.ndarray:
    texels = np.random.default_rng(3).integers(0, 256, (height, width, 4), np.uint8)
    texels[..., 3] = np.random.default_rng(4).integers(120, 136, (height, width))
    texels[:, 5:15] = texels[:, 5:6]
    return texels


def light_of(texels: np.ndarray) -> np.ndarray:
    return texels[..., :3].astype(float) * 2.0 ** (texels[..., 3:].astype(float) - 136.0)


@pytest.mark.parametrize("form", ["packed", "plain", "repeated", "upside down"])
def test_values_and_forms(tmp_path: Path, form: str) -> None:
    texels = texels_of(16, 32)
    data = packed(texels) if form == "packed" else texels.tobytes()
    if form == "repeated":  # each row: its first texel, then runs in the old code
        texels[:] = texels[:, :1]
        data = b"".join(bytes(row[0]) + b"\1\1\1\x1f" for row in texels)
    sign = b"+" if form == "upside down" else b"-"
    found = load_panorama(file_of(tmp_path, HEADER + sign + b"Y 16 +X 32\n" + data)).levels[0]
    expected = light_of(texels)
    np.testing.assert_allclose(found, expected[::-1] if form == "upside down" else expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG", "neither a Radiance"),
        (b"#?RADIANCE\n", "header does not end"),
        (b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n", "xyze"),
        (HEADER + b"+X 4 -Y 4\n", "resolution"),
        (HEADER + b"-Y 99999999 +X 99999999\n", str(PIXEL_MAX)),
        (HEADER + b"-Y 4096 +X 8192\n" + b"\0" * 99, "ends too early"),
        (HEADER + b"-Y 0 +X 9\n" + b"\0" * 99, "0 pixels"),
        (HEADER + b"-Y 2 +X 16\n\2\2\0\x20" + b"\0" * 99, "32 pixels wide"),
        (HEADER + b"-Y 1 +X 16\n\2\2\0\x10\xff\1" + b"\0" * 99, "more pixels"),
        (HEADER + b"-Y 1 +X 16\n\1\1\1\5" + b"\0" * 99, "more pixels"),
    ],
)
def test_unusable_files(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ImageError, match=reason) as error:
        load_panorama(file_of(tmp_path, data))
    assert "\n" not in str(error.value)
    assert "light.hdr" in str(error.value)


def test_damaged_files_never_end_otherwise(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    whole = HEADER + b"-Y 16 +X 32\n" + packed(texels_of(16, 32))
    refused = list[str]()
    for number in range(400):
        data = bytearray(whole[: random.integers(len(whole))] if number % 3 == 0 else whole)
        for place in random.integers(len(data), size=number % 7) if data else ():
            data[place] = random.integers(256)
        try:
            assert np.isfinite(load_panorama(file_of(tmp_path, bytes(data))).levels[0]).all()
        except ImageError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert not any("\n" in line for line in refused)


@pytest.mark.skipif(importlib.util.find_spec("OpenEXR") is None, reason="needs OpenEXR")
def test_openexr(tmp_path: Path) -> None:
    import OpenEXR

    image = np.random.default_rng(5).random((16, 32, 3)).astype(np.float32)
    path = tmp_path / "light.exr"
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"RGB": image}).write(str(path))
    np.testing.assert_array_equal(load_panorama(path).levels[0], image)
    data = path.read_bytes()
    for end in (20, len(data) // 2):
        path.write_bytes(data[:end])
        with pytest.raises(ImageError):
            load_panorama(path)


def test_a_real_panorama(assets: Path) -> None:
    made = load_panorama(assets / "hdr/royal_esplanade_1k.hdr")
    height, width = made.levels[0].shape[:2]
    assert (height, width) == (512, 1024)
    edges = np.cos(np.linspace(0.0, np.pi, height + 1))
    mean = (made.levels[0] * (edges[:-1] - edges[1:])[:, None, None]).sum(axis=(0, 1)) / (2.0 * width)
    np.testing.assert_allclose(mean, (0.93299, 0.75797, 0.67860), rtol=1e-4)
    tile = made.irradiance
    for row, column, light in (
        (16, 16, (2.72268, 2.25283, 1.77973)), (32, 16, (0.37912, 0.31952, 0.44676)),
        (16, 0, (0.44559, 0.34386, 0.34019)), (0, 0, (0.38768, 0.25993, 0.20001)),
    ):  # fmt: skip
        np.testing.assert_allclose(tile[row, column], light, rtol=0.01)
