"""Vertex textures are decoded as engines do it, by formulas of their own."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew.sim.export.formats import (
    SCENE_FORMATS,
    ExportError,
    ExrTextureOptions,
    PngTextureOptions,
    TextureNormals,
    TexturePreset,
)
from sinew.sim.export.png16 import read_png16, write_png16
from sinew.sim.export.scene.recording import SceneRecording, Track
from sinew.sim.export.scene.writing import write_scene
from sinew.sim.export.vertex_texture import blending_error, open_vat_layout
from tests.gltf_rules import Checked

RATE = 30.0


def sheet(columns: int, rows: int, frames: int, place: float = 0.0) -> SceneRecording:
    """A sheet that waves [m]."""
    x, z = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 0.6, rows))
    time = np.arange(frames)[:, None] / RATE
    x, z = x.ravel(), z.ravel()
    wave = 0.15 * np.sin(7.0 * x + 3.0 * time) + 0.1 * time
    still = np.broadcast_to(x, wave.shape), np.broadcast_to(z, wave.shape) + 0.05 * np.cos(5.0 * time)
    positions = np.stack((still[0] + place, wave, still[1]), axis=2).astype(np.float32)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    below = corner + columns
    triangles = np.concatenate((np.stack((corner, below, corner + 1), 1), np.stack((corner + 1, below, below + 1), 1)))
    texcoords = np.column_stack((x, z)).astype(np.float32)
    track = Track(name="Sheet", positions=positions, triangles=triangles.astype(np.uint32), texcoords=texcoords)
    return SceneRecording((track,), RATE)


def written(recording: SceneRecording, path: Path, options: PngTextureOptions) -> list[str]:
    reported, warned = list[str](), list[str]()
    write_scene(recording, path, SCENE_FORMATS.of(path), options, reported.append, warned.append)
    assert len(reported) == 1
    return [*reported, *warned]


def pixels(path: Path) -> np.ndarray:
    if path.suffix == ".png":
        return read_png16(path)
    exr = pytest.importorskip("OpenEXR")
    channels = exr.File(str(path), separate_channels=True).channels()
    return np.stack([channels[name].pixels for name in "RGB"], axis=-1)


def surface(path: Path) -> tuple[Checked, dict[str, np.ndarray]]:
    checked = Checked(path.read_bytes())
    attributes = checked.document["meshes"][0]["primitives"][0]["attributes"]
    return checked, {name: checked.values(accessor) for name, accessor in attributes.items()}


def y_up(vectors: np.ndarray) -> np.ndarray:
    return np.stack((vectors[..., 0], vectors[..., 2], -vectors[..., 1]), axis=-1)


def degrees(found: np.ndarray, wanted: np.ndarray) -> float:
    found = found / np.linalg.norm(found, axis=1, keepdims=True)
    return float(np.degrees(2.0 * np.arcsin(np.linalg.norm(found - wanted, axis=1).max() / 2.0)))


@pytest.mark.parametrize("suffix", [".png", ".exr"])
@pytest.mark.parametrize("normals", TextureNormals)
@pytest.mark.parametrize("size", [(12, 9, 7), (90, 40, 5)])  # one block and several
def test_open_vat_is_decoded_by_its_formulas(suffix, normals, size, tmp_path):
    recording = sheet(*size, place=3.0)
    (track,) = recording.tracks
    if suffix == ".exr":
        options = ExrTextureOptions(normals=normals, preset=TexturePreset.OPENVAT)
    else:
        options = PngTextureOptions(normals=normals)
    lines = written(recording, tmp_path / f"wave{suffix}", options)
    assert lines[0].startswith(f"{tmp_path / 'wave_vat'}{suffix}: {size[2]} frames, {size[0] * size[1]} vertices")
    remap = json.loads((tmp_path / "wave-remap_info.json").read_text())["os-remap"]
    low, high = np.array(remap["Min"]), np.array(remap["Max"])
    assert remap["Frames"] == size[2]
    np.testing.assert_allclose(low * 10, np.round(low * 10), atol=1e-9)
    image = pixels(tmp_path / f"wave_vat{suffix}")
    height, width = image.shape[:2]
    assert width & (width - 1) == 0
    assert height & (height - 1) == 0
    assert 0.5 <= width / height <= 2.0
    _, stored = surface(tmp_path / "wave_vat.glb")
    assert np.array_equal(stored["TEXCOORD_0"], np.column_stack((track.texcoords[:, 0], 1.0 - track.texcoords[:, 1])))
    u, v = stored["TEXCOORD_1"].astype(np.float64).T
    bound = (high - low) / (131070.0 if suffix == ".png" else 2.0**25) + 4e-7  # and float32 of the sum
    for frame in range(size[2]):

        def texel(offset: float, of: np.ndarray = image, frame: int = frame) -> np.ndarray:
            rows = np.floor((v + frame / height + offset) * height).astype(int)
            return of[rows, np.floor(u * width).astype(int)]

        found = stored["POSITION"] + y_up(low + texel(0.0) * (high - low))
        assert (np.abs(found - track.positions[frame]) <= np.abs(y_up(bound))).all()
        wanted = track.surface(frame).normals
        if normals is TextureNormals.PACKED:
            assert degrees(y_up(2.0 * texel(0.5) - 1.0), wanted) < 0.01
        elif normals is TextureNormals.SEPARATE:
            assert degrees(y_up(2.0 * texel(0.0, pixels(tmp_path / f"wave_vnrm{suffix}")) - 1.0), wanted) < 0.01
    files = {f"wave_vat{suffix}", "wave-remap_info.json", "wave_vat.glb"}
    files |= {f"wave_vnrm{suffix}"} if normals is TextureNormals.SEPARATE else set()
    assert {path.name for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("normals", TextureNormals)
def test_own_texture_holds_metres_and_normals(normals, tmp_path, monkeypatch):
    pytest.importorskip("OpenEXR")
    monkeypatch.setattr("sinew.sim.export.vertex_texture.SIZE_MAX", 20)
    recording = sheet(12, 9, 6)
    (track,) = recording.tracks
    written(recording, tmp_path / "a.exr", ExrTextureOptions(normals=normals))
    about = json.loads((tmp_path / "a.json").read_text())
    assert (about["width"], about["rows_per_frame"]) == (20, 6)
    assert about["normals"] == normals.value
    assert about["height"] == 36 * (2 if normals is TextureNormals.PACKED else 1)
    image = pixels(tmp_path / "a.exr")
    other = pixels(tmp_path / "a_normals.exr") if normals is TextureNormals.SEPARATE else image
    _, stored = surface(tmp_path / "a_vat.glb")
    u, v = stored["TEXCOORD_1"].astype(np.float64).T
    for frame in range(6):
        rows = np.floor(v * about["height"]).astype(int) + 6 * frame
        columns = np.floor(u * 20).astype(int)
        np.testing.assert_allclose(stored["POSITION"] + image[rows, columns], track.positions[frame], atol=1e-7)
        if normals is not TextureNormals.NONE:
            offset = about["height"] // 2 if normals is TextureNormals.PACKED else 0
            assert degrees(other[rows + offset, columns], track.surface(frame).normals) < 1e-4


def test_the_smallest_texture_is_chosen():
    layout = open_vat_layout(828, 121, TextureNormals.PACKED, single_block=False)
    assert (layout.width, layout.height) == (512, 512)
    layout = open_vat_layout(828, 121, TextureNormals.PACKED, single_block=True)
    assert layout.width >= 828
    assert not layout.rows.any()


@pytest.mark.parametrize(
    ("vertices", "frames", "single", "text"),
    [(8193, 2, True, "a single block"), (70_000, 600, False, "a texture of 8192 x 8192")],
)
def test_too_many_vertices_are_refused(vertices, frames, single, text):
    with pytest.raises(ExportError, match=text):
        open_vat_layout(vertices, frames, TextureNormals.PACKED, single_block=single)


def test_losses_are_reported(tmp_path):
    recording = sheet(12, 9, 7)
    lines = written(recording, tmp_path / "a.png", PngTextureOptions())
    error = blending_error(recording.tracks[0])
    assert f"blending between frames: up to {1000.0 * error:.2g} mm" in lines[-1]
    assert "rounding: up to" in lines[-1]


def test_blending_error_is_what_a_motion_at_twice_the_rate_shows():
    fine = sheet(30, 4, 41).tracks[0]
    coarse = Track(name="a", positions=fine.positions[::2], triangles=fine.triangles)
    middle = 0.5 * (coarse.positions[:-1].astype(float) + coarse.positions[1:])
    lost = np.linalg.norm(middle - fine.positions[1::2], axis=2).max()
    assert blending_error(coarse) == pytest.approx(lost, rel=0.05)


def test_images_of_16_bits_are_png(tmp_path):
    values = np.random.default_rng(3).random((5, 7, 3))
    write_png16(values, tmp_path / "a.png")
    assert np.abs(read_png16(tmp_path / "a.png") - values).max() <= 0.5 / 65535
    with Image.open(tmp_path / "a.png") as image:  # Pillow reduces it to 8 bits
        assert image.size == (7, 5)
        assert np.abs(np.asarray(image.convert("RGB")) / 255.0 - values).max() < 1 / 255
