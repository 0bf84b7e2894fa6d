"""Loader of models and their textures on worker threads; signals arrive on the thread of the loader."""

import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, Qt, QThreadPool, Signal

from sinew.app.project.digest import file_digest
from sinew.sim.assets.images import ImageBudget, MipImage, pixel_count
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, ImageSource
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.characters.loaded_model import LoadedModel, load_textures
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.printable import printable
from sinew.sim.scene.scene import NodeId

_log = logging.getLogger(__name__)

_MODEL_SHARE = 0.8  # fraction of the progress for the model; the textures follow

_PROGRESS_PAUSE = 0.1
"""Shortest time between reports of progress [s]; each lays out the status bar and the outliner again."""


class LoadModel(Protocol):
    def __call__(
        self, path: Path, *, progress: Callable[[float], None] | None, cancelled: Callable[[], bool] | None
    ) -> CharacterModel: ...


@dataclass(frozen=True, slots=True)
class _ModelRequest:
    id: int
    node_id: NodeId
    path: Path
    stopped: threading.Event = field(default_factory=threading.Event)

    def stop_here(self) -> None:
        """Raises LoadCancelled if the request was cancelled."""
        if self.stopped.is_set():
            raise LoadCancelled


class ModelLoader(QObject):
    """Loader of models. The latest request of a node wins; each ends with `loaded`, `failed` or `cancelled`.

    Args:
        worker_count: Models that are read at the same time.
        budget: Limit of all images together; images of a model count while the `LoadedModel` lives.
    """

    progress = Signal(int, float)  # Request id and finished fraction, 0 to 1
    loaded = Signal(int, object)  # Request id and `LoadedModel`
    failed = Signal(int, str)  # Request id and one line that names file, element and reason
    cancelled = Signal(int)  # Request id; also of a request that a newer one of the same node replaces

    _advanced = Signal(object, float)
    _finished = Signal(object, object)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        load: LoadModel = load_model,
        worker_count: int = 2,
        budget: ImageBudget | None = None,
    ) -> None:
        super().__init__(parent)
        self._load, self._budget = load, budget or ImageBudget()
        self._ids = itertools.count(1)
        self._requests: dict[int, _ModelRequest] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(worker_count)
        self._advanced.connect(self._on_advanced, Qt.ConnectionType.QueuedConnection)
        self._finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)
        if (application := QCoreApplication.instance()) is not None:
            application.aboutToQuit.connect(self.shutdown)

    def load(self, node_id: NodeId, path: Path) -> int:
        """Starts to load a model; returns the request id."""
        self.cancel_node(node_id)
        request = _ModelRequest(next(self._ids), node_id, Path(path))
        self._requests[request.id] = request
        self._pool.start(lambda: self._work(request))
        return request.id

    def cancel(self, request_id: int) -> None:
        """Cancels a request; does nothing if it has ended."""
        request = self._requests.pop(request_id, None)
        if request is None:
            return
        request.stopped.set()
        self.cancelled.emit(request_id)

    def cancel_node(self, node_id: NodeId) -> None:
        for request in list(self._requests.values()):
            if request.node_id == node_id:
                self.cancel(request.id)

    @property
    def busy(self) -> bool:
        return bool(self._requests)

    def shutdown(self) -> None:
        """Cancels all requests and waits for the workers; call this before the application ends."""
        self._pool.clear()  # before a worker that notices its end takes the next request
        for request_id in list(self._requests):
            self.cancel(request_id)
        self._pool.waitForDone()

    def _work(self, request: _ModelRequest) -> None:
        """Loads a model; every outcome is a value, because an exception would end in the thread pool."""
        try:
            self._finished.emit(request, self._loaded(request))
        except LoadCancelled:
            _log.debug("loading %s was cancelled", printable(str(request.path)))
        except ModelError as error:
            self._finished.emit(request, str(error))
        except Exception as error:  # a defect must not leave the request hanging
            _log.exception("loading %s failed", printable(str(request.path)))
            self._finished.emit(
                request, printable(" ".join(f"{request.path}: {type(error).__name__}: {error}".split()))
            )

    def _loaded(self, request: _ModelRequest) -> LoadedModel:
        report = _Progress(lambda fraction: self._advanced.emit(request, fraction))
        request.stop_here()
        stopped, digest = request.stopped.is_set, file_digest(request.path)
        model = self._load(request.path, progress=lambda done: report(done * _MODEL_SHARE), cancelled=stopped)
        images: dict[ImageSource, MipImage] = {}
        try:
            warnings = load_textures(
                model,
                self._budget,
                images,
                progress=lambda done: report(_MODEL_SHARE + (1.0 - _MODEL_SHARE) * done),
                pause=request.stop_here,
            )
            loaded = LoadedModel(model, images, prepare_model(model), (*model.warnings, *warnings), digest)
        except BaseException:
            self._budget.give_back(pixel_count(images.values()))
            raise
        weakref.finalize(loaded, self._budget.give_back, pixel_count(images.values())).atexit = False
        report(1.0)
        return loaded

    def _on_advanced(self, request: _ModelRequest, fraction: float) -> None:
        if request.id in self._requests:
            self.progress.emit(request.id, fraction)

    def _on_finished(self, request: _ModelRequest, outcome: LoadedModel | str) -> None:
        if self._requests.pop(request.id, None) is None:
            return
        if isinstance(outcome, LoadedModel):
            self.loaded.emit(request.id, outcome)
        else:
            self.failed.emit(request.id, outcome)


class _Progress:
    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._last, self._due = 0.0, time.monotonic()

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if (fraction > self._last and now >= self._due) or fraction >= 1.0 > self._last:
            self._last, self._due = fraction, now + _PROGRESS_PAUSE
            self._report(fraction)
