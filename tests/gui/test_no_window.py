"""Starting the editor where it cannot run: one line with the reason and the remedy, and no abort."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="variables are those of Linux and Mesa")


def started(repo_root: Path, **variables: str | None) -> tuple[int, list[str]]:
    """Status and lines of an editor that exits after its first frame, in another environment."""
    changed = {name: text for name, text in {**os.environ, **variables}.items() if text is not None}
    done = subprocess.run(
        [sys.executable, "-m", "sinew", "--exit-after-first-frame"], cwd=repo_root, env=changed, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    return done.returncode, [*done.stdout.splitlines(), *done.stderr.splitlines()]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"DISPLAY": ":4711"}, "no display: could not connect to display :4711; "),
        ({"QT_QPA_PLATFORM": "nonsense"}, 'no display: Could not find the Qt platform plugin "nonsense"'),
        ({"QT_QPA_PLATFORM": "offscreen"}, "OpenGL: 3.3 core is needed, and windows of the platform 'offscreen' have"),
        ({"__EGL_VENDOR_LIBRARY_DIRS": "/none"}, "OpenGL: 3.3 core is needed, and windows of the platform 'xcb' have"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_reason_is_one_line(variables: dict[str, str | None], expected: str, repo_root: Path) -> None:
    status, lines = started(repo_root, **variables)
    assert status == 1
    (line,) = lines
    assert line.startswith(f"sinew: {expected}")
    assert "; " in line, "and the remedy"


def test_an_older_opengl_is_named(repo_root: Path) -> None:
    version = "3.0"
    status, lines = started(repo_root, MESA_GL_VERSION_OVERRIDE=version)
    if lines and lines[0].startswith("first-frame"):
        pytest.skip("the driver is not Mesa's")
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith(f"sinew: OpenGL: 3.3 core is needed, and windows have {version} ")


def test_odd_variables_are_overruled(repo_root: Path) -> None:
    status, lines = started(repo_root, PYOPENGL_PLATFORM="nonsense", QT_XCB_GL_INTEGRATION="xcb_glx")
    assert status == 0
    (line,) = lines
    assert line.startswith("first-frame ")
