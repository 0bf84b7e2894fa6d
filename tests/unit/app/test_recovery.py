import os
import sys
from pathlib import Path

import pytest

from sinew.app.document.document import Document
from sinew.app.files.autosave import Autosave, autosave_text
from sinew.app.files.recovery import ProcessLock, Recovery, RecoveryStore
from sinew.app.project.project_file import LoadedProject, load_project
from sinew.app.project.project_json import ProjectError
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene, value_at
from sinew.sim.scene.view_state import ViewState
from tests.conftest import campaign
from tests.processes import finished, started

INTENSITY = ParamRef("light-1", "light", "intensity")
UNKNOWN = UnknownContent({("nodes", "light-1"): {"halo": 2}})

CRASHING_SESSION = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from sinew.app.files.autosave import Autosave
from sinew.app.document.document import Document
from sinew.app.files.recovery import RecoveryStore
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene

app = QCoreApplication([])
document = Document()
autosave = Autosave(document, RecoveryStore(Path(sys.argv[1])), delay=0.05)
document.add_node(Node(id="", settings=LightSettings()))
for value in range(1, 6):
    document.set_value(ParamRef("light-1", "light", "intensity"), value / 2)
autosave.saved.connect(lambda: print("saved", flush=True))
app.exec()
"""


def scene(intensity: float = 2.0) -> Scene:
    return Scene(
        nodes=(
            Node(id="light-1", name="light", settings=LightSettings(intensity=intensity)),
            Node(id="model-1", name="hero", settings=ModelSettings(path=os.path.abspath("/models/hero.ezm"))),
        )
    )


def crashed(folder: Path, intensity: float = 2.0, origin: Path | None = None) -> None:
    store = RecoveryStore(folder)
    store.write(scene(intensity), ViewState(time=1.0), UNKNOWN, origin)
    for lock in store._locks.values():
        os.close(lock._handle)


def recovered(store: RecoveryStore, recovery: Recovery) -> LoadedProject:
    project = load_project(recovery.project)
    store.adopt(recovery)
    return project


def test_a_killed_session_is_recovered(tmp_path):
    process = started("-c", CRASHING_SESSION, tmp_path)
    try:
        assert process.stdout.readline().strip() == "saved"
        running = RecoveryStore(tmp_path)
        assert running.pending() == [], "the first instance is still running"
        assert any(tmp_path.glob("*/project.sinew"))
    finally:
        process.kill()
        process.communicate()
    store = RecoveryStore(tmp_path)
    (recovery,) = store.pending()
    assert recovery.origin is None
    assert value_at(recovered(store, recovery).scene, INTENSITY) == 2.5
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_recovered_project_survives_a_second_crash(tmp_path):
    crashed(tmp_path, origin=tmp_path / "a.sinew")
    second = RecoveryStore(tmp_path)
    (recovery,) = second.pending()
    project = recovered(second, recovery)
    assert recovery.origin == tmp_path / "a.sinew"
    assert (project.scene, project.view_state, project.unknown) == (scene(), ViewState(time=1.0), UNKNOWN)
    for lock in second._locks.values():
        os.close(lock._handle)
    third = RecoveryStore(tmp_path)
    (recovery,) = third.pending()
    assert recovered(third, recovery).scene == scene()
    third.write(scene(4.0), ViewState(), UNKNOWN, None)
    assert len(list(tmp_path.glob("*/project.sinew"))) == 1
    third.close()


def test_two_instances_do_not_offer_the_same_recovery(tmp_path):
    crashed(tmp_path)
    first, second = RecoveryStore(tmp_path), RecoveryStore(tmp_path)
    (recovery,) = first.pending()
    assert second.pending() == []
    assert first.pending() == [recovery], "asking again changes nothing"
    first.close()
    assert second.pending() == [recovery], "an instance that decided nothing leaves it for the next"
    second.close()


def test_several_recoveries_come_latest_first_and_are_discarded_one_by_one(tmp_path):
    for number in range(3):
        crashed(tmp_path, intensity=float(number))
    for file in tmp_path.glob("*/project.sinew"):
        intensity = float(file.read_text().split('"intensity": ')[1].split(",")[0])
        os.utime(file, (1000 + intensity, 1000 + intensity))
    store = RecoveryStore(tmp_path)
    pending = store.pending()
    assert [recovery.saved_at.timestamp() for recovery in pending] == [1002, 1001, 1000]
    store.discard(pending[0])
    assert store.pending() == pending[1:]
    assert value_at(recovered(store, pending[2]).scene, INTENSITY) == 0.0
    store.close()
    assert RecoveryStore(tmp_path).pending() == [pending[1]]


def test_a_damaged_recovery_is_refused_and_stays(tmp_path):
    crashed(tmp_path)
    store = RecoveryStore(tmp_path)
    (recovery,) = store.pending()
    (recovery.folder / "project.sinew").write_text("{")
    (recovery.folder / "origin.json").write_text("[]")
    with pytest.raises(ProjectError, match="line 1"):
        load_project(recovery.project)
    assert [left.folder for left in store.pending()] == [recovery.folder]
    assert store.pending()[0].origin is None
    store.discard(recovery)
    store.close()
    assert list(tmp_path.iterdir()) == []


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def document(qapp) -> Document:
    return Document(scene())


def make(document: Document, folder: Path, request, **options) -> tuple[Autosave, RecoveryStore]:
    store = RecoveryStore(folder)
    autosave = Autosave(document, store, **options)
    request.addfinalizer(autosave.shutdown)
    return autosave, store


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/project.sinew"))


def test_an_edit_is_saved_after_a_pause_and_an_orderly_end_leaves_nothing(qtbot, document, tmp_path, request):
    autosave, _store = make(document, tmp_path, request, delay=0.02)
    with qtbot.waitSignal(autosave.saved, timeout=60_000):
        document.set_value(INTENSITY, 5.0)
    assert '"intensity": 5.0' in files(tmp_path)[0].read_text()
    assert document.modified, "a recovery file is no save"
    autosave.shutdown()
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_modified_is_not_saved(qtbot, document, tmp_path, request):
    make(document, tmp_path, request, delay=0.01)
    document.set_time(3.0)
    document.set_value(INTENSITY, 5.0)
    document.undo_stack.undo()
    qtbot.wait(80)
    assert files(tmp_path) == []


def test_a_recovered_project_keeps_its_file_until_it_is_saved(qtbot, document, tmp_path, request):
    crashed(tmp_path, intensity=7.0)
    autosave, store = make(document, tmp_path, request, delay=0.02)
    (recovery,) = store.pending()
    project = recovered(store, recovery)
    with qtbot.waitSignal(autosave.saved, timeout=60_000):
        document.replace_scene(project.scene, project.view_state, path=recovery.origin, modified=True)
    assert len(files(tmp_path)) == 1
    document.mark_saved(tmp_path / "a.sinew")
    qtbot.waitUntil(lambda: files(tmp_path) == [], timeout=60_000)
    assert autosave.status == ""


def test_edits_that_never_pause_are_saved_all_the_same(qtbot, document, tmp_path, request):
    clock = Clock()
    autosave, _store = make(document, tmp_path, request, delay=20.0, now=clock)
    gesture = document.new_gesture()
    for step in range(59):
        document.set_value(INTENSITY, step / 10.0, gesture)
        assert autosave._timer.interval() <= 20_000
        clock.time += 1.0
    assert 0 < autosave._timer.interval() <= 2_000
    clock.time += 5.0
    with qtbot.waitSignal(autosave.saved, timeout=60_000):
        document.set_value(INTENSITY, 9.0, gesture)
    assert '"intensity": 9.0' in files(tmp_path)[0].read_text()


def test_the_status_is_the_age(qtbot, document, tmp_path, request):
    clock = Clock()
    autosave, _store = make(document, tmp_path, request, delay=0.01, now=clock)
    texts: list[str] = []
    autosave.status_changed.connect(texts.append)
    with qtbot.waitSignal(autosave.saved, timeout=60_000):
        document.set_value(INTENSITY, 5.0)
    clock.time += 12.4
    autosave._ticking.timeout.emit()
    clock.time += 0.1
    autosave._ticking.timeout.emit()
    clock.time += 200.0
    autosave._ticking.timeout.emit()
    assert texts == ["autosaved 0 s ago", "autosaved 12 s ago", "autosaved 3 min ago"]
    assert autosave_text(59.9) == "autosaved 59 s ago"


def test_a_failure_is_reported_and_tried_again(qtbot, document, tmp_path, request):
    blocked = tmp_path / "recovery"
    blocked.write_text("a file in the way")
    autosave, _store = make(document, blocked, request, delay=0.01)
    with qtbot.waitSignal(autosave.failed, timeout=60_000) as caught:
        document.set_value(INTENSITY, 5.0)
    assert caught.args[0].startswith("autosave failed: ")
    assert autosave.status == caught.args[0]
    blocked.unlink()
    with qtbot.waitSignal(autosave.saved, timeout=60_000):
        document.set_value(INTENSITY, 6.0)
    assert autosave.status == "autosaved 0 s ago"


def test_locks_without_a_folder_and_empty_folders_are_removed(tmp_path):
    (tmp_path / "123-abc").mkdir()  # of a session that died before its first write
    old, young, held = (tmp_path / f"{name}.lock" for name in ("1-a", "2-b", "3-c"))
    lock = ProcessLock(held)
    assert lock.acquire()
    for path in (old, young):
        path.touch()
    for path in (old, held):
        os.utime(path, (1.0, 1.0))
    store = RecoveryStore(tmp_path)
    assert store.pending() == []
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2-b.lock", "3-c.lock"]
    lock.release()


SAVER = """
import itertools, os, random, signal, sys, time
from pathlib import Path
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState

path = Path(sys.argv[1])
chance = random.Random(20)

def scene(count):
    return Scene(nodes=tuple(Node(id=f"light-{n}", name=f"light {n}", settings=LightSettings()) for n in range(count)))

KINDS = [scene(3), scene(12)]

def save_for_ever(first, report):
    for turn in itertools.count(first):
        save_project(path, KINDS[turn % 2], ViewState())
        os.write(report, b".")

seen, litter, interrupted = set(), 0, 0
for turn in range(60):
    if turn >= int(sys.argv[2]) and interrupted and len(seen) == 2:
        break
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        save_for_ever(turn, write_end)
    started = time.perf_counter()
    os.read(read_end, 1)
    time.sleep(chance.uniform(0.0, 1.5) * (time.perf_counter() - started))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read_end)
    os.close(write_end)
    loaded = load_project(path).scene
    assert loaded in KINDS, len(loaded.nodes)
    seen.add(KINDS.index(loaded))
    left = len(os.listdir(path.parent)) - 1
    litter, interrupted = max(litter, left), interrupted + left
assert seen == {0, 1}, "both projects must have been met"
assert interrupted > 0, "no kill fell into a write"
assert litter == 1, litter
save_project(path, KINDS[0], ViewState())
print(os.listdir(path.parent))
"""


@pytest.mark.parametrize("kills", [6, campaign(60)])
@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
def test_kills_lose_nothing(tmp_path: Path, kills: int):
    assert finished("-c", SAVER, tmp_path / "a.sinew", kills) == (0, "['a.sinew']\n", "")
