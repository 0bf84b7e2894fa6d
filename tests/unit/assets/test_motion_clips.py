import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import CurveClip, FrameClip
from sinew.sim.assets.influences import reach_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation, Targets
from sinew.sim.assets.raw import ModelError, RawChannel
from sinew.sim.characters.reference import deformed
from sinew.sim.maths import quaternion
from tests.frame_samples import TRIANGLES, frames, md2, mdd, obj_text, pc2, write_all
from tests.refusals import refusal

WIDTHS = {"translation": 3, "rotation": 4, "scale": 3, "weights": 2}
MODES = ["STEP", "LINEAR", "CUBICSPLINE"]


def skeleton(count=4):
    return build_skeleton([f"j{i}" for i in range(count)], [-1] * count, np.zeros((count, 3)),
                          np.tile(quaternion.IDENTITY, (count, 1)), np.ones((count, 3)))  # fmt: skip


def targets(count):
    empty = np.zeros(0, np.int32)
    names = tuple(str(number) for number in range(count))
    return Targets(
        empty, empty, empty, empty, np.zeros((0, 2, 4), np.float32), names, np.full(count, 0.125), np.zeros(count, bool)
    )


def channel(joint, path, mode, times, source):
    shape = (len(times), 3, WIDTHS[path]) if mode == "CUBICSPLINE" else (len(times), WIDTHS[path])
    return RawChannel(joint, path, mode, np.asarray(times, float), source.normal(size=shape))


def property_of(pose, path, joint):
    values = {"translation": pose.positions, "rotation": pose.orientations, "scale": pose.scales}
    return pose.weights if path == "weights" else values[path][joint]


def keys_of(part):
    keys = part.values[:, 1] if part.mode == "CUBICSPLINE" else part.values
    return quaternion.normalised(keys) if part.path == "rotation" else keys


def same(path, actual, expected):
    sign = np.sign(actual @ expected) if path == "rotation" else 1.0
    np.testing.assert_allclose(actual * sign, expected, atol=1e-12)


def direct(part, time):
    times, values = part.times, part.values
    if time >= times[-1] or len(times) == 1:
        return keys_of(part)[-1]
    if time <= times[0]:
        return keys_of(part)[0]
    k = int(np.searchsorted(times, time, "right")) - 1
    span = times[k + 1] - times[k]
    u = (time - times[k]) / span
    if part.mode == "STEP":
        return keys_of(part)[k]
    if part.mode == "LINEAR" and part.path == "rotation":
        return quaternion.slerp(keys_of(part)[k], keys_of(part)[k + 1], u)
    if part.mode == "LINEAR":
        return (1 - u) * values[k] + u * values[k + 1]
    (_, v, b), (a, w, _) = values[k], values[k + 1]
    p = (2 * u**3 - 3 * u**2 + 1) * v + span * (u**3 - 2 * u**2 + u) * b
    p = p + (3 * u**2 - 2 * u**3) * w + span * (u**3 - u**2) * a
    return quaternion.normalised(p) if part.path == "rotation" else p


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("count", "path"), [(1, "translation"), (2, "scale"), (5, "rotation"), (5, "weights")])
def test_a_clip_goes_through_its_keys_and_holds_at_its_ends(path, mode, count):
    part = channel(1, path, mode, [0.5, 0.75, 1.5, 1.625, 2.0][:count], np.random.default_rng(3))
    clip = CurveClip("c", [part], skeleton(), targets(2), {1: 0})
    for time, key in zip(part.times, keys_of(part), strict=True):
        same(path, property_of(clip.sample(float(time), Interpolation.LINEAR), path, 1), key)
    for time, key in ((0.0, keys_of(part)[0]), (9.0, keys_of(part)[-1])):
        same(path, property_of(clip.sample(time, Interpolation.LINEAR), path, 1), key)
    assert clip.duration == part.times[-1]


@pytest.mark.parametrize("seed", range(4))
def test_channels_together_are_what_each_is_alone(seed):
    source = np.random.default_rng(seed)
    parts = [
        channel(joint, path, MODES[source.integers(3)], np.sort(source.uniform(0, 3, source.integers(1, 7))), source)
        for joint in range(4)
        for path in ("translation", "rotation", "scale")
    ]
    parts.append(channel(2, "weights", MODES[seed % 3], np.sort(source.uniform(0, 3, 4)), source))
    clip = CurveClip("c", parts, skeleton(), targets(5), {2: 3})
    for time in source.uniform(-0.5, 3.5, 40):
        pose = clip.sample(float(time), Interpolation.LINEAR)
        for part in parts:
            actual = pose.weights[3:5] if part.path == "weights" else property_of(pose, part.path, part.joint)
            same(part.path, actual, direct(part, time))
        np.testing.assert_array_equal(pose.weights[:3], 0.125)


def test_the_nearest_key_is_taken_where_nothing_is_between():
    part = channel(0, "translation", "CUBICSPLINE", [0, 1, 3], np.random.default_rng(1))
    clip = CurveClip("c", [part], skeleton())
    for time, key in ((0.4, 0), (0.6, 1), (1.9, 1), (2.1, 2), (3.0, 2)):
        pose = clip.sample(time, Interpolation.NEAREST)
        np.testing.assert_allclose(pose.positions[0], part.values[key, 1], atol=1e-12)


def test_rotations_turn_the_short_way_whatever_the_signs():
    keys = np.array([[0, 0, 0, 1], [0, 0, -0.6, -0.8], [0, 0, 0.8, 0.6], [0, 0, -1, 0]], float)
    clip = CurveClip("c", [RawChannel(0, "rotation", "LINEAR", np.arange(4.0), keys)], skeleton())
    angles = [
        2 * np.arctan2(*np.abs(clip.sample(float(t), Interpolation.LINEAR).orientations[0, 2:]))
        for t in np.linspace(0, 3, 50)
    ]
    assert (np.diff(angles) > 0).all()
    assert angles[-1] == pytest.approx(np.pi)


def test_frames():
    for times, count, step in (
        ([0, 0.25, 0.5, 1.0], 5, 0.25),  # every key is a frame
        ([0.5, 1.0, 1.5], 4, 0.5),  # and so are times before the first
        ([0, 0.1, 1.0], 11, 0.1),
        ([0, 0.37, 1.0], 31, 1 / 30),  # nominal
        ([0.0], 1, 0.0),
    ):
        part = channel(0, "scale", "LINEAR", times, np.random.default_rng(1))
        clip = CurveClip("c", [part], skeleton())
        assert len(clip.frame_times) == count
        assert clip.frame_times[-1] == clip.duration == times[-1]
        np.testing.assert_allclose(np.diff(clip.frame_times), step, rtol=1e-9)
        np.testing.assert_array_equal(clip.key_times, times)


EASED = {
    Interpolation.STEP: 0.0,
    Interpolation.NEAREST: 0.0,
    Interpolation.LINEAR: 0.25,
    Interpolation.QUADRATIC: 0.0625,
    Interpolation.SMOOTH: 3 * 0.25**2 - 2 * 0.25**3,
    Interpolation.EXPONENTIAL: (2**2.5 - 1) / 1023,
}


def corners_at(
    model: CharacterModel, time: float, how: Interpolation = Interpolation.LINEAR, clip: int = 0
) -> np.ndarray:
    """Corners of the faces at a moment, shape (T, 3, 3)."""
    pose = evaluate_pose(model, model.clips[clip], time, interpolation=how)
    return deformed(model.mesh, pose.local.weights).positions[model.mesh.triangles]


@pytest.mark.parametrize("key", ["pc2", "mdd", "obj"])
def test_every_frame_is_read(tmp_path: Path, key: str) -> None:
    model = load_model(write_all(tmp_path)[key])
    (clip,) = model.clips
    assert model.skeleton is None
    assert model.format == key
    np.testing.assert_allclose(clip.key_times, [0.0, 0.5, 1.0, 2.0] if key == "mdd" else np.arange(4) / 30.0)
    for time, places in zip(clip.key_times, frames(), strict=True):
        for how in Interpolation:
            np.testing.assert_allclose(corners_at(model, float(time), how), places[TRIANGLES], atol=1e-6)


def test_md2_has_clips_by_the_names_of_frames(tmp_path: Path) -> None:
    data, places = md2()
    path = tmp_path / "quake.md2"
    path.write_bytes(data)
    model = load_model(path)
    assert [clip.name for clip in model.clips] == ["run", "jump"]
    assert [clip.duration for clip in model.clips] == pytest.approx([0.3, 0.2])
    assert model.default_up_axis.lower() == "z"
    np.testing.assert_allclose(corners_at(model, 0.1), places[1][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
    np.testing.assert_allclose(corners_at(model, 0.1, clip=1), places[4][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
    np.testing.assert_allclose(corners_at(model, 0.3), places[0][TRIANGLES][:, [0, 2, 1]], atol=1e-5)
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


def test_files_that_do_not_fit_are_refused_in_one_line(tmp_path: Path) -> None:
    for key, data, reported in (
        ("pc2", pc2(frames()[:, :3]), "frame 0: has 3 points, cache.obj has 4"),
        ("mdd", mdd(frames()[:, :2], np.arange(4.0)), "frame 0: has 2 points, cache.obj has 4"),
        ("pc2", pc2(frames())[:-13], "frame 3: the file ends within it: 224 bytes are needed, it has 211"),
        ("mdd", mdd(frames(), np.array([0.0, 1.0, 1.0, 2.0])), "frame 2: its time is not later"),
        ("pc2", pc2(np.where(np.arange(4)[:, None, None] == 2, np.nan, frames())), "frame 2: point 0 has"),
        ("pc2", pc2(frames())[:20] + b"\xff\xff\xff\x7f" * 4, "frames, 1 to 16384 are read"),
        ("md2", md2()[0][:400], "end at byte"),
        ("md2", md2()[0][:8] + b"\0" * 60, "header"),
    ):
        path = write_all(tmp_path)[key]
        path.write_bytes(data)
        assert reported in refusal(load_model, path)


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
    corners = np.concatenate([corners_at(model, float(time), clip=number).reshape(-1, 3)
                              for number, clip in enumerate(model.clips) for time in clip.key_times])  # fmt: skip
    lowest, highest = reach_of(model.mesh)
    np.testing.assert_allclose(lowest.min(axis=0), corners.min(axis=0), atol=1e-5)
    np.testing.assert_allclose(highest.max(axis=0), corners.max(axis=0), atol=1e-5)
