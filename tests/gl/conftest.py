"""OpenGL without a window: every test starts and ends without errors, and leaves nothing alive."""

import gc
from collections.abc import Iterator

import pytest

from sim.gl.context import Context
from sim.gl.debug import DebugLog
from sim.gl.errors import GLError
from sim.gl.library import ShaderLibrary
from tests.gl.gl_errors import pending_errors
from tests.strict_shaders import strict_shaders  # noqa: F401  (an autouse fixture)


@pytest.fixture
def context() -> Iterator[Context]:
    """A headless core context with a small framebuffer bound; fails the test on errors and leaks."""
    try:
        made = Context.headless()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
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
    """The shipped shaders."""
    made = ShaderLibrary(context)
    yield made
    made.release()
