import numpy as np
import pytest

from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear


def test_known_pairs():
    assert srgb_from_linear([0.0, 0.0031308, 0.2158605, 1.0]) == pytest.approx([0.0, 0.04045, 0.5019608, 1.0], abs=1e-6)
    assert linear_from_srgb(128 / 255) == pytest.approx(0.2158605, abs=1e-7)


def test_there_and_back():
    codes = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_allclose(srgb_from_linear(linear_from_srgb(codes)), codes, atol=1e-7)
    assert np.all(np.diff(linear_from_srgb(codes)) > 0.0)


def test_any_shape_is_kept():
    assert srgb_from_linear(np.zeros((2, 3))).shape == (2, 3)
