"""Uploads models and textures and renders frames in short turns of the event loop; the window stays responsive."""

import math
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.viewport.renderer import ViewportRenderer
from sinew.app.viewport.second_engine import Key, Wanted
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.engine import Engine
from sinew.sim.gl.task import Task
from sinew.sim.kinds import KINDS
from sinew.sim.scene.scene import Node, NodeId
from sinew.widgets.protocols import ModelState
from sinew.widgets.viewport import Viewport

# Time budget of a turn [s]; a software renderer may take nine times as long for one step of an upload.
TURN = 0.01


class TaskLoop(QObject):
    """Uploads the models of the store and the textures of the scene; each is shown once it is complete.

    Signals:
        finished: Nothing is left to upload.
        failed: A file, and one line about why it cannot be shown.

    Attributes:
        uploading: Whether a model or a texture waits for upload.
    """

    finished = Signal()
    failed = Signal(str, str)

    def __init__(
        self,
        document: Document,
        store: ModelStore,
        files: SceneFiles,
        client: ViewportRenderer,
        viewport: Viewport,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._document, self._store, self._client, self._viewport = document, store, client, viewport
        self._files, self._clock = files, clock
        self.uploading = False
        self._engine: Engine | None = None
        self._failed: dict[Key, Wanted] = {}
        self._outcomes: dict[Key, str] = {}  # "" for success, else the error
        self._current: tuple[Key, Wanted, Task[None]] | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._turn)
        store.changed.connect(self.follow)
        files.changed.connect(self.follow)
        client.ready.connect(self.follow)
        client.painted.connect(self._wait)

    def follow(self) -> None:
        """Uploads what was loaded and removes what was unloaded, beginning now."""
        self.uploading = True
        self._wait()

    def _wait(self) -> None:
        delay = 0.0 if self.uploading else self._client.delay
        if delay is None:
            self._timer.stop()
        else:
            self._timer.start(math.ceil(delay * 1000.0))

    def _turn(self) -> None:
        engine = self._client.engine
        if engine is None:
            self._current, self._engine, self.uploading = None, None, False
            return
        with self._viewport.gl_current():
            changed = self.uploading and self._upload(engine)
            is_made = self._client.gl_turn()
        if changed:
            self._viewport.update()
        elif is_made:
            self._viewport.show_pending()
        self._report()
        if self.uploading and self._current is None:
            self.uploading = False
            self.finished.emit()
        self._wait()

    # --- models ---------------------------------------------------------------------------------------

    def _upload(self, engine: Engine) -> bool:
        """Uploads for a while; returns whether the frame changes."""
        self._client.prepare()
        with engine.context.timers.scope("upload"):
            changed = self._advance(engine)
        if changed:
            engine.pictures.hurry()
        return changed

    def _report(self) -> None:
        """Reports what became of models, outside the context."""
        outcomes, self._outcomes = self._outcomes, {}
        for key, text in outcomes.items():
            if isinstance(key, Path):
                self.failed.emit(str(key), text)
            elif text:
                self._store.mark_failed(key, text)
                self.failed.emit(self._path(key), text)
            else:
                self._store.mark_ready(key)

    def _advance(self, engine: Engine) -> bool:
        """Uploads for one turn; returns whether the frame changes."""
        if engine is not self._engine:
            self._engine, self._current = engine, None
            self._failed.clear()
        end, changed = self._clock() + TURN, self._remove(engine)
        self._choose(engine)
        while self._current is not None:
            key, wanted, steps = self._current
            try:
                next(steps)
            except StopIteration:
                self._current, changed = None, True
            except Exception as error:
                self._current, self._failed[key] = None, wanted
                self._outcomes[key] = str(error)
            self._choose(engine)
            if self._clock() >= end:
                break
        return changed

    def _remove(self, engine: Engine) -> bool:
        """Removes models that are no longer in the scene; one that is being reloaded stays until then."""
        shown = [node.id for node in self._characters() if engine.model_of(node.id) is not None]
        gone = [node_id for node_id in shown if self._wanted(node_id) is None and not self._is_read(node_id)]
        for node_id in gone:
            engine.remove_model(node_id)
        return bool(gone)

    def _choose(self, engine: Engine) -> None:
        """Continues the current upload, or starts the next model, or the next texture."""
        if self._current is not None and self._wanted(self._current[0]) is not self._current[1]:
            self._current = None
        if self._current is None:
            for node in self._characters():
                loaded = self._model(node.id)
                if loaded is None or loaded is self._failed.get(node.id):
                    continue
                if engine.model_of(node.id) is loaded.model:
                    self._outcomes[node.id] = ""
                else:
                    steps = engine.model_upload(node.id, loaded.prepared, loaded.images, warmed_up=True)
                    self._current = (node.id, loaded, steps)
                    return
            for path, image in self._files.assets.textures.items():
                if image is not self._failed.get(path) and not engine.textures.has(path, image):
                    self._current = (path, image, engine.textures.upload(path, image))
                    return

    def _characters(self) -> list[Node]:
        return [node for node in self._document.scene.nodes if node.settings.is_character]

    def _wanted(self, key: Key) -> Wanted | None:
        if isinstance(key, Path):
            return self._files.assets.textures.get(key)
        return self._model(key)

    def _model(self, node_id: NodeId) -> LoadedModel | None:
        return self._store.loaded(node_id) if self._document.scene.has(node_id) else None

    def _is_read(self, node_id: NodeId) -> bool:
        status = self._store.status(node_id)
        return status is not None and status.state is ModelState.LOADING

    def _path(self, node_id: NodeId) -> str:
        node = self._document.scene.node(node_id)
        return next((use.path for use in KINDS[node.kind].files(node.settings) if use.content == "character"), "")
