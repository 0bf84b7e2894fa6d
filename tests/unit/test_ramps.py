import numpy as np
import pytest

from sinew.sim.maths.ramps import Ramp, ramp_colours

# Lowest, middle and highest colour as published.
PUBLISHED = {
    Ramp.VIRIDIS: [(68, 1, 84), (33, 145, 140), (253, 231, 37)],
    Ramp.CIVIDIS: [(0, 34, 78), (124, 123, 120), (254, 232, 56)],
}
# Source: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes 2009, table 1, severity 1.0; linear RGB.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)


def linear(colours):
    share = colours.astype(np.float64) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((np.maximum(share, 0.04045) + 0.055) / 1.055) ** 2.4)


def lightness(colours, sight=None):
    """CIE L* of sRGB colours."""
    rgb = linear(colours)
    rgb = np.clip(rgb if sight is None else rgb @ sight.T, 0.0, 1.0)
    return 116.0 * np.cbrt(rgb @ np.array([0.2126, 0.7152, 0.0722])) - 16.0


@pytest.mark.parametrize("ramp", Ramp)
def test_shape_and_protection(ramp):
    colours = ramp_colours(ramp)
    assert colours.shape == (256, 3)
    assert colours.dtype == np.uint8
    with pytest.raises(ValueError, match="read-only"):
        colours[0] = 0


@pytest.mark.parametrize("ramp", PUBLISHED)
def test_published_colours(ramp):
    colours = ramp_colours(ramp).astype(int)
    for index, wanted in zip((0, 127, 255), PUBLISHED[ramp], strict=True):
        assert np.abs(colours[index] - wanted).max() <= 16


@pytest.mark.parametrize("ramp", PUBLISHED)
@pytest.mark.parametrize("sight", [None, DEUTERANOPIA], ids=["full", "deuteranopia"])
def test_lightness_rises_steadily(ramp, sight):
    steps = np.diff(lightness(ramp_colours(ramp)[::8], sight))
    assert steps.min() > 0.5
    assert steps.max() < 5.5
