"""State of the model of every node: loading, ready, missing or failed."""

import os
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_loader import ModelLoader
from sinew.app.project.access import WITHHELD, FileAccess
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.scene import NodeId
from sinew.widgets.protocols import ModelState, ModelStatus

# Models of removed nodes that are kept for undo.
SPARE_COUNT = 4

_SHOWN = (ModelState.LOADING, ModelState.UPLOADING, ModelState.READY)

CANCELLED = "loading was cancelled; reload the model to try again"


class ModelStore(QObject):
    """Loaded files of the model nodes of the document."""

    changed = Signal(str)  # A node whose model made progress, was loaded, failed or was removed
    warned = Signal(str, str)  # A file (or "") and one warning for the user
    failed = Signal(str, str)  # A file and one line why it could not be loaded

    def __init__(self, document: Document, loader: ModelLoader, access: FileAccess) -> None:
        super().__init__()
        self._document, self._loader, self._access = document, loader, access
        self._cache: dict[str, LoadedModel] = {}
        self._statuses: dict[NodeId, ModelStatus] = {}
        self._paths: dict[NodeId, str] = {}
        self._requests: dict[int, NodeId] = {}
        self._animated: dict[NodeId, CharacterModel] = {}
        document.changed.connect(self._on_changed)
        access.allowed.connect(self._read_withheld)
        loader.progress.connect(self._on_progress)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_failed)
        loader.cancelled.connect(self._on_cancelled)

    def status(self, node_id: NodeId) -> ModelStatus | None:
        """Returns the state of the model of a node; None for nodes without a model."""
        return self._statuses.get(node_id)

    def loaded(self, node_id: NodeId) -> LoadedModel | None:
        """Returns the model of a node; None while it is loading or waits for its motions."""
        return None if self._awaits_motions(node_id) else self._cache.get(self._paths.get(node_id, ""))

    def set_animated(self, node_id: NodeId, animated: CharacterModel | None) -> None:
        """Sets the model with the clips of its motions; None for a node without motions."""
        self._animated.pop(node_id, None)
        if animated is not None:
            self._animated[node_id] = animated
        status, loaded = self._statuses.get(node_id), self._cache.get(self._paths.get(node_id, ""))
        if status is None or loaded is None or status.state not in _SHOWN:
            return
        model = self._model_of(node_id)
        if status.model is not model:
            state = ModelState.UPLOADING if status.model is None else status.state
            self._set(node_id, ModelStatus(state, model, status.text))

    def _awaits_motions(self, node_id: NodeId) -> bool:
        """Returns True if the model was read and its motions were not."""
        settings = self._document.scene.by_id[node_id].settings if self._document.scene.has(node_id) else None
        is_read = self._paths.get(node_id) in self._cache
        has_motions = isinstance(settings, ModelSettings) and bool(settings.motions)
        status = self._statuses.get(node_id)
        is_shown = status is not None and status.model is not None
        return is_read and has_motions and not is_shown and node_id not in self._animated

    def _show(self, node_id: NodeId, path: str) -> None:
        """Shows a model that was read, once its motions were read too."""
        if self._awaits_motions(node_id):
            self._set(node_id, ModelStatus(ModelState.LOADING, text=path, progress=1.0))
        else:
            self._set(node_id, ModelStatus(ModelState.UPLOADING, self._model_of(node_id), path))

    def _model_of(self, node_id: NodeId) -> CharacterModel:
        """Returns the model of a node that was read, with the clips of its motions."""
        model, animated = self._cache[self._paths[node_id]].model, self._animated.get(node_id)
        return animated if animated is not None and animated.mesh is model.mesh else model

    def model_at(self, path: str) -> CharacterModel | None:
        loaded = self._cache.get(path)
        return loaded.model if loaded else None

    @property
    def loading(self) -> tuple[NodeId, ...]:
        return (*self._requests.values(), *filter(self._awaits_motions, self._paths))

    @property
    def uploading(self) -> tuple[NodeId, ...]:
        """Nodes whose model was read and is not drawn yet."""
        return tuple(node_id for node_id, status in self._statuses.items() if status.state is ModelState.UPLOADING)

    def mark_ready(self, node_id: NodeId) -> None:
        status, loaded = self._statuses.get(node_id), self.loaded(node_id)
        if status is not None and status.state is not ModelState.READY and loaded is not None:
            self._set(node_id, ModelStatus(ModelState.READY, self._model_of(node_id)))

    def mark_failed(self, node_id: NodeId, text: str) -> None:
        """Marks a model that was loaded but cannot be drawn; `text` is one line."""
        if node_id in self._statuses:
            self._set(node_id, ModelStatus(ModelState.FAILED, text=text))

    def adopt(self, path: Path, loaded: LoadedModel) -> None:
        """Keeps a model that was loaded before its node exists, as by an import."""
        self._cache[str(path)] = loaded
        self._report(str(path), loaded)

    @property
    def known(self) -> Mapping[Path, str]:
        """Files of the models of the scene with their digests; "" for images and other files next to a model."""
        shown = {path: self._cache[path] for path in self._paths.values() if path in self._cache}
        others = {path: "" for loaded in shown.values() for path in loaded.other_files}
        return others | {Path(path): loaded.digest for path, loaded in shown.items()}

    def reload(self, node_id: NodeId) -> None:
        """Reads a model again; the old model stays until the new one is read, and if that fails."""
        path = self._paths.get(node_id, "")
        if path in self._cache:
            self._requests[self._loader.load(node_id, Path(path))] = node_id
        else:
            self._paths.pop(node_id, None)
            self.sync()

    def reread(self, path: Path) -> None:
        """Reads again the models that consist of a file."""
        for name, node_id in {name: node_id for node_id, name in self._paths.items()}.items():
            loaded = self._cache.get(name)
            if loaded is not None and (Path(name) == path or path in loaded.other_files):
                self.reload(node_id)

    def cancel(self) -> None:
        """Cancels loading; models without an earlier version are marked as failed."""
        for request, node_id in list(self._requests.items()):
            self._loader.cancel(request)
            path = self._paths[node_id]
            if path not in self._cache:
                self._set(node_id, ModelStatus(ModelState.FAILED, text=f"{path}: {CANCELLED}"))
                self.warned.emit(path, CANCELLED)

    def sync(self) -> None:
        settings = {node.id: node.settings for node in self._document.scene.characters}
        for node_id in [node_id for node_id in self._paths if node_id not in settings]:
            self._forget(node_id)
        for node_id, own in settings.items():
            if isinstance(own, ModelSettings) and self._paths.get(node_id) != own.path:
                self._follow(node_id, own.path)
        self._drop_spares()

    def _follow(self, node_id: NodeId, path: str) -> None:
        self._paths[node_id] = path
        if path in self._cache:
            self._show(node_id, path)
        elif not self._access.allows(path):
            self._set(node_id, ModelStatus(ModelState.WITHHELD, text=f"{path}: {WITHHELD}"))
        elif not os.path.isfile(path):
            self._set(node_id, ModelStatus(ModelState.MISSING, text=f"{path}: no such file"))
            self.failed.emit(path, "the model file is missing; locate it from the outliner")
        else:
            self._set(node_id, ModelStatus(ModelState.LOADING, text=path, progress=0.0))
            self._requests[self._loader.load(node_id, Path(path))] = node_id

    def _read_withheld(self) -> None:
        for node_id, status in self._statuses.items():
            if status.state is ModelState.WITHHELD:
                self._paths.pop(node_id, None)
        self.sync()

    def _forget(self, node_id: NodeId) -> None:
        self._loader.cancel_node(node_id)
        self._paths.pop(node_id, None)
        self._statuses.pop(node_id, None)
        self._animated.pop(node_id, None)
        self.changed.emit(node_id)

    def _drop_spares(self) -> None:
        used = set(self._paths.values())
        spare = [path for path in self._cache if path not in used]
        for path in spare[: max(len(spare) - SPARE_COUNT, 0)]:
            del self._cache[path]

    def _set(self, node_id: NodeId, status: ModelStatus) -> None:
        self._statuses[node_id] = status
        self.changed.emit(node_id)

    def _on_changed(self, change: Change) -> None:
        is_path = change.ref is not None and change.ref.name == "path"
        if change.kind is not ChangeKind.VALUE or is_path:
            self.sync()

    def _on_progress(self, request: int, fraction: float) -> None:
        node_id = self._requests.get(request)
        if node_id is not None and (path := self._paths[node_id]) not in self._cache:
            self._set(node_id, ModelStatus(ModelState.LOADING, text=path, progress=fraction))

    def _on_loaded(self, request: int, loaded: LoadedModel) -> None:
        node_id = self._requests.pop(request, None)
        if node_id is None:
            return
        path = self._paths[node_id]
        self._cache[path] = loaded
        self._report(path, loaded)
        for shown in [other for other, name in self._paths.items() if name == path]:
            self._show(shown, path)

    def _on_failed(self, request: int, text: str) -> None:
        node_id = self._requests.pop(request, None)
        if node_id is not None:
            path = self._paths[node_id]
            if path not in self._cache:
                self._set(node_id, ModelStatus(ModelState.FAILED, text=text))
            self.failed.emit(path, text if path not in self._cache else f"{text}; what was read before stays")

    def _on_cancelled(self, request: int) -> None:
        self._requests.pop(request, None)

    def _report(self, path: str, loaded: LoadedModel) -> None:
        for warning in loaded.warnings:
            self.warned.emit(path, warning)
