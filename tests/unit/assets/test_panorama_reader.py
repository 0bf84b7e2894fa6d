import contextlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets import panorama_reader
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.images import ImageError
from sinew.sim.assets.panorama_reader import PIXEL_MAX, load_panorama
from tests.conftest import slow
from tests.refusals import refusal

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


@pytest.mark.parametrize("count", [100, slow(400)])
def test_damaged_files_never_end_otherwise(tmp_path: Path, count: int) -> None:
    random = np.random.default_rng(7)
    whole = HEADER + b"-Y 16 +X 32\n" + packed(texels_of(16, 32))
    refused = list[str]()
    for number in range(count):
        data = bytearray(whole[: random.integers(len(whole))] if number % 3 == 0 else whole)
        for place in random.integers(len(data), size=number % 7) if data else ():
            data[place] = random.integers(256)
        try:
            assert np.isfinite(load_panorama(file_of(tmp_path, bytes(data))).levels[0]).all()
        except ImageError as error:
            refused.append(str(error))
    assert len(refused) > count / 4
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


def test_rows_are_unpacked_together_and_one_by_one_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texels = texels_of(80, 300)
    texels[7, 20:24] = (2, 2, 2, 2)
    rows = [packed(row[None]) for row in texels]
    # A mark of a row within literals, a row of whole texels, and a run that ends at the last texel.
    texels[9, :4, 0] = 2, 2, 300 >> 8, 300 & 255
    rows[9], rows[50] = packed(texels[9:10]), texels[50].tobytes()
    data = b"".join(rows)
    found = panorama_reader._texels(data, 0, 300, 80)
    np.testing.assert_array_equal(found, texels)
    monkeypatch.setattr(panorama_reader, "_ROWS", 0)
    np.testing.assert_array_equal(panorama_reader._texels(data, 0, 300, 80), texels)


def test_marks_everywhere_do_not_mislead(tmp_path: Path) -> None:
    texels = np.empty((64, 300, 4), np.uint8)
    texels[:] = np.tile(np.array((2, 2, 300 >> 8, 300 & 255), np.uint8), 75)[None, :, None]
    np.testing.assert_array_equal(panorama_reader._texels(packed(texels), 0, 300, 64), texels)


def test_a_damaged_row_is_named_wherever_it_is(tmp_path: Path) -> None:
    rows = [packed(row[None]) for row in texels_of(64, 32)]
    rows[40] = b"\2\2\0\x20\xff\1" + bytes(40)
    with pytest.raises(ImageError, match="row 40: has more pixels"):
        load_panorama(file_of(tmp_path, HEADER + b"-Y 64 +X 32\n" + b"".join(rows)))


def test_a_reader_that_fails_unforeseen_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a\nb")

    monkeypatch.setattr(panorama_reader, "_texels", fail)
    path = file_of(tmp_path, HEADER + b"-Y 16 +X 32\n" + bytes(2048))
    assert "KeyError" in refusal(load_panorama, path, ImageError)


needs_openexr = pytest.mark.skipif(importlib.util.find_spec("OpenEXR") is None, reason="needs OpenEXR")


def write_exr(path: Path, *parts: dict[str, np.ndarray]) -> Path:
    import OpenEXR

    low, made = np.zeros(2, np.int32), []
    for number, channels in enumerate(parts):
        height, width = next(iter(channels.values())).shape[:2]
        header = {
            "compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage,
            "displayWindow": (low, np.array([31, 15], np.int32)),
            "dataWindow": (low, np.array([width - 1, height - 1], np.int32)),
        }  # fmt: skip
        made.append(OpenEXR.Part(header, channels, f"part {number}"))
    OpenEXR.File(made).write(str(path))
    return path


@needs_openexr
def test_openexr_decodes_colours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    light = {name: np.random.default_rng(5).random((16, 32)).astype(np.float16) for name in "RGB"}
    others = {f"mask {number}": np.zeros((16, 32), np.float32) for number in range(80)}
    path = write_exr(tmp_path / "light.exr", {**light, **others})
    expected = np.stack([light[name] for name in "RGB"], axis=-1).astype(np.float32)
    np.testing.assert_array_equal(load_panorama(path).levels[0], expected)
    content = panorama_reader.exr_content(str(path).encode())
    np.testing.assert_array_equal(content["colours"], expected)
    monkeypatch.setattr(panorama_reader, "DECODED_MAX", 16 * 32 * (3 * 2 + 80 * 4) - 1)
    with pytest.raises(ElementFault, match=r"83 channels with 163\.0 KiB in all.*keep R, G, B alone"):
        panorama_reader.exr_content(str(path).encode())


@needs_openexr
def test_all_parts_of_openexr_are_checked(tmp_path: Path) -> None:
    small, large = np.zeros((16, 32), np.float16), np.zeros((1, 8193), np.float16)
    path = write_exr(tmp_path / "light.exr", dict.fromkeys("RGB", small), dict.fromkeys("RGB", large))
    assert refusal(load_panorama, path, ImageError).startswith("part 1: has 8193 x 1 pixels")


@needs_openexr
def test_grey_and_foreign_channels_of_openexr(tmp_path: Path) -> None:
    grey = np.random.default_rng(5).random((16, 32)).astype(np.float32)
    found = load_panorama(write_exr(tmp_path / "grey.exr", {"Y": grey})).levels[0]
    np.testing.assert_array_equal(found, np.repeat(grey[..., None], 3, axis=2))
    path = write_exr(tmp_path / "depth.exr", {"Z": grey})
    assert refusal(load_panorama, path, ImageError) == "has neither the channels R, G and B nor Y"


@needs_openexr
@pytest.mark.parametrize("count", [2, slow(4)])
def test_lines_of_the_library_reach_nobody(tmp_path: Path, capfd: pytest.CaptureFixture[str], count: int) -> None:
    random = np.random.default_rng(3)
    whole = write_exr(
        tmp_path / "light.exr", {name: random.random((16, 32), np.float32) for name in "RGB"}
    ).read_bytes()
    path = tmp_path / "damaged.exr"
    for number in range(count):
        data = bytearray(whole)
        data[len(data) // 2 + number] ^= 255
        path.write_bytes(data[: len(data) - 900 * number])
        with contextlib.suppress(ImageError):
            load_panorama(path)
    assert capfd.readouterr() == ("", "")
