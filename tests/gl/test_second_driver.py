"""The shipped projects on another driver: Mesa's softpipe, which interprets shaders instead of compiling them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.campaign

STEPS = 30
CALM = "cloth-on-ellipsoid"
SHORT_TABLES = "folded-sheet"
"""Needs tables that are longer than what OpenGL 3.3 guarantees, and this driver has."""


def sinew(driver: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GALLIUM_DRIVER": driver}
    command = [sys.executable, "-m", "sinew", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def has_softpipe() -> None:
    asked = "from sinew.sim.gl.context import Context; print(Context.headless().capabilities.renderer)"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "GALLIUM_DRIVER": "softpipe"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "softpipe" not in done.stdout:
        pytest.skip("there is no softpipe here")


def positions(folder: Path, driver: str, project: Path) -> dict[str, np.ndarray]:
    """Positions of every node at the start and after the steps."""
    output = folder / f"{project.stem}-{driver}.npz"
    done = sinew(driver, "simulate", project, "--steps", STEPS, "--every", STEPS, "--output", output)
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(output) as arrays:
        return {name: arrays[name] for name in arrays.files if name.endswith(".positions")}


def test_a_calm_cloth_lies_where_the_first_driver_puts_it(has_softpipe: None, repo_root: Path, tmp_path: Path) -> None:
    project = repo_root / "resources" / "projects" / f"{CALM}.sinew"
    first, second = (positions(tmp_path, driver, project) for driver in ("llvmpipe", "softpipe"))
    assert first.keys() == second.keys()
    for name, expected in first.items():
        extent = np.ptp(expected[0].reshape(-1, 3), axis=0).max()
        assert np.abs(expected[1] - expected[0]).max() > 0.1 * extent, "it has moved"
        assert np.abs(second[name] - expected).max() < 1e-4 * extent


@pytest.mark.parametrize("name", ["arm", "cape", CALM, "fountain", "humanoid", "sparks"])
def test_shipped_projects_are_drawn(has_softpipe: None, name: str, repo_root: Path, tmp_path: Path) -> None:
    project, output = repo_root / "resources" / "projects" / f"{name}.sinew", tmp_path / "frame.png"
    done = sinew("softpipe", "render", project, "--frames", "5", "--size", "96x64", "--overlays", "--output", output)
    reported = [line for line in done.stderr.splitlines() if "this driver holds" not in line]
    assert (done.returncode, reported) == (0, [])


def test_what_a_driver_cannot_hold_is_told_with_the_node(has_softpipe: None, repo_root: Path, tmp_path: Path) -> None:
    project = repo_root / "resources" / "projects" / f"{SHORT_TABLES}.sinew"
    done = sinew("softpipe", "simulate", project, "--steps", "1", "--output", tmp_path / "out.npz")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{project}: Sheet: " in done.stderr
    assert "unexpected" not in done.stderr
