"""Key-frame meshes: what is read of each format, how frames blend, and what is refused."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sinew.app.kinds.model.panel import is_plausible
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.assets.clip import FrameClip
from sinew.sim.assets.influences import reach_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.reference import deformed
from sinew.sim.characters.settings import ModelSettings
from tests.frame_samples import TRIANGLES, frames, md2, mdd, obj_text, pc2, write_all

EASED = {
    Interpolation.STEP: 0.0,
    Interpolation.NEAREST: 0.0,
    Interpolation.LINEAR: 0.25,
    Interpolation.QUADRATIC: 0.0625,
    Interpolation.SMOOTH: 3 * 0.25**2 - 2 * 0.25**3,
    Interpolation.EXPONENTIAL: (2**2.5 - 1) / 1023,
}


def posed(model: CharacterModel, time: float, how: Interpolation = Interpolation.LINEAR, clip: int = 0) -> np.ndarray:
    """Corners of the faces at a moment, shape (T, 3, 3)."""
    pose = evaluate_pose(model, model.clips[clip], time, interpolation=how)
    return deformed(model.mesh, pose.local.weights).positions[model.mesh.triangles]


@pytest.mark.parametrize("key", ["pc2", "mdd", "obj"])
def test_every_frame_is_read(tmp_path: Path, key: str) -> None:
    model = load_model(write_all(tmp_path)[key])
    (clip,) = model.clips
    assert model.skeleton is None
    assert model.format == key
    assert len(clip.key_times) == 4
    for time, places in zip(clip.key_times, frames(), strict=True):
        for how in Interpolation:
            np.testing.assert_allclose(posed(model, float(time), how), places[TRIANGLES], atol=1e-6)


def test_times_of_a_file_are_kept(tmp_path: Path) -> None:
    paths = write_all(tmp_path)
    np.testing.assert_allclose(load_model(paths["mdd"]).clips[0].key_times, [0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(load_model(paths["pc2"]).clips[0].key_times, np.arange(4) / 30.0)


def test_md2_has_clips_by_the_names_of_frames(tmp_path: Path) -> None:
    data, places = md2()
    path = tmp_path / "quake.md2"
    path.write_bytes(data)
    model = load_model(path)
    assert [clip.name for clip in model.clips] == ["run", "jump"]
    assert [clip.duration for clip in model.clips] == pytest.approx([0.3, 0.2])
    assert model.default_up_axis.lower() == "z"
    np.testing.assert_allclose(posed(model, 0.1), places[1][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
    np.testing.assert_allclose(posed(model, 0.1, clip=1), places[4][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
    np.testing.assert_allclose(posed(model, 0.3), places[0][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
    np.testing.assert_allclose(model.mesh.texcoords.max(axis=0), [63.5 / 64, 31.5 / 32])
    assert model.materials[0].texture == "players/blue.pcx"


@pytest.mark.parametrize("how", EASED)
def test_easings_are_those_of_the_formulas(how: Interpolation) -> None:
    clip = FrameClip("grow", np.arange(4.0), range(4), 4)
    part = EASED[how]
    np.testing.assert_allclose(clip.sample(1.25, how).weights, [1.0 - part, part, 0.0], atol=1e-15)


def test_a_spline_takes_four_frames_whose_weights_sum_to_one() -> None:
    clip, circle = FrameClip("line", np.arange(5.0), range(5), 5), FrameClip("ring", np.arange(5.0), [0, 1, 2, 3, 0], 4)
    how, f = Interpolation.CATMULL_ROM, 0.3
    weights = [(2 - 5 * f**2 + 3 * f**3) / 2, (f + 4 * f**2 - 3 * f**3) / 2, (f**3 - f**2) / 2]
    np.testing.assert_allclose(clip.sample(1.3, how).weights, [*weights, 0.0])
    # The first key repeats before the clip; a ring goes on with its other end.
    assert clip.sample(0.3, how).weights[0] == pytest.approx(weights[1])
    np.testing.assert_allclose(circle.sample(0.3, how).weights, [weights[1], weights[2], (-f + 2 * f**2 - f**3) / 2])
    # A line of frames stays a line, whatever is between.
    assert clip.sample(2.3, how).weights @ np.arange(1.0, 5.0) == pytest.approx(2.3)


def test_normals_follow(tmp_path: Path) -> None:
    paths = write_all(tmp_path)
    places = frames()
    places[1, 3] = [0.0, 0.0, 5.0]
    paths["pc2"].write_bytes(pc2(places))
    model = load_model(paths["pc2"])
    moved = deformed(model.mesh, evaluate_pose(model, model.clips[0], 1 / 30.0).local.weights)
    still = dataclasses.replace(model.mesh, positions=moved.positions.astype(np.float32))
    np.testing.assert_allclose(moved.normals, vertex_normals(still.positions, still.triangles), atol=1e-5)


@pytest.mark.parametrize(
    ("key", "data", "reported"),
    [
        ("pc2", pc2(frames()[:, :3]), "frame 0: has 3 points, cache.obj has 4"),
        ("mdd", mdd(frames()[:, :2], np.arange(4.0)), "frame 0: has 2 points, cache.obj has 4"),
        ("pc2", pc2(frames())[:-13], "frame 3: the file ends within it: 224 bytes are needed, it has 211"),
        ("mdd", mdd(frames(), np.array([0.0, 1.0, 1.0, 2.0])), "frame 2: its time is not later"),
        ("pc2", pc2(np.where(np.arange(4)[:, None, None] == 2, np.nan, frames())), "frame 2: point 0 has"),
        ("pc2", pc2(frames())[:20] + b"\xff\xff\xff\x7f" * 4, "frames, 1 to 16384 are read"),
        ("md2", md2()[0][:400], "end at byte"),
        ("md2", md2()[0][:8] + b"\0" * 60, "header"),
    ],
)
def test_what_does_not_fit_is_refused_by_one_line(tmp_path: Path, key: str, data: bytes, reported: str) -> None:
    path = write_all(tmp_path)[key]
    path.write_bytes(data)
    with pytest.raises(ModelError) as error:
        load_model(path)
    assert reported in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_sequence_names_the_file_that_differs(tmp_path: Path) -> None:
    path = write_all(tmp_path)["obj"]
    (tmp_path / "grow_002.obj").write_bytes(obj_text(frames()[0][:3])[:60])
    with pytest.raises(ModelError, match=r"frame 2: grow_002\.obj: has 3 points, grow_000\.obj has 4"):
        load_model(path)
    (tmp_path / "grow_001.obj").unlink()
    assert load_model(path).clips == (), "nothing follows without a gap"


def test_a_cache_without_its_mesh_says_which_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "lonely.pc2"
    path.write_bytes(pc2(frames()))
    with pytest.raises(ModelError, match=r"needs the mesh next to it: lonely\.obj"):
        load_model(path)


@pytest.mark.parametrize("key", ["pc2", "mdd", "obj", "md2"])
def test_the_box_is_that_of_the_frames_and_not_of_their_sum(tmp_path: Path, key: str) -> None:
    model = load_model(write_all(tmp_path)[key])
    corners = np.concatenate([posed(model, float(time), clip=number).reshape(-1, 3)
                              for number, clip in enumerate(model.clips) for time in clip.key_times])  # fmt: skip
    lowest, highest = reach_of(model.mesh)
    np.testing.assert_allclose(lowest.min(axis=0), corners.min(axis=0), atol=1e-5)
    np.testing.assert_allclose(highest.max(axis=0), corners.max(axis=0), atol=1e-5)


def test_the_size_of_key_frames_is_asked_about(tmp_path: Path) -> None:
    paths = write_all(tmp_path)
    frames_of, static = load_model(paths["pc2"]), load_model(tmp_path / "cache.obj")
    for scale, plausible in ((1.0, True), (100.0, False), (0.01, False)):
        assert is_plausible(ModelSettings(unit_scale=scale), frames_of) is plausible
        assert is_plausible(ModelSettings(unit_scale=scale), static)
