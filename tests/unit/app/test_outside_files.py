"""Which files of a project lie outside its folders."""

import os
import tempfile
from pathlib import Path

import pytest

from sinew import resources
from sinew.app.files import project_paths as module
from sinew.app.files.project_file import load_project
from sinew.app.files.project_paths import is_network_path, outside_files, project_folders
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.scene import Node, Scene


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a home, and in it a project folder `game/scenes`."""
    real = Path(os.path.realpath(tmp_path))
    (real / "home" / "game" / "scenes").mkdir(parents=True)
    (real / "home" / "game" / "models").mkdir()
    (real / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(real / "home"))
    monkeypatch.setenv("USERPROFILE", str(real / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(real / "tmp"))
    return real


def outside(work: Path, project: str, path: str, *trusted: Path) -> bool:
    """Whether a model at `path`, below `work` unless absolute, lies outside of the project."""
    named = os.path.normpath(os.path.join(work, path))
    scene = Scene(nodes=(Node(id="a", settings=ModelSettings(path=named)),))
    found = outside_files(scene, work / project, trusted)
    assert all((file.node, file.path) == ("a", named) for file in found)
    return bool(found)


@pytest.mark.parametrize(
    ("project", "path", "expected"),
    [
        ("home/game/scenes/a.sinew", "home/game/scenes/hero.ezm", False),
        ("home/game/scenes/a.sinew", "home/game/scenes/deep/er/hero.ezm", False),
        ("home/game/scenes/a.sinew", "home/game/models/hero.ezm", False),
        ("home/game/scenes/a.sinew", "home/game/scenes-old/hero.ezm", False),
        ("home/game/scenes/a.sinew", "home/games/hero.ezm", True),
        ("home/game/scenes/a.sinew", "home/.ssh/id_rsa", True),
        ("home/game/scenes/a.sinew", "/etc/passwd", True),
        ("home/game/a.sinew", "home/game/models/hero.ezm", False),
        ("home/game/a.sinew", "home/.ssh/id_rsa", True),
        ("home/game/a.sinew", "home/other/hero.ezm", True),
        ("tmp/a.sinew", "tmp/hero.ezm", False),
        ("tmp/a.sinew", "home/hero.ezm", True),
        ("tmp/unpacked/a.sinew", "tmp/unpacked/hero.ezm", False),
        ("tmp/unpacked/a.sinew", "tmp/others/hero.ezm", True),
        ("tmp/pack/scenes/a.sinew", "tmp/pack/hero.ezm", False),
        ("home/game/scenes/a.sinew", "//host/share/hero.ezm", True),
    ],
)
def test_a_project_has_its_folder_and_the_one_above(work: Path, project: str, path: str, expected: bool) -> None:
    assert outside(work, project, path) is expected


def test_folders_that_the_user_opened_are_trusted_too(work: Path) -> None:
    assert outside(work, "home/game/a.sinew", "home/other/hero.ezm")
    assert not outside(work, "home/game/a.sinew", "home/other/hero.ezm", work / "home" / "other")
    assert outside(work, "home/game/a.sinew", "home/other/hero.ezm", work / "home" / "oth")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_count_as_where_they_lead(work: Path) -> None:
    (work / "secret").mkdir()
    (work / "home" / "game" / "scenes" / "link").symlink_to(work / "secret")
    (work / "way").symlink_to(work / "home" / "game")
    assert outside(work, "home/game/scenes/a.sinew", "home/game/scenes/link/hero.ezm")
    assert not outside(work, "home/game/scenes/a.sinew", "way/models/hero.ezm")
    assert not outside(work, "way/scenes/a.sinew", "home/game/models/hero.ezm")


def test_paths_that_are_not_used_now_count_too(work: Path) -> None:
    scene = Scene(
        nodes=(Node(id="e", settings=EmitterSettings(texture="/etc/spark.png")), Node(id="m", settings=ModelSettings()))
    )
    assert [file.path for file in outside_files(scene, work / "home" / "game" / "a.sinew")] == ["/etc/spark.png"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("//host/share/a.ezm", True), ("\\\\host\\share\\a.ezm", True), ("/\\host\\a", True), ("\\\\?\\C:\\a", True),
     ("/a/b", False), ("C:\\a", False), ("a//b", False), ("", False)],
)  # fmt: skip
def test_paths_to_other_machines(path: str, expected: bool) -> None:
    assert is_network_path(path) is expected


def test_nothing_on_another_machine_is_touched(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched = []
    real = os.path.realpath
    monkeypatch.setattr(module.os.path, "realpath", lambda path: touched.append(str(path)) or real(path))
    scene = Scene(nodes=(Node(id="a", settings=ModelSettings(path="//host/share/a.ezm")),))
    (file,) = outside_files(scene, work / "home" / "game" / "a.sinew")
    assert file.is_network
    assert not any("host" in path for path in touched)


@pytest.mark.parametrize("path", sorted(resources.path("projects").glob("*.sinew")), ids=lambda path: path.stem)
def test_the_shipped_projects_need_no_permission(path: Path) -> None:
    assert project_folders(path) == (path.parent.resolve(), path.parent.parent.resolve())
    assert outside_files(load_project(path).scene, path) == ()
