"""Environment and fixtures of every test; set up before anything imports Qt or OpenGL."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parent.parent


def _prepare_environment() -> None:
    """Choose one OpenGL platform for the library and for Qt, and keep settings out of the user's folders."""
    config = tempfile.mkdtemp(prefix="sinew-test-config-")
    atexit.register(shutil.rmtree, config, ignore_errors=True)
    os.environ["SINEW_CONFIG_DIR"] = config
    if sys.platform.startswith("linux"):
        os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
        os.environ.setdefault("QT_XCB_GL_INTEGRATION", "xcb_egl")
        os.environ["QT_QPA_PLATFORM"] = "xcb" if os.environ.get("DISPLAY") else "offscreen"


_prepare_environment()

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

# Examples are the same in every run, and a slow machine is no failure.
hypothesis.settings.register_profile("sinew", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("sinew")


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """Top folder of the sources."""
    return REPO_ROOT


@pytest.fixture(scope="session")
def assets() -> Path:
    """Folder with the shared models (`ezm/`, `gltf/`); tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("SINEW_ASSETS") or REPO_ROOT.parent / "shared" / "assets")
    if not folder.is_dir():
        pytest.skip(f"no sample models at {folder}; set SINEW_ASSETS to their folder")
    return folder


@pytest.fixture(autouse=True)
def numeric_errors_raise() -> Iterator[None]:
    """Division by zero, overflow, underflow and invalid operations fail the test they happen in."""
    with np.errstate(all="raise"):
        yield
