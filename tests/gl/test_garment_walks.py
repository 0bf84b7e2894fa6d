"""Garments on characters that walk and run; see `tests/garment_walks.py` for the bounds."""

from pathlib import Path

import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from tests.garment_walks import CASES, walked

KNOWN = {
    ("soldier", "skirt"): "his hand swings over the belt, which is held",
    ("soldier", "cape"): "the straps of his pack move over the top edge",
    ("godette", "dress"): "the straps of her backpack lie over the dress",
    ("kenney", "cape"): "his hand swings through the cape",
    ("clothsim", "skirt"): "its own skirt has two sides, between which the cloth is caught",
}
"""Cases beyond the bounds, with their cause."""


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize("garment", ["skirt", "cape", "dress"])
@pytest.mark.parametrize("name", CASES)
def test_a_garment_stays_on_outside_and_green(tmp_path: Path, name: str, garment: str) -> None:
    try:
        Context.headless().release()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    result = walked(name, garment, tmp_path)
    assert result.stopped == ""
    if (name, garment) not in KNOWN:
        assert result.green
        assert result.holds, (result.body_mm, result.arms_mm, result.strain)
