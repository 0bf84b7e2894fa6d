"""State of the model of every node: loading, ready, missing or failed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_loader import ModelLoader
from sinew.app.project.access import WITHHELD, FileAccess
from sinew.app.tasks import run_in_background
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.characters.weights import SkinWeights, weighted
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.scene import NodeId
from sinew.widgets.protocols import ModelState, ModelStatus

# Models of removed nodes, and with weights of before, that are kept for undo.
SPARE_COUNT = 4

_SHOWN = (ModelState.LOADING, ModelState.UPLOADING, ModelState.READY)

CANCELLED = "loading was cancelled; reload the model to try again"


@dataclass(frozen=True, slots=True, eq=False)
class _Weighted:
    """A file with changed weights."""

    read: LoadedModel
    stored: tuple[SkinWeights, ...]
    made: LoadedModel
    fault: str  # One line why the weights are not used, or ""


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
        self._weighted: dict[NodeId, _Weighted] = {}
        self._known: list[_Weighted] = []
        self._wanted: dict[NodeId, tuple[LoadedModel, tuple[SkinWeights, ...]]] = {}
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
        return None if self._awaits_motions(node_id) else self._file(node_id)

    def set_animated(self, node_id: NodeId, animated: CharacterModel | None) -> None:
        """Sets the model with the clips of its motions; None for a node without motions."""
        self._animated.pop(node_id, None)
        if animated is not None:
            self._animated[node_id] = animated
        status, loaded = self._statuses.get(node_id), self._file(node_id)
        if status is None or loaded is None or status.state not in _SHOWN:
            return
        model = self._model_of(node_id)
        if status.model is not model:
            state = ModelState.UPLOADING if status.model is None else status.state
            self._set(node_id, ModelStatus(state, model, status.text))

    def _awaits_motions(self, node_id: NodeId) -> bool:
        """Returns True if the model was read and its motions were not."""
        settings = self._document.scene.by_id[node_id].settings if self._document.scene.has(node_id) else None
        is_read = self._file(node_id) is not None
        has_motions = isinstance(settings, ModelSettings) and bool(settings.motions)
        status = self._statuses.get(node_id)
        is_shown = status is not None and status.model is not None
        return is_read and has_motions and not is_shown and node_id not in self._animated

    def _show(self, node_id: NodeId, path: str) -> None:
        """Shows a model that was read, once its weights were applied and its motions read too."""
        self._apply_weights(node_id)
        if self._file(node_id) is None or self._awaits_motions(node_id):
            self._set(node_id, ModelStatus(ModelState.LOADING, text=path, progress=1.0))
        else:
            self._set(node_id, ModelStatus(ModelState.UPLOADING, self._model_of(node_id), path))

    def _model_of(self, node_id: NodeId) -> CharacterModel:
        """Returns the model of a node that was read, with the clips of its motions."""
        file, animated = self._file(node_id), self._animated.get(node_id)
        assert file is not None
        is_same = animated is not None and animated.mesh is file.model.mesh and animated.skin is file.model.skin
        return animated if animated is not None and is_same else file.model

    def file_model(self, node_id: NodeId) -> CharacterModel | None:
        """Returns the model of a node with its weights, without motions; None until it was read."""
        file = self._file(node_id)
        return file.model if file is not None else None

    def weight_fault(self, node_id: NodeId) -> str:
        """Returns one line why the changed weights of a node are not used, or ""."""
        known = self._weighted.get(node_id)
        return known.fault if known is not None and known.stored == self._weights(node_id) else ""

    def _weights(self, node_id: NodeId) -> tuple[SkinWeights, ...]:
        settings = self._document.scene.by_id[node_id].settings if self._document.scene.has(node_id) else None
        return settings.weights if isinstance(settings, ModelSettings) else ()

    def _file(self, node_id: NodeId) -> LoadedModel | None:
        """Returns the file of a node with the weights that were applied last; None until it was read."""
        read, known = self._cache.get(self._paths.get(node_id, "")), self._weighted.get(node_id)
        if not self._weights(node_id):
            return read
        return known.made if known is not None and known.read is read else None

    def _apply_weights(self, node_id: NodeId) -> None:
        stored, read = self._weights(node_id), self._cache.get(self._paths.get(node_id, ""))
        if not stored or read is None:
            return
        current = self._weighted.get(node_id)
        if current is not None and current.read is read and current.stored == stored:
            return
        wanted = self._wanted.get(node_id)
        if wanted is not None and wanted[0] is read and wanted[1] == stored:
            return
        for known in self._known:
            if known.read is read and known.stored == stored:
                self._weighted[node_id] = known
                return

        def arrived(found: _Weighted) -> None:
            if self._wanted.get(node_id) == (read, stored):
                del self._wanted[node_id]
            if self._cache.get(self._paths.get(node_id, "")) is not read or self._weights(node_id) != stored:
                return
            self._known = [found, *self._known][:SPARE_COUNT]
            self._weighted[node_id] = found
            if found.fault:
                self.warned.emit(self._paths[node_id], f"{self._document.scene.node(node_id).name}: {found.fault}")
            self._show(node_id, self._paths[node_id])

        self._wanted[node_id] = read, stored
        run_in_background(lambda: _with_weights(read, stored), arrived, self)

    def model_at(self, path: str) -> CharacterModel | None:
        loaded = self._cache.get(path)
        return loaded.model if loaded else None

    @property
    def loading(self) -> tuple[NodeId, ...]:
        return (*self._requests.values(), *self._wanted, *filter(self._awaits_motions, self._paths))

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
        self._weighted.pop(node_id, None)
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
        for node_id, status in list(self._statuses.items()):
            if status.state in _SHOWN and self._is_outdated(node_id):
                self._show(node_id, self._paths[node_id])

    def _is_outdated(self, node_id: NodeId) -> bool:
        """Returns True if a model that was read is shown with weights that its node no longer has."""
        read, stored, known = self._cache.get(self._paths[node_id]), self._weights(node_id), self._weighted.get(node_id)
        if read is None or (known is None and not stored):
            return False
        if not stored:
            del self._weighted[node_id]
            return True
        return known is None or known.read is not read or known.stored != stored

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


def _with_weights(read: LoadedModel, stored: tuple[SkinWeights, ...]) -> _Weighted:
    model, fault = weighted(read.model, stored)
    made = read if model is read.model else replace(read, model=model, prepared=prepare_model(model))
    return _Weighted(read, stored, made, fault)
