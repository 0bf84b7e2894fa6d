import ntpath
import os
import posixpath
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew import resources
from sinew.app.project import project_paths as module
from sinew.app.project.project_file import load_project
from sinew.app.project.project_paths import (
    is_network_path,
    missing_models,
    outside_files,
    portable_path,
    project_folders,
    relocated_paths,
    resolved_path,
    stored_path,
)
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene


def test_posix_paths():
    for path, stored in (
        ("/p/models/a.ezm", "models/a.ezm"),
        ("/p/a.ezm", "a.ezm"),
        ("/other/a.ezm", "../other/a.ezm"),
        ("/p/x\\y.ezm", "x\\y.ezm"),
        ("", ""),
        ("loose/a.ezm", "loose/a.ezm"),
    ):
        assert stored_path(path, "/p", flavour=posixpath) == stored
        if posixpath.isabs(path):
            assert resolved_path(stored, "/p", flavour=posixpath) == path


def test_windows_paths():
    for path, stored in (
        ("C:\\p\\models\\a.ezm", "models/a.ezm"),
        ("c:\\P\\a.ezm", "a.ezm"),
        ("C:\\other\\a.ezm", "../other/a.ezm"),
        ("D:\\other\\a.ezm", "D:/other/a.ezm"),
        ("\\\\server\\share\\a.ezm", "//server/share/a.ezm"),
        ("", ""),
    ):
        assert stored_path(path, "C:\\p", flavour=ntpath) == stored
        if path:
            assert ntpath.normcase(resolved_path(stored, "C:\\p", flavour=ntpath)) == ntpath.normcase(path)


parts = st.lists(st.sampled_from(["a", "b", "..c", "d e"]), min_size=1, max_size=5)


@given(parts, parts)
def test_what_is_stored_resolves_to_the_same_file(path_parts, folder_parts):
    path, folder = "/" + "/".join(path_parts), "/" + "/".join(folder_parts)
    assert resolved_path(stored_path(path, folder, flavour=posixpath), folder, flavour=posixpath) == path


def test_a_link_to_the_project_folder_does_not_lead_outside(tmp_path):
    real = tmp_path.resolve() / "real"
    real.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(real)
    assert portable_path(str(link / "a.ezm"), str(real)) == "a.ezm"
    assert portable_path(str(tmp_path.resolve() / "a.ezm"), str(real)) == "../a.ezm"
    outside = os.path.join(os.sep, "elsewhere", "a.ezm")
    assert portable_path(outside, str(real)) == stored_path(outside, str(real))


def test_paths_on_another_machine_keep_both_slashes():
    path = "//host/share/x.ezm"
    assert stored_path(path, "/p", flavour=posixpath) == path
    assert resolved_path(path, "/p", flavour=posixpath) == path
    beside = stored_path(path, "//host/share/p", flavour=posixpath)
    assert resolved_path(beside, "//host/share/p", flavour=posixpath) == path


def scene(*paths: str) -> Scene:
    nodes = tuple(
        Node(id=f"model-{n}", name=f"m{n}", settings=ModelSettings(path=path)) for n, path in enumerate(paths)
    )
    return Scene(nodes=(*nodes, Node(id="light-1", name="light", settings=LightSettings())))


def test_missing_models_are_those_without_a_file(tmp_path):
    (tmp_path / "here.ezm").touch()
    found = missing_models(scene(str(tmp_path / "here.ezm"), str(tmp_path / "gone.ezm"), "", str(tmp_path)))
    assert found == ("model-1", "model-3")


def test_models_that_moved_together_are_found_together():
    files = {"/new/people/a.ezm", "/new/people/b.ezm", "/new/props/c.ezm", "/new/people/d.ezm", "/old/still/e.ezm"}
    before = scene(
        "/old/people/a.ezm",
        "/old/people/b.ezm",
        "/old/props/c.ezm",
        "/elsewhere/d.ezm",
        "/old/still/e.ezm",
        "/old/people/lost.ezm",
    )
    found = relocated_paths(before, "model-0", Path("/new/people/a.ezm"), files.__contains__)
    assert found == {
        "model-0": "/new/people/a.ezm",
        "model-1": "/new/people/b.ezm",
        "model-2": "/new/props/c.ezm",
        "model-3": "/new/people/d.ezm",
    }


def test_the_same_file_under_another_name_serves_all_its_nodes():
    before = scene("/old/a.ezm", "/old/a.ezm")
    found = relocated_paths(before, "model-0", Path("/new/renamed.ezm"), {"/new/renamed.ezm"}.__contains__)
    assert found == {"model-0": "/new/renamed.ezm", "model-1": "/new/renamed.ezm"}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    real = Path(os.path.realpath(tmp_path))
    (real / "home" / "game" / "scenes").mkdir(parents=True)
    (real / "home" / "game" / "models").mkdir()
    (real / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(real / "home"))
    monkeypatch.setenv("USERPROFILE", str(real / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(real / "tmp"))
    return real


def outside(work: Path, project: str, path: str, *trusted: Path) -> bool:
    named = os.path.normpath(os.path.join(work, path))
    scene = Scene(nodes=(Node(id="a", settings=ModelSettings(path=named)),))
    found = outside_files(scene, work / project, trusted)
    assert all((file.node, file.path) == ("a", named) for file in found)
    return bool(found)


def test_a_project_has_its_folder_and_the_one_above(work: Path) -> None:
    for project, path, expected in (
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
    ):
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
    unused = Scene(nodes=(Node(id="e", settings=EmitterSettings(texture="/etc/spark.png")),))
    assert [file.path for file in outside_files(unused, work / "a.sinew")] == ["/etc/spark.png"]
    assert not any("host" in path for path in touched)


def test_the_shipped_projects_need_no_permission() -> None:
    for path in resources.path("projects").glob("*.sinew"):
        assert project_folders(path) == (path.parent.resolve(), path.parent.parent.resolve())
        assert outside_files(load_project(path).scene, path) == ()
