"""Poses of the sample characters: published sizes, bind pose, root motion."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod

SKINNED = ("dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "character/character.ezm", "export/export.ezm")

loaded = cache(load_model)


def sample(assets: Path, name: str) -> CharacterModel:
    path = assets / "ezm" / name
    if not path.is_file():
        pytest.skip(f"no sample model {name}")
    return loaded(path)


def posed(model: CharacterModel, frame: int, **options) -> np.ndarray:
    clip = model.clips[0]
    pose = evaluate_pose(model, clip, float(clip.key_times[frame]), up_axis=model.default_up_axis, **options)
    return skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", SKINNED)
def test_the_bind_pose_returns_the_stored_vertices(assets, name, method):
    model = sample(assets, name)
    pose = evaluate_pose(model, None, 0.0)
    vertices = skin(model.mesh, model.skin, pose.palette, method, pose.centres)
    tolerance = 1e-5 * max(1.0, float(np.abs(model.mesh.positions).max()))
    np.testing.assert_allclose(vertices.positions, model.mesh.positions, atol=tolerance)
    lengths = np.linalg.norm(model.mesh.normals, axis=1)
    cached = np.abs(lengths - 1.0) < 1e-3
    np.testing.assert_allclose(vertices.normals[cached], model.mesh.normals[cached], atol=2e-3)


@pytest.mark.parametrize(
    ("name", "frame", "size", "tolerance"),
    [
        ("dude/dude.ezm", 0, (28.2, 72.8, 43.2), 0.06),
        ("dude/dude.ezm", 30, (28.2, 72.8, 42.3), 0.06),
        ("clothsim_zup/ClothSim.ezm", 0, (0.875, 1.543, 1.584), 0.0006),
    ],
)
def test_skinned_boxes_have_the_published_sizes(assets, name, frame, size, tolerance):
    positions = posed(sample(assets, name), frame)
    np.testing.assert_allclose(np.ptp(positions, axis=0), size, atol=tolerance)


def test_lock_root_holds_the_character_that_travels_thirty_units(assets):
    model = sample(assets, "clothsim_zup/ClothSim.ezm")
    last = len(model.clips[0].key_times) - 1
    free = posed(model, last).mean(axis=0) - posed(model, 0).mean(axis=0)
    assert free[1] == pytest.approx(-30.0, abs=0.1)
    start = posed(model, 0, lock_root=True)
    np.testing.assert_allclose(start, posed(model, 0), atol=1e-9)
    for frame in (50, 150, last):
        moved = posed(model, frame, lock_root=True).mean(axis=0) - start.mean(axis=0)
        assert np.abs(moved[:2]).max() < 0.2
        free_height = posed(model, frame)[:, 2]
        np.testing.assert_allclose(posed(model, frame, lock_root=True)[:, 2], free_height, atol=1e-4)


def test_lock_root_leaves_a_walk_in_place_alone(assets):
    model = sample(assets, "dude/dude.ezm")
    for frame in (0, 17, 45):
        np.testing.assert_array_equal(posed(model, frame, lock_root=True), posed(model, frame))


def test_strong_joints_lie_inside_the_moving_body(assets):
    model = sample(assets, "dude/dude.ezm")
    clip = model.clips[0]
    pose = evaluate_pose(model, clip, 0.5 * clip.duration)
    positions = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS).positions
    joints = pose.model_from_joint[model.skin.joints[:, 0], :3, 3]
    distance = np.median(np.linalg.norm(positions - joints, axis=1))
    assert distance < 0.23 * np.linalg.norm(np.ptp(positions, axis=0))
