"""Environment and fixtures of every test; set up before anything imports Qt or OpenGL."""

import gc
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import psutil
import pytest

if TYPE_CHECKING:
    from sinew.sim.assets.model import CharacterModel

REPO_ROOT = Path(__file__).resolve().parent.parent

if sys.platform.startswith("linux"):  # the library and Qt must use one OpenGL platform
    os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
    os.environ.setdefault("QT_XCB_GL_INTEGRATION", "xcb_egl")
    os.environ["MESA_SHADER_CACHE_DISABLE"] = "false"  # Mesa offers no program binaries while its cache is off

# Examples are the same in every run, and a slow machine is no failure.
hypothesis.settings.register_profile("sinew", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("sinew")


def campaign(*values: object, id: str | None = None) -> Any:
    """A set of parameters that only `pytest -m campaign` runs; another set is the quick case."""
    return pytest.param(*values, marks=pytest.mark.campaign, id=id)


def slow(*values: object, id: str | None = None) -> Any:
    """A set of parameters that only `pytest -m slow` runs, as CI does; another set is the quick case."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What kernels run on in tests that do not say it themselves, and whether stored results are renewed."""
    parser.addoption("--back-end", choices=("auto", "tf", "compute"), default="auto", help="what kernels run on")
    parser.addoption("--store-keys", action="store_true", help="write the stored keys of nodes instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    """Keep settings out of the user's folders; give test processes a display where they need one."""
    config_folder = tempfile.mkdtemp(prefix="sinew-test-config-")
    config.add_cleanup(lambda: shutil.rmtree(config_folder, ignore_errors=True))
    os.environ["SINEW_CONFIG_DIR"] = config_folder
    if sys.platform.startswith("linux"):
        if _needs_own_display(config) and shutil.which("Xvfb"):
            _start_display(config)
        os.environ["QT_QPA_PLATFORM"] = "xcb" if os.environ.get("DISPLAY") else "offscreen"


GROWTH = 300e6
"""Growth of the process after which all frozen objects are collected too [bytes]: with a million one takes a second."""
_collected_at = [0]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freezes imported objects: many tests collect garbage, which is faster without them."""
    _set_aside()
    _collected_at[0] = psutil.Process().memory_info().rss


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Freezes the objects that a file of tests left; where the process has grown, all garbage is collected."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        assert not {"app", "widgets", "sim", "shaders", "resources"} & sys.modules.keys(), "loaded beside sinew"
        memory = psutil.Process().memory_info().rss
        if memory > _collected_at[0] + GROWTH:
            _collected_at[0] = memory
            gc.unfreeze()
        _set_aside()
    return result


def _set_aside() -> None:
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _assets_folder().is_dir():
        terminalreporter.write_line(f"Tests with sample models were skipped: {_no_assets()}")


def _assets_folder() -> Path:
    return Path(os.environ.get("SINEW_ASSETS") or REPO_ROOT.parent / "shared" / "assets")


def _no_assets() -> str:
    return f"there are none at {_assets_folder()}; set SINEW_ASSETS to their folder"


def _needs_own_display(config: pytest.Config) -> bool:
    """Parallel processes on one display would take the keyboard focus from each other."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return True
    distributes = bool(config.getoption("numprocesses", None))
    return not distributes and not os.environ.get("DISPLAY")


def _start_display(config: pytest.Config) -> None:
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL)
    config.add_cleanup(server.wait)
    config.add_cleanup(server.terminate)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        number = answer.readline().strip()
    if not number:
        raise pytest.UsageError(f"{' '.join(command)}: no display was made")
    os.environ["DISPLAY"] = f":{number}"


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """Top folder of the sources."""
    return REPO_ROOT


@pytest.fixture(scope="session")
def assets() -> Path:
    """Folder with the shared models (`ezm/`, `gltf/`); tests that need it are skipped where it is absent."""
    folder = _assets_folder()
    if not folder.is_dir():
        pytest.skip(_no_assets())
    return folder


@pytest.fixture(scope="session")
def humanoid() -> "CharacterModel":
    from sinew import resources  # imported once the environment is set
    from sinew.sim.assets.load import load_model

    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


class _Swallowed(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.errors.append(record.exc_info[1])


@pytest.fixture(autouse=True)
def survived() -> Iterator[list[BaseException]]:
    """What the program survived in drawing and simulating; a test that did not clear it fails with the first."""
    handler = _Swallowed()
    logs = [logging.getLogger(name) for name in ("sinew.sim.guard", "sinew.app.session.renderer")]
    for log in logs:
        log.addHandler(handler)
        log.setLevel(logging.INFO)
    yield handler.errors
    for log in logs:
        log.removeHandler(handler)
    for error in handler.errors:
        raise error


@pytest.fixture(autouse=True)
def numeric_errors_raise() -> Iterator[None]:
    """Division by zero, overflow and invalid operations fail the test they happen in.

    Underflow does not: rounding a residue such as 1e-40 to a float32 is no mistake.
    """
    with np.errstate(all="raise", under="ignore"):
        yield
