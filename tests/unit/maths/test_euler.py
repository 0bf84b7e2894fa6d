"""Euler angles give the rotation back."""

import numpy as np
import pytest

from sinew.sim.maths import quaternion
from sinew.sim.maths.quaternion import degrees_from_matrix


def test_any_rotation_comes_back() -> None:
    rotations = quaternion.to_matrix(quaternion.normalised(np.random.default_rng(1).normal(size=(200, 4))))
    for rotation in rotations:
        again = quaternion.to_matrix(quaternion.from_euler_degrees(degrees_from_matrix(rotation)))
        np.testing.assert_allclose(again, rotation, atol=1e-12)


@pytest.mark.parametrize("angles", [(30.0, 90.0, 0.0), (-70.0, -90.0, 20.0), (0.0, 0.0, 0.0), (180.0, 0.0, 90.0)])
def test_right_angles_too(angles: tuple[float, float, float]) -> None:
    rotation = quaternion.to_matrix(quaternion.from_euler_degrees(angles))
    again = quaternion.to_matrix(quaternion.from_euler_degrees(degrees_from_matrix(rotation)))
    np.testing.assert_allclose(again, rotation, atol=1e-12)
