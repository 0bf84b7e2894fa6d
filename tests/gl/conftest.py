"""OpenGL without a window: every test starts and ends without errors, and leaves nothing alive."""

import gc
from collections.abc import Iterator

import pytest

from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.debug import DebugLog
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.run.engine import Engine
from tests.gl.gl_errors import pending_errors
from tests.plugins.packages import loaded, site  # noqa: F401  (fixtures)
from tests.strict_shaders import strict_shaders  # noqa: F401  (an autouse fixture)


@pytest.fixture
def context(request: pytest.FixtureRequest) -> Iterator[Context]:
    """A headless core context with a small framebuffer bound; fails the test on errors and leaks.

    Its parameter is the back end of the kernels, see `tests.gl.back_ends`.
    """
    try:
        made = Context.headless()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    choice = BackEndChoice(getattr(request, "param", request.config.getoption("--back-end")))
    if choice is BackEndChoice.COMPUTE and not made.back_ends.has_compute:
        made.release()
        pytest.skip("no compute here")
    made.back_ends.choice = choice
    log = DebugLog(made)
    assert pending_errors() == []
    yield made
    errors, reported = pending_errors(), list(log.errors)
    gc.collect()
    made.collect()
    alive = made.live
    log.release()
    made.release()
    assert errors == []
    assert reported == []
    assert alive == []


@pytest.fixture
def library(context: Context) -> Iterator[ShaderLibrary]:
    made = ShaderLibrary(context)
    yield made
    made.release()


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    yield made
    made.release()
