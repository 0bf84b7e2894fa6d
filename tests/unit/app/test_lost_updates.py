"""Two documents of one file: no save undoes the other without a word, and nothing of it stays on the disk."""

import multiprocessing
import os
import shutil
import threading
from pathlib import Path

import pytest

import sinew
from sinew import resources
from sinew.app.document.document import Document
from sinew.app.project.project_file import OvertakenError, load_project, save_project
from sinew.app.project.project_json import ProjectError
from sinew.sim.export import atomic_file
from sinew.sim.export.atomic_file import exclusive
from sinew.sim.scene.scene import NEW_SCENE
from sinew.sim.scene.view_state import ViewState


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "sheet.sinew"
    shutil.copyfile(resources.path("projects") / "cloth-on-ellipsoid.sinew", path)
    return path


def density(path: Path) -> float:
    with sinew.open(path) as opened:
        found: float = opened.nodes["Sheet"].density
    return found


def test_a_script_does_not_overwrite_the_save_of_another(project: Path) -> None:
    with sinew.open(project) as one, sinew.open(project) as other:
        one.nodes["Sheet"].density = 0.111
        one.save()
        one.nodes["Sheet"].density = 0.112
        one.save()
        other.nodes["Sheet"].density = 0.222
        with pytest.raises(ValueError, match=r"sheet\.sinew: was changed by another program since it was opened"):
            other.save()
        with pytest.raises(OvertakenError):
            other.save(project.parent / "." / project.name)
        assert density(project) == 0.112
        other.save(project.with_name("other.sinew"))
        with sinew.open(project) as third:
            third.save()
            third.nodes["Sheet"].density = 0.333
            third.save(overwrite=True)
        one.save(overwrite=True)
        assert density(project) == 0.112
        project.unlink()
        one.save()
        assert density(project) == 0.112


def test_a_link_to_the_file_is_the_file(project: Path) -> None:
    link = project.with_name("link.sinew")
    link.symlink_to(project)
    with sinew.open(project) as one, sinew.open(link) as other:
        one.nodes["Sheet"].density = 0.111
        one.save()
        with pytest.raises(OvertakenError):
            other.save(project)


def _add(path: str, count: int, failures: "multiprocessing.queues.Queue[int]") -> None:
    """Counts up a number in the file; whoever was overtaken reads again."""
    overtaken = 0
    for _ in range(count):
        while True:
            read = load_project(Path(path))
            state = ViewState(time=read.view_state.time + 1.0)
            try:
                save_project(Path(path), read.scene, state, known=read.digest)
                break
            except OvertakenError:
                overtaken += 1
    failures.put(overtaken)


@pytest.mark.slow
def test_check_and_write_are_one_in_several_processes(tmp_path: Path) -> None:
    path = tmp_path / "a.sinew"
    save_project(path, NEW_SCENE, ViewState())
    spawn = multiprocessing.get_context("spawn")
    failures = spawn.Queue()
    processes = [spawn.Process(target=_add, args=(str(path), 40, failures)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert load_project(path).view_state.time == 120.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sinew"]


def test_a_held_lock_is_reported_and_nothing_is_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_file, "LOCK_PATIENCE", 0.1)
    before = project.read_bytes()
    document, entered, leave = Document(), threading.Event(), threading.Event()

    def hold() -> None:
        with exclusive(project):
            entered.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(60)
    with pytest.raises(ProjectError, match=r"sheet\.sinew: is being saved by another program"):
        document.save(project, overwrite=True)
    assert project.read_bytes() == before
    leave.set()
    holder.join()
    document.save(project, overwrite=True)
    assert os.listdir(project.parent) == [project.name]
