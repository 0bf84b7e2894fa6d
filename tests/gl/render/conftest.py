from collections.abc import Iterator

import pytest

from sinew.sim.gl.context import Context
from tests.gl.render.worlds import Stage, make_stage


@pytest.fixture
def stage(context: Context) -> Iterator[Stage]:
    made = make_stage(context)
    yield made
    made.release()
