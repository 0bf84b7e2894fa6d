"""The wheel holds one top-level package with everything that the program reads, and runs without the checkout.

A checkout installed with `pip install -e .` runs its own files, which type checkers find through links.
"""

import inspect
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import sinew
from sinew import resources
from sinew.app.cli import info
from tests.architecture.sources import PACKAGES, REPO_ROOT

FRONT = REPO_ROOT / "app" / "package"
wheel = pytest.importorskip("hatchling.builders.wheel")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = wheel.WheelBuilder(str(REPO_ROOT)).build(directory=str(folder / "dist"), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_has_one_package_with_every_file_of_the_program(installed: Path) -> None:
    def files(root: Path) -> set[str]:
        paths = {
            path.relative_to(root).as_posix() for top in PACKAGES for path in (root / top).rglob("*") if path.is_file()
        }
        return {path for path in paths if "__pycache__" not in path}

    assert sorted(path.name.partition("-")[0] for path in installed.iterdir()) == ["sinew", "sinew"]
    front = {path.name for path in FRONT.iterdir() if path.is_file()}
    assert files(installed / "sinew") == files(REPO_ROOT) - {"app/__main__.py"} - {f"app/package/{n}" for n in front}
    assert {path.name for path in (installed / "sinew").iterdir() if path.is_file()} == front >= {"py.typed"}


def test_the_wheel_runs_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); import sinew; "
        "assert sinew.__version__ and len(sinew.__path__) == 1, sinew.__path__; "
        "from sinew import resources; from sinew.app.cli.main import main; "
        "sys.exit(main(['info', str(resources.path('models') / 'arm' / 'arm.ezm')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "arm" in done.stdout


def test_links_lead_to_every_package() -> None:
    links = Path(sinew.__file__).parent
    for name in PACKAGES:
        assert (links / name).samefile(REPO_ROOT / name)
    assert {path.name for path in FRONT.iterdir() if path.is_file()} == {p.name for p in links.iterdir() if p.is_file()}


def test_links_are_laid_anew_over_what_is_there(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", ".ci/links.py", "app/package/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO_ROOT / name, tmp_path / name)
    for name in PACKAGES:
        (tmp_path / name).mkdir(exist_ok=True)
    links = tmp_path / ".links" / "sinew"
    (links / "__pycache__").mkdir(parents=True)
    (links / "__pycache__" / "a.pyc").touch()
    (links / "sim").symlink_to("../../app")
    (links / "old.py").touch()
    for _ in range(2):
        list(wheel.WheelBuilder(str(tmp_path)).build(directory=str(tmp_path / "dist"), versions=["editable"]))
        assert {path.name for path in links.iterdir()} == {"__pycache__", "__init__.py", *PACKAGES}
        assert (links / "sim").samefile(tmp_path / "sim")
        assert (links / "__pycache__" / "a.pyc").is_file()


def test_a_debugger_stops_at_a_line_of_a_file_and_no_module_is_loaded_twice() -> None:
    file = Path(inspect.getsourcefile(info.run) or "")
    line = next(line for *_, line in info.run.__code__.co_lines() if line and line > info.run.__code__.co_firstlineno)
    linked = "print('linked', sorted(n for n, m in sys.modules.items() if '.links' in str(getattr(m, '__file__', ''))))"
    commands = [
        f"b {file.relative_to(REPO_ROOT).as_posix()}:{line}",
        "c",
        "print('stopped in', __name__, __file__)",
        "import sys",
        linked,
        "q",
    ]
    options = [word for command in commands for word in ("-c", command)]
    model = str(resources.path("models") / "arm" / "arm.ezm")
    done = subprocess.run(
        [sys.executable, "-m", "pdb", *options, "-m", "sinew", "info", model],
        cwd=REPO_ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"stopped in sinew.app.cli.info {file}" in done.stdout, done.stdout + done.stderr
    assert "linked ['__main__', 'sinew']" in done.stdout
