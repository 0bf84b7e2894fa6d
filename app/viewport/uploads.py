"""Uploads of models and textures: in small steps, each content shown once it is complete."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.second_engine import Content, Key, missing_uploads
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskQueue
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.gl.task import Delay
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Files
from sinew.sim.render.pass_context import DONE
from sinew.sim.run.engine import Engine
from sinew.sim.scene.scene import NodeId
from sinew.widgets.protocols import ModelState
from sinew.widgets.viewport import Viewport


class Uploads(QObject):
    finished = Signal()  # Nothing is left to upload
    failed = Signal(str, str)  # A file, and one line about why it cannot be shown

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        store: ModelStore,
        files: SceneFiles,
        client: ViewportRenderer,
        viewport: Viewport,
    ) -> None:
        super().__init__()
        self._tasks, self._document, self._store, self._files = tasks, document, store, files
        self._client, self._viewport = client, viewport
        self.uploading = False
        self._task = TaskHandle()
        self._failed: dict[Key, Content] = {}
        self._errors: dict[Key, str] = {}
        store.changed.connect(self.follow)
        files.changed.connect(self.follow)
        client.ready.connect(self._start_anew)

    def follow(self) -> None:
        """Uploads loaded contents and removes unloaded ones, with the next turn of the event loop."""
        engine = self._client.engine
        self.uploading = engine is not None
        if engine is not None and not self._task.busy:
            self._task = self._tasks.add(self._upload(engine), Priority.UPLOAD, on_done=lambda _: self._finish())

    def _start_anew(self) -> None:
        self._failed.clear()
        self.follow()

    def _finish(self) -> None:
        self.uploading = False
        self.finished.emit()

    def _upload(self, engine: Engine) -> QueueTask[None]:
        while True:
            self._client.prepare()
            self._remove(engine)
            scene, textures = self._document.scene, self._files.assets.textures
            missing = missing_uploads(engine, scene, self._model, textures, self._failed, is_shown=True)
            found = next(missing, None)
            self._report(engine)
            if found is None:
                return
            yield Delay(0.0)  # receivers of the signals may have made another context current
            yield from self._upload_one(engine, *found)

    def _upload_one(self, engine: Engine, key: Key, content: Content, task: QueueTask[None]) -> QueueTask[None]:
        """Uploads a content; ends early if it is replaced or removed."""
        try:
            while self._wanted(key) is content:
                with engine.context.timers.scope("upload"):
                    is_done = next(task, DONE) is DONE
                if is_done:
                    engine.pictures.hurry()
                    self._viewport.update()
                    return
                yield None
        except Exception as error:
            self._failed[key], self._errors[key] = content, str(error)

    def _remove(self, engine: Engine) -> None:
        """Removes unloaded contents; a model that is being reloaded stays until the new one is read."""
        for node in self._document.scene.nodes:
            status, is_shown = self._store.status(node.id), engine.model_of(node.id) is not None
            is_read = status is not None and status.state is ModelState.LOADING
            if is_shown and not is_read and self._model(node.id) is None:
                engine.remove_model(node.id)
                engine.pictures.hurry()
                self._viewport.update()

    def _report(self, engine: Engine) -> None:
        errors, self._errors = self._errors, {}
        for key, text in errors.items():
            if isinstance(key, Path):
                self.failed.emit(str(key), text)
            else:
                self._store.mark_failed(key, text)
                self.failed.emit(self._path(key), text)
        for node in self._document.scene.characters:
            loaded = self._model(node.id)
            if loaded is not None and engine.model_of(node.id) is loaded.model:
                self._store.mark_ready(node.id)

    def _wanted(self, key: Key) -> Content | None:
        return self._files.assets.textures.get(key) if isinstance(key, Path) else self._model(key)

    def _model(self, node_id: NodeId) -> LoadedModel | None:
        return self._store.loaded(node_id) if self._document.scene.has(node_id) else None

    def _path(self, node_id: NodeId) -> str:
        node = self._document.scene.node(node_id)
        uses = KINDS[node.kind].part(Files).used(node.settings)
        return next((use.path for use in uses if use.content == "character"), "")
