"""Starting the editor where it cannot run: one line with the reason and the remedy, and no abort."""

import sys

import pytest

from tests.conftest import slow
from tests.processes import finished


def started(**variables: str | None) -> tuple[int, list[str]]:
    status, out, err = finished("-m", "sinew", "--exit-after-first-frame", **variables)
    return status, [*out.splitlines(), *err.splitlines()]


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="variables are those of Linux and Mesa")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"DISPLAY": ":4711"}, "no display: could not connect to display :4711; "),
        slow({"QT_QPA_PLATFORM": "nonsense"}, 'no display: Could not find the Qt platform plugin "nonsense"'),
        slow(
            {"QT_QPA_PLATFORM": "offscreen"}, "OpenGL: 3.3 core is needed, and windows of the platform 'offscreen' have"
        ),
        slow(
            {"__EGL_VENDOR_LIBRARY_DIRS": "/none"}, "OpenGL: 3.3 core is needed, and windows of the platform 'xcb' have"
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_reason_is_one_line(variables: dict[str, str | None], expected: str) -> None:
    status, lines = started(**variables)
    assert status == 1
    (line,) = lines
    assert line.startswith(f"sinew: {expected}")
    assert "; " in line, "and the remedy"


@pytest.mark.slow
def test_an_older_opengl_is_named() -> None:
    version = "3.0"
    status, lines = started(MESA_GL_VERSION_OVERRIDE=version)
    if lines and lines[0].startswith("first-frame"):
        pytest.skip("the driver is not Mesa's")
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith(f"sinew: OpenGL: 3.3 core is needed, and windows have {version} ")


@pytest.mark.slow
def test_odd_variables_are_overruled() -> None:
    status, lines = started(PYOPENGL_PLATFORM="nonsense", QT_XCB_GL_INTEGRATION="xcb_glx")
    assert status == 0
    (line,) = lines
    assert line.startswith("first-frame ")
