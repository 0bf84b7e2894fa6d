"""Meshes and images that cloths and emitters of the scene name: read off the GUI thread, kept while they are named."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.background import run_in_background
from app.document.document import Document
from app.files.model_store import ModelStore
from sim.assets.images import ImageBudget, ImageError, UInt8, load_image
from sim.assets.load import load_model
from sim.assets.mesh import upright_mesh
from sim.assets.model import Mesh
from sim.assets.raw import ModelError
from sim.kinds.cloth.settings import ClothSettings, ClothSource
from sim.kinds.emitter.emission import SURFACE_SOURCES
from sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sim.scene.change import Change, ChangeKind
from sim.scene.scene import Scene

K = TypeVar("K", str, Path)
V = TypeVar("V")
_log = logging.getLogger(__name__)


class SceneFiles(QObject):
    """Follows the cloths and emitters of the document; keeps what the scene names.

    Args:
        document: The scene.
        store: Models that are loaded already are not read again.

    Signals:
        changed: A file arrived, failed or is no longer needed.
        failed: A file and one line why it could not be read, or not as large as it is.

    Attributes:
        meshes: Meshes by the path that a cloth names.
        images: Pixels by the path that a cloth or an emitter names.
    """

    changed = Signal()
    failed = Signal(str, str)

    def __init__(self, document: Document, store: ModelStore) -> None:
        super().__init__()
        self._document, self._store = document, store
        self.meshes: dict[str, Mesh] = {}
        self.images: dict[Path, UInt8] = {}
        self._reading: set[str | Path] = set()
        self._failures: dict[str | Path, str] = {}
        self._budget = ImageBudget()
        document.changed.connect(self._on_changed)

    def note_of(self, settings: ClothSettings) -> str:
        """One line about a cloth that has no shape yet; "" where nothing is missing."""
        path = settings.mesh_path
        if settings.source is not ClothSource.MESH or path in self.meshes:
            return ""
        return self._failures.get(path, f"Reading {path}" if path else "Choose the file that becomes cloth.")

    def section_names(self, path: str) -> tuple[str, ...]:
        """Names of the sections of a mesh file; empty for one that is not read."""
        mesh = self.meshes.get(path)
        return tuple(section.name for section in mesh.sections) if mesh else ()

    def sync(self) -> None:
        """Reads what the scene names, and forgets what it no longer names."""
        meshes, images = named_files(self._document.scene)
        for path in meshes - self.meshes.keys():
            model = self._store.model_at(path)
            if model is not None:
                self.meshes[path] = upright_mesh(model)
        self._follow(self.meshes, meshes, _read_mesh)
        self._follow(self.images, images, self._read_image)
        self._failures = {path: text for path, text in self._failures.items() if path in meshes or path in images}
        self.changed.emit()

    def _follow(self, kept: dict[K, V], wanted: set[K], read: Callable[[K], V | str]) -> None:
        for path in kept.keys() - wanted:
            gone = kept.pop(path)
            if isinstance(gone, np.ndarray):
                self._budget.give(gone.shape[0] * gone.shape[1])
        for path in wanted - kept.keys() - self._reading - self._failures.keys():
            self._reading.add(path)
            run_in_background(lambda path=path: read(path), lambda result, path=path: self._arrived(kept, path, result))

    def _arrived(self, kept: dict[K, V], path: K, result: V | str) -> None:
        self._reading.discard(path)
        if isinstance(result, str):
            self._failures[path] = result
            self.failed.emit(str(path), f"{result}{_consequence(self._document.scene, path)}")
        else:
            kept[path] = result
        for note in self._budget.take_notes():
            self.failed.emit(str(path), note)
        # Meanwhile the scene may name another file.
        self.sync()

    def _read_image(self, path: Path) -> UInt8 | str:
        """Runs on a worker thread."""
        try:
            return load_image(path, self._budget)
        except ImageError as error:
            return str(error)

    def _on_changed(self, change: Change) -> None:
        is_value = change.kind is ChangeKind.VALUE and change.ref is not None
        if not is_value or (change.ref and change.ref.name in _NAMING):
            self.sync()


def named_files(scene: Scene) -> tuple[set[str], set[Path]]:
    """Mesh files and images that a scene needs now."""
    cloths = [node.settings for node in scene.of_kind("cloth") if node.kind == "cloth"]
    meshes = {cloth.mesh_path for cloth in cloths if cloth.source is ClothSource.MESH and cloth.mesh_path}
    images = {cloth.texture for cloth in cloths if cloth.texture}
    emitters = [node.settings for node in scene.of_kind("emitter") if node.kind == "emitter"]
    images |= {emitter.texture for emitter in emitters if emitter.look is ParticleLook.TEXTURED and emitter.texture}
    images |= {emitter.density_texture for emitter in emitters if _has_density(emitter)}
    return meshes, {Path(image) for image in images}


_NAMING = frozenset({"mesh_path", "texture", "source", "look", "density_texture"})
"""Settings on which it depends what is named."""


def _has_density(emitter: EmitterSettings) -> bool:
    return emitter.source in SURFACE_SOURCES and bool(emitter.density_texture)


def _consequence(scene: Scene, path: str | Path) -> str:
    """What a file that cannot be read means for the emitters that name it, as the end of a line."""
    nodes = [(node.name, node.settings) for node in scene.of_kind("emitter") if node.kind == "emitter"]
    drawn = [name for name, emitter in nodes if emitter.texture and Path(emitter.texture) == path]
    spread = [name for name, emitter in nodes if _has_density(emitter) and Path(emitter.density_texture) == path]
    parts = [f"the particles of {', '.join(drawn)} are round spots instead"] if drawn else []
    parts += [f"the surface emits everywhere for {', '.join(spread)}"] if spread else []
    return "".join(f"; {part}" for part in parts)


def _read_mesh(path: str) -> Mesh | str:
    """The mesh, or one line why there is none; runs on a worker thread, where exceptions would end unseen."""
    try:
        return upright_mesh(load_model(path))
    except ModelError as error:
        return str(error)
    except Exception as error:
        _log.exception("reading %s failed", path)
        return f"{path}: {type(error).__name__}: {error}".replace("\n", " ")
