"""Splitting palettes into a scale about the joint and a rigid motion."""

import numpy as np
import pytest

from sinew.sim.animation.palette import dual_quaternions, lbs_rows, rigid_and_scale
from sinew.sim.maths import dual_quaternion as DQ
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.transform import compose


def random_palette(count: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Palette (count, 4, 4) with scales 1 - spread to 1 + spread and shear by the order of factors, and centres."""
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(size=(2, count, 4)))
    scales = random.uniform(1.0 - spread, 1.0 + spread, size=(count, 3))
    first = compose(random.normal(size=(count, 3)) * 9.0, turns[0], scales)
    return first @ compose(np.zeros((count, 3)), turns[1], np.ones((count, 3))), random.normal(size=(count, 3)) * 9.0


def homogeneous(points: np.ndarray) -> np.ndarray:
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)[..., None]


@pytest.mark.parametrize("with_centres", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_motion_after_scale_is_the_palette(spread, with_centres):
    palette, centres = random_palette(12, spread)
    motions, scales = rigid_and_scale(palette, centres if with_centres else None)
    full = np.tile(np.eye(4), (12, 1, 1))
    full[:, :3] = scales
    np.testing.assert_allclose(DQ.to_matrix(motions) @ full, palette, atol=1e-11)


def test_scale_keeps_the_centre_and_the_motion_takes_it_where_the_palette_does():
    palette, centres = random_palette(12, 0.5)
    motions, scales = rigid_and_scale(palette, centres)
    np.testing.assert_allclose((scales @ homogeneous(centres))[..., 0], centres, atol=1e-12)
    expected = (palette @ homogeneous(centres))[:, :3, 0]
    np.testing.assert_allclose(DQ.transform_points(motions, centres), expected, atol=1e-11)


def test_rigid_palettes_have_no_scale_and_one_sign():
    palette, centres = random_palette(12, 0.0)
    np.testing.assert_array_equal(rigid_and_scale(palette, centres)[1], np.tile(np.eye(3, 4), (12, 1, 1)))
    packed = dual_quaternions(palette)
    assert packed.dtype == np.float32
    assert packed.shape == (12, 2, 4)
    assert (packed[:, 0, 3] >= 0.0).all()
    np.testing.assert_allclose(DQ.to_matrix(packed.astype(float)), palette, atol=2e-5)


def test_one_scaled_joint_leaves_the_others_exact():
    palette, centres = random_palette(6, 0.0)
    plain, _ = rigid_and_scale(palette, centres)
    palette[3, :3, :3] *= 1.5
    motions, scales = rigid_and_scale(palette, centres)
    others = [0, 1, 2, 4, 5]
    np.testing.assert_allclose(motions[others], plain[others], atol=1e-15)
    np.testing.assert_array_equal(scales[others], np.tile(np.eye(3, 4), (5, 1, 1)))
    np.testing.assert_allclose(scales[3, :, :3], 1.5 * np.eye(3), atol=1e-12)


def test_float_noise_of_a_file_is_no_scale_but_a_real_one_is():
    palette, _ = random_palette(4, 0.0)
    noisy, real = palette.copy(), palette.copy()
    noisy[1, :3, :3] *= 1.0 - 4e-7
    real[1, :3, :3] *= 1.0001
    none = np.tile(np.eye(3, 4), (4, 1, 1))
    np.testing.assert_array_equal(rigid_and_scale(noisy)[1], none)
    assert not np.array_equal(rigid_and_scale(real)[1], none)


def test_a_mirroring_joint_is_not_rigid_and_splits_too():
    palette = np.tile(np.eye(4), (2, 1, 1))
    palette[1, 0, 0] = -1.0
    motions, scales = rigid_and_scale(palette)
    full = np.tile(np.eye(4), (2, 1, 1))
    full[:, :3] = scales
    np.testing.assert_allclose(DQ.to_matrix(motions) @ full, palette, atol=1e-14)


def test_a_flat_joint_stays_finite():
    palette, centres = random_palette(3, 0.2)
    palette[2, :3, :3] = 0.0
    motions, scales = rigid_and_scale(palette, centres)
    assert np.isfinite(motions).all()
    assert np.isfinite(scales).all()


def test_rows_are_the_upper_three_in_single_precision():
    palette, _ = random_palette(5, 0.3)
    rows = lbs_rows(palette)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, palette[:, :3].astype(np.float32))
