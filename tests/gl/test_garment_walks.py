"""Garments on characters that walk and run; see `tests/garment_walks.py` for the bounds."""

from pathlib import Path

import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from tests.garment_walks import CASES, STRAIN, walked

_TWO_SIDES = "its own trousers have two sides, between which the cloth is caught"

KNOWN = {
    ("soldier", "dress"): "his pack and bags widen the outline, so that its edge is where his upper arms hang",
    ("clothsim", "cape"): "a corner is 12 mm in his calf where the pre-roll ends, as his clip begins with a jump",
    **{(name, garment): _TWO_SIDES for name in ("clothsim", "clothsim-bvh") for garment in ("skirt", "dress")},
}
"""Cases beyond the bounds, with their cause."""


@pytest.fixture(autouse=True)
def _needs_gl() -> None:
    try:
        Context.headless().release()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize("garment", ["skirt", "cape", "dress"])
@pytest.mark.parametrize("name", CASES)
def test_a_garment_stays_on_outside_and_green(tmp_path: Path, name: str, garment: str) -> None:
    result = walked(name, garment, tmp_path)
    assert result.stopped == ""
    if (name, garment) not in KNOWN:
        assert result.green
        assert result.holds, (result.body_mm, result.arms_mm, result.strain)
    if name == "humanoid" and garment != "dress":
        assert result.body_mm <= 1.0
        assert result.strain < 0.05
        assert result.load < 0.5


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("under", ["skirt", "dress"])
def test_a_cape_over_another_garment_stays_outside_of_it(tmp_path: Path, under: str) -> None:
    result = walked("humanoid", "cape", tmp_path, others=[under], values={"wind": (0.0, 0.0, 4.0)})
    assert result.green
    assert result.holds, (result.body_mm, result.arms_mm, result.strain)
    assert [(is_green, strain < STRAIN) for _, is_green, strain in result.inner] == [(True, True)]
    assert result.through <= 0.01 * result.particles, "single particles of folds pass for a moment, others none"
