"""Where a model's surface emits: by a bone's weights, by the brightness of an image, by both."""

from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.scene.params import SettingsError
from sinew.sim.skin.surface_table import SAMPLES, bone_density, face_brightness, surface_table

WHOLE = 2.0**32


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(Path(resources.path("models")) / "humanoid" / "humanoid.ezm")


def shares(table: np.ndarray) -> np.ndarray:
    """Probability of each row."""
    return np.diff(np.concatenate([[0.0], table[:, 0] / WHOLE]))


def areas(model: CharacterModel, corners: np.ndarray) -> np.ndarray:
    first, second, third = (model.mesh.positions[corners[:, index]].astype(np.float64) for index in range(3))
    return 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1)


def test_without_a_density_faces_emit_by_their_areas(humanoid: CharacterModel) -> None:
    table = surface_table(humanoid)
    found = areas(humanoid, table[:, 1:].astype(np.intp))
    np.testing.assert_allclose(shares(table), found / found.sum(), atol=1e-8)
    assert len(surface_table(humanoid, vertices=True)) == humanoid.mesh.vertex_count
    assert len(surface_table(humanoid, bone="tail")) == len(table)


def test_a_bone_makes_faces_emit_by_area_and_weight(humanoid: CharacterModel) -> None:
    weights = bone_density(humanoid, "hand_l")
    assert weights is not None
    assert humanoid.skin is not None
    assert weights.max() > 0.9
    total = sum(bone_density(humanoid, name) for name in humanoid.skeleton.names)
    np.testing.assert_allclose(total, 1.0, atol=1e-6)
    table = surface_table(humanoid, bone="hand_l")
    corners = table[:, 1:].astype(np.intp)
    expected = areas(humanoid, corners) * weights[corners].mean(axis=1)
    np.testing.assert_allclose(shares(table), expected / expected.sum(), atol=1e-8)
    assert len(table) < 0.2 * humanoid.mesh.triangle_count
    vertices = surface_table(humanoid, vertices=True, bone="hand_l")
    np.testing.assert_array_equal(vertices[:, 1], np.flatnonzero(weights > 0.0))


def test_an_image_darkens_faces_and_knows_which_way_is_up(humanoid: CharacterModel) -> None:
    pixels = np.zeros((16, 16, 4), np.uint8)
    pixels[:8, :, :3] = 255
    top, bottom = (surface_table(humanoid, vertices=True, pixels=pixels, is_bottom_up=flag) for flag in (False, True))
    v = humanoid.mesh.texcoords[:, 1] % 1.0
    assert np.all(v[top[:, 1]] <= 0.5)
    assert np.all(v[bottom[:, 1]] >= 0.5)
    faces = surface_table(humanoid, pixels=pixels)
    assert np.all(humanoid.mesh.texcoords[:, 1][faces[:, 1:].astype(np.intp)].min(axis=1) <= 0.5)


def test_the_brightness_of_a_face_is_a_mean_over_it() -> None:
    np.testing.assert_allclose(SAMPLES.sum(axis=1), 1.0)
    ramp = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (4, 1, 3))
    corners = np.array([[[0.0, 0.0], [0.9, 0.0], [0.0, 0.9]], [[0.5, 0.5]] * 3, [[1.5, 0.5]] * 3])
    np.testing.assert_allclose(face_brightness(ramp, corners), [0.3, 0.5, 0.5], atol=3e-3)


def test_a_density_that_leaves_nothing_is_refused(humanoid: CharacterModel) -> None:
    black = np.zeros((2, 2, 4), np.uint8)
    with pytest.raises(SettingsError, match="no face with an area is left where bone 'hand_l' and the image would"):
        surface_table(humanoid, bone="hand_l", pixels=black)
    with pytest.raises(SettingsError, match="no vertex of the surface is left where the image would have it"):
        surface_table(humanoid, vertices=True, pixels=black)
