"""A small engine with an output for every test of drawing."""

from collections.abc import Iterator

import pytest

from sinew.sim.gl.context import Context
from tests.gl.render.worlds import Stage, make_stage


@pytest.fixture
def stage(context: Context) -> Iterator[Stage]:
    """An engine that draws 160 x 120 pixels."""
    made = make_stage(context)
    yield made
    made.release()
