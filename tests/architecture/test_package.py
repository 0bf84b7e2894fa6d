"""The wheel holds one top-level package with everything that the program reads, and runs without the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, REPO_ROOT

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
    assert files(installed / "sinew") == files(REPO_ROOT) - {"app/__main__.py"}


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
