"""Exports of all sample projects as Blender reads them.

They need the package bpy (Blender as a Python module), here or in another Python that the environment variable
SINEW_BLENDER_PYTHON names: `python -m venv blender; blender/bin/pip install bpy==4.2.0`.
"""

import contextlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew import resources
from sinew.app.headless.run import SceneRun, headless
from sinew.app.headless.scene import opened
from sinew.app.headless.tracks import TrackRecorder
from sinew.app.jobs.export import as_drawn
from sinew.sim.export.formats import SCENE_FORMATS, Characters, GlbOptions
from sinew.sim.export.scene.recording import CameraTrack, SceneRecording, Topology, Track
from sinew.sim.export.scene.writing import write_scene
from sinew.sim.scene.transform import Transform, node_matrix
from tests.permissions import OWN

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(1800)]

READER = Path(__file__).parents[1] / "blender_reader.py"
PYTHON = os.environ.get("SINEW_BLENDER_PYTHON") or (sys.executable if importlib.util.find_spec("bpy") else "")
RATE, FIRST, LAST = 60, 20, 24
CAMERA = CameraTrack(
    "Front view", np.stack([node_matrix(Transform(position=(0.0, 1.0, f), rotation=(-10.0, 5.0 * f, 0.0)))
                            for f in range(LAST + 1 - FIRST)]), 35.0, 0.0, 0.1, 90.0
)  # fmt: skip


def recorded(sample: Path, folder: Path) -> SceneRecording:
    scene = as_drawn(opened(sample, OWN), None)
    with headless() as context:
        run = SceneRun(context, scene)
        try:
            with contextlib.closing(TrackRecorder(run, scene, float(RATE), (), folder)) as recorder:
                for frame in range(FIRST, LAST + 1):
                    recorder.add(frame)
                recording = recorder.recording(FIRST)
        finally:
            run.release()
    return SceneRecording(recording.tracks, recording.rate, FIRST, (CAMERA,))


def in_blender(folder: Path, files: list[Path], dual: Sequence[str] = ()) -> list[dict[str, Any]]:
    if not PYTHON:
        pytest.skip("needs the package bpy or SINEW_BLENDER_PYTHON")
    wanted, output = folder / "wanted.json", folder / "found.pickle"
    common = {"frames": [FIRST, LAST], "rate": RATE, "dual": list(dual)}
    wanted.write_text(json.dumps([{"path": str(path), **common} for path in files]), encoding="utf-8")
    run = subprocess.run([PYTHON, str(READER), str(wanted), str(output)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    with open(output, "rb") as file:
        found: list[dict[str, Any]] = pickle.load(file)
    return found


def written(recording: SceneRecording, path: Path, options: Any = None) -> list[str]:
    lines: list[str] = []
    write_scene(recording, path, SCENE_FORMATS.of(path), options, lines.append, lines.append)
    return lines


def word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def beside_area(points: np.ndarray, triangles: Any) -> np.ndarray:
    """Returns the mask of vertices all of whose triangles have an area: at others Blender turns the normal."""
    a, b, c = (points.astype(np.float64)[triangles[:, corner]] for corner in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    mask = np.ones(len(points), bool)
    mask[triangles[areas < 1e-3 * np.median(areas)]] = False
    return mask


def assert_same(track: Track, thing: dict[str, Any], size: float, what: str) -> None:
    """Compares points, normals, strands and radii in the first and the last frame."""
    for frame, found in thing["frames"].items():
        number = frame - FIRST
        points, place = track.living(track.positions, number), f"{what} {track.name} {frame}"
        assert found["points"].shape == points.shape, place
        assert np.abs(found["points"] - points).max(initial=0.0) < 1e-5 * size, place
        if track.form is Topology.SURFACE and not any(track.flat):
            wanted, has_area = track.shading_normals(number)[found["corners"]], beside_area(points, track.triangles)
            angles = np.degrees(np.arccos((found["normals"] * wanted).sum(axis=1).clip(-1.0, 1.0)))
            assert angles[has_area[found["corners"]]].max() < 1.0, f"{place}: Blender stores normals in 16 bits"
        if track.form is not Topology.SURFACE and track.widths is not None:
            radii = track.living(track.widths, number) / 2.0
            np.testing.assert_allclose(found["radii"].ravel(), radii, rtol=1e-5, atol=1e-9, err_msg=place)
        if track.form is Topology.STRANDS:
            assert found["types"] == {1}, f"{place}: polylines"
            np.testing.assert_array_equal(found["counts"].ravel(), track.counts)


SAMPLES = sorted(path.stem for path in (resources.path("projects")).glob("*.sinew"))


@pytest.mark.parametrize("name", SAMPLES)
def test_blender_shows_what_was_exported(name: str, tmp_path: Path) -> None:
    recording = recorded(resources.path("projects") / f"{name}.sinew", tmp_path)
    files = [tmp_path / f"{name}.{ending}" for ending in ("abc", "usdc", "glb")]
    for path in files:
        written(recording, path)
    dual = [f"{word(track.name)}_mesh" for track in recording.tracks if track.rig is not None and track.rig.is_dual]
    alembic, usd, glb = in_blender(tmp_path, files, dual)
    size = recording.extent()
    for things in (alembic, usd):
        camera = things.get("Front view") or things["Front_view"]
        assert camera["type"] == "CAMERA"
        for frame, found in camera["frames"].items():
            matrix = CAMERA.world_from_camera[frame - FIRST]
            np.testing.assert_allclose(found["points"][0], matrix[:3, 3], atol=1e-5)
            np.testing.assert_allclose(found["looks"][0], -matrix[:3, 2], atol=1e-5)
            assert found["field_of_view"] == pytest.approx(CAMERA.field_of_view, abs=1e-3)
    kinds = {Topology.SURFACE: "MESH", Topology.STRANDS: "CURVES", Topology.POINTS: "POINTCLOUD"}
    for track in recording.tracks:
        thing = alembic[track.name]
        assert thing["type"] == kinds[track.form]
        assert_same(track, thing, size, "Alembic")
        materials = sorted({section.material.name for section in track.sections}) if track.triangles is not None else []
        assert sorted(thing["materials"]) == materials
        thing = usd[word(track.name) if track.rig is None else f"{word(track.name)}_mesh"]
        if track.rig is None:
            assert_same(track, thing, size, "USD")
        else:
            for frame, found in thing["frames"].items():
                assert np.abs(found["points"] - track.positions[frame - FIRST]).max() < 1e-4 * size, "skin in USD"
        assert len(thing["materials"]) == len(materials)
        if track.form is Topology.POINTS:
            pages = [f"{track.name} {n}" for n in range(LAST + 1 - FIRST) if track.alive(n).any()]
            assert all(glb[page]["type"] == "MESH" for page in pages)
            continue
        # A skin whose morph targets move is an object of its own.
        names = (f"{track.name} mesh", track.name, f"{track.name}.001")
        shown = next(glb[one] for one in names if one in glb and glb[one]["type"] == "MESH")
        for frame, found in shown["frames"].items():
            wanted = track.positions[frame - FIRST]
            if track.triangles is not None and len(found["points"]) != len(wanted):
                wanted = wanted[np.unique(track.triangles)]  # Blender leaves out what a skin has no triangles for
            assert found["points"].shape == wanted.shape
            assert np.abs(found["points"] - wanted).max() < 1e-4 * size, f"glTF {track.name} {frame}"
            if track.counts is not None:
                assert len(found["edges"]) == len(wanted) - len(track.counts), "a line for every segment"


def test_a_skin_of_gltf_with_dual_quaternions_preserves_volume_in_blender(tmp_path: Path) -> None:
    recording = recorded(resources.path("projects") / "humanoid.sinew", tmp_path)
    (track,) = (one for one in recording.tracks if one.rig is not None)
    assert track.rig is not None
    assert track.rig.is_dual
    lines = written(recording, tmp_path / "a.glb", GlbOptions(characters=Characters.SKIN))
    assert any("Preserve Volume" in line for line in lines)
    apart = {}
    for preserve in (False, True):
        mesh = f"{track.name} mesh"
        (found,) = in_blender(tmp_path, [tmp_path / "a.glb"], [mesh] * preserve)
        wanted = track.positions[:, np.unique(track.triangles)]
        frames = found[mesh]["frames"].items()
        apart[preserve] = max(np.abs(one["points"] - wanted[frame - FIRST]).max() for frame, one in frames)
    assert apart[True] < 1e-5
    assert apart[False] > 1e-3
