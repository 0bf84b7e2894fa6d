import gc
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QObject, QThread

from sinew.app.files.model_loader import ModelLoader
from sinew.sim.assets.images import ImageBudget
from sinew.sim.assets.model import CharacterModel, Material
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.characters.loaded_model import LoadedModel
from tests.model_samples import mesh_of, model_of
from tests.processes import finished


def model(path: Path, *textures: Path) -> CharacterModel:
    materials = [Material(name=path.stem, texture=path.name, texture_path=path) for path in textures]
    return model_of(mesh_of(np.eye(3), [[0, 1, 2]]), path=path, materials=materials, warnings=("odd",))


class FakeFiles:
    """In place of the file reader: each path waits until it is released."""

    def __init__(self) -> None:
        self.models: dict[Path, CharacterModel | Exception] = {}
        self.gates: dict[Path, threading.Event] = {}
        self.threads: set[int] = set()
        self.started: list[Path] = []

    def add(self, name: str, outcome: CharacterModel | Exception | None = None, *, waits: bool = False) -> Path:
        path = Path(name)
        self.models[path] = model(path) if outcome is None else outcome
        self.gates[path] = threading.Event()
        if not waits:
            self.gates[path].set()
        return path

    def __call__(self, path, *, progress, cancelled):
        self.threads.add(threading.get_ident())
        self.started.append(path)
        for step in range(1, 1001):
            progress(step / 1000)
        while not self.gates[path].wait(0.005):
            if cancelled():
                raise LoadCancelled
        outcome = self.models[path]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Log(QObject):
    def __init__(self, loader: ModelLoader) -> None:
        super().__init__()
        self.events: list[tuple[str, int, object]] = []
        self.threads: set[QThread] = set()
        self.progress: dict[int, list[float]] = {}
        loader.loaded.connect(lambda request, loaded: self._note("loaded", request, loaded))
        loader.failed.connect(lambda request, message: self._note("failed", request, message))
        loader.cancelled.connect(lambda request: self._note("cancelled", request, None))
        loader.progress.connect(lambda request, part: self.progress.setdefault(request, []).append(part))

    def _note(self, kind: str, request: int, value: object) -> None:
        self.events.append((kind, request, value))
        self.threads.add(QThread.currentThread())

    def kinds(self) -> list[tuple[str, int]]:
        return [(kind, request) for kind, request, _ in self.events]


@pytest.fixture
def files() -> FakeFiles:
    return FakeFiles()


@pytest.fixture
def loader(qapp, files):
    loader = ModelLoader(load=files)
    yield loader
    loader.shutdown()


def settled(qtbot, loader: ModelLoader) -> None:
    qtbot.waitUntil(lambda: not loader.busy, timeout=60_000)


def test_a_model_arrives_on_the_thread_of_the_caller(qtbot, loader, files):
    log = Log(loader)
    request = loader.load("model-1", files.add("/a.ezm"))
    assert loader.busy
    settled(qtbot, loader)
    assert log.kinds() == [("loaded", request)]
    loaded = log.events[0][2]
    assert isinstance(loaded, LoadedModel)
    assert loaded.model.path == Path("/a.ezm")
    assert loaded.warnings == ("odd",)
    assert log.threads == {loader.thread()}
    assert threading.get_ident() not in files.threads
    steps = log.progress[request]
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    assert len(steps) <= 101


def test_textures_are_decoded_once_and_a_bad_one_is_a_warning(qtbot, loader, files, tmp_path):
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    pixels = np.full((2, 3, 4), 7, dtype=np.uint8)
    Image.fromarray(pixels).save(good)
    bad.write_text("no image")
    log = Log(loader)
    loader.load("model-1", files.add("/a.ezm", model(Path("/a.ezm"), good, bad, good)))
    settled(qtbot, loader)
    loaded = log.events[0][2]
    assert list(loaded.images) == [good]
    np.testing.assert_array_equal(loaded.images[good].pixels, pixels)
    assert [level.shape[:2] for level in loaded.images[good].levels] == [(2, 3), (1, 1)]
    assert loaded.warnings[1] == f"texture {bad}: is not an image of a known format (PNG, JPEG, TGA, DDS, BMP, WebP)"


def test_images_of_all_models_share_a_budget_until_they_are_given_up(qtbot, qapp, files, tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for path in paths:
        Image.fromarray(np.full((8, 8, 4), 7, dtype=np.uint8)).save(path)
    bad = tmp_path / "bad.png"
    bad.write_text("no image")
    budget = ImageBudget(200)
    loader = ModelLoader(load=files, budget=budget)
    log = Log(loader)
    for number, path in enumerate(paths):
        loader.load(f"model-{number}", files.add(f"/{number}.ezm", model(Path(f"/{number}.ezm"), path, bad)))
        settled(qtbot, loader)
    edges = [next(iter(loaded.images.values())).pixels.shape[0] for _, _, loaded in log.events]
    assert edges == [8, 8, 4], "the third has to do with half of what the others left"
    assert "1/2 of its 8 x 8 pixels" in log.events[2][2].warnings[-1]
    log.events.clear()
    gc.collect()
    assert budget.take(bad, (14, 7)) == 1, "released images are free again"
    loader.shutdown()


def test_a_refused_model_fails_in_one_line_and_a_defect_of_the_reader_is_logged(qtbot, loader, files, caplog):
    log = Log(loader)
    request = loader.load("model-1", files.add("/a.ezm", ModelError("/a.ezm", "Mesh", "no vertices")))
    settled(qtbot, loader)
    assert log.events.pop() == ("failed", request, "/a.ezm: Mesh: no vertices")
    loader.load("model-1", files.add("/a.ezm", ZeroDivisionError("oh\nno")))
    settled(qtbot, loader)
    assert log.events[0][2] == "/a.ezm: ZeroDivisionError: oh no"
    assert "loading /a.ezm failed" in caplog.text


def test_a_cancelled_request_ends_at_once_and_says_nothing_more(qtbot, loader, files):
    log = Log(loader)
    request = loader.load("model-1", files.add("/slow.ezm", waits=True))
    qtbot.waitUntil(lambda: files.started == [Path("/slow.ezm")], timeout=60_000)
    loader.cancel(request)
    loader.cancel(request)
    assert log.kinds() == [("cancelled", request)]
    assert not loader.busy
    last = loader.load("model-2", files.add("/b.ezm"))
    settled(qtbot, loader)
    assert log.kinds() == [("cancelled", request), ("loaded", last)]


def test_shutdown_waits_for_the_workers(qtbot, qapp, files):
    loader = ModelLoader(load=files)
    log = Log(loader)
    paths = [files.add(f"/{n}.ezm", waits=True) for n in range(6)]
    requests = [loader.load(f"model-{n}", path) for n, path in enumerate(paths)]
    qtbot.waitUntil(lambda: len(files.started) == 2, timeout=60_000)
    loader.shutdown()
    assert loader._pool.activeThreadCount() == 0
    assert log.kinds() == [("cancelled", request) for request in requests]
    assert len(files.started) == 2, "what had not started never does"
    loader.deleteLater()


def test_the_receiver_of_a_result_may_start_the_next_request(qtbot, loader, files):
    log = Log(loader)
    first = loader.load("model-1", files.add("/slow.ezm", waits=True))
    latest = loader.load("model-1", files.add("/fast.ezm"))
    files.gates[Path("/slow.ezm")].set()
    settled(qtbot, loader)
    assert sorted(log.kinds()) == [("cancelled", first), ("loaded", latest)], "the latest request of a node wins"
    log.events.clear()
    second = files.add("/b.ezm")

    def go_on(request: int, loaded: LoadedModel) -> None:
        if loaded.model.path != second:
            loader.load("model-1", second)

    loader.loaded.connect(go_on)
    loader.load("model-1", files.add("/a.ezm"))
    settled(qtbot, loader)
    assert [value.model.path for kind, _, value in log.events if kind == "loaded"] == [Path("/a.ezm"), second]
    assert [kind for kind, _ in log.kinds()].count("cancelled") == 0


LEAVING = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from sinew.app.files.model_loader import ModelLoader
from sinew.sim.assets.raw import LoadCancelled

def load(path, *, progress, cancelled):
    while not cancelled():
        progress(0.5)
        time.sleep(0.001)
    raise LoadCancelled

app = QCoreApplication([])
loader = ModelLoader(load=load)
for number in range(8):
    loader.load(f"model-{number}", Path("a.ezm"))
QTimer.singleShot(50, app.quit)
app.exec()
print("left", loader.busy)
"""


def test_an_application_that_just_quits_stops_its_workers():
    assert finished("-c", LEAVING) == (0, "left False\n", "")
