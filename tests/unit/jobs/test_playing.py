"""Poses of strips: blended as a plain reference blends them, and out of the bind pose in the run-up."""

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.playing import pose_of, poses_of
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.maths.quaternion import to_matrix
from sinew.sim.scene.strips import Strip


@pytest.fixture(scope="module")
def model():
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


def reference(model, one, other, weight):
    """Joints of two poses, blended one by one and multiplied along the hierarchy."""
    placed = []
    for joint, parent in enumerate(model.skeleton.parents):
        a, b = one.local.orientations[joint], other.local.orientations[joint]
        turn = (1.0 - weight) * a + weight * (b if a @ b >= 0.0 else -b)
        matrix = np.eye(4)
        scale = (1.0 - weight) * one.local.scales[joint] + weight * other.local.scales[joint]
        matrix[:3, :3] = to_matrix(turn / np.linalg.norm(turn)) * scale
        matrix[:3, 3] = (1.0 - weight) * one.local.positions[joint] + weight * other.local.positions[joint]
        placed.append(matrix if parent < 0 else placed[parent] @ matrix)
    return np.array(placed)


def test_an_overlap_blends_translation_rotation_and_scale(model):
    walk, wave = model.clip("walk"), model.clips[-1]
    strips = Strip(clip="walk", repeats=1.0), Strip(clip=wave.name, start=walk.duration - 0.4, repeats=1.0)
    settings = ModelSettings(strips=strips, interpolation=Interpolation.LINEAR)
    time = walk.duration - 0.3
    pose = pose_of(model, settings, time, (0.0, 0.0))
    share = 0.25
    expected = reference(
        model, evaluate_pose(model, walk, time), evaluate_pose(model, wave, 0.1), share * share * (3.0 - 2.0 * share)
    )
    np.testing.assert_allclose(pose.model_from_joint, expected, atol=1e-12)


def test_no_strips_are_the_clip_over_and_over_to_the_bit(model):
    walk = model.clip("walk")
    for time in (0.0, 0.4, walk.duration, 3.7):
        pose = pose_of(model, ModelSettings(clip="walk"), time, (0.0, 0.0))
        within = time if time <= walk.duration else time % walk.duration
        assert pose.palette.tobytes() == evaluate_pose(model, walk, within).palette.tobytes()


@pytest.mark.parametrize("interpolation", [Interpolation.LINEAR, Interpolation.NEAREST, Interpolation.SMOOTH])
@pytest.mark.parametrize("lock_root", [False, True])
def test_poses_of_many_moments_are_those_of_each_to_the_bit(model, interpolation, lock_root):
    walk, wave = model.clip("walk"), model.clips[-1]
    strips = Strip(clip="walk", repeats=2.0), Strip(clip=wave.name, start=walk.duration, repeats=1.0, speed=-0.7)
    settings = ModelSettings(strips=strips, interpolation=interpolation, lock_root=lock_root)
    times = [-0.5, 0.0, *np.linspace(0.3, 3.0 * walk.duration, 70).tolist(), walk.duration, walk.duration / 2.0]
    found = poses_of(model, settings, times, (0.0, 1.0))
    for time, pose in zip(times, found, strict=True):
        alone = pose_of(model, settings, time, (0.0, 1.0))
        for name in ("palette", "model_from_joint", "centres"):
            assert getattr(pose, name).tobytes() == getattr(alone, name).tobytes(), f"{name} at {time}"
        assert pose.local.orientations.tobytes() == alone.local.orientations.tobytes()


def test_the_run_up_begins_in_the_bind_pose_and_rests_in_the_first(model):
    settings, run_up = ModelSettings(clip="walk"), (1.0, 2.0)
    first = pose_of(model, settings, 1.0, run_up)
    assert pose_of(model, settings, -1.0, run_up).palette.tobytes() == bind_pose(model).palette.tobytes()
    for time in (0.0, 0.5, 0.99):
        assert pose_of(model, settings, time, run_up).palette.tobytes() == first.palette.tobytes()
    between = pose_of(model, settings, -0.5, run_up)
    np.testing.assert_allclose(between.model_from_joint, reference(model, bind_pose(model), first, 0.5), atol=1e-12)


def test_strips_survive_the_project_file():
    settings = ModelSettings(strips=(Strip(clip="walk", start=1.5, repeats=2.0),))
    assert msgspec.json.decode(msgspec.json.encode(settings), type=ModelSettings) == settings
