"""Meshes, images and strands that settings of nodes name: read off the GUI thread, kept while they are named."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PySide6.QtCore import QObject, Signal

from sinew.app.background import run_in_background
from sinew.app.document.document import Document
from sinew.app.files.access import WITHHELD, FileAccess
from sinew.app.files.model_store import ModelStore
from sinew.sim.assets.images import ImageBudget, ImageError, MipImage, load_image, mip_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Mesh, upright_mesh
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.strands import StrandSet, load_strands
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import FileUse
from sinew.sim.maths.arrays import UInt8
from sinew.sim.printable import printable
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import NodeId, Scene

K = TypeVar("K", str, Path)
V = TypeVar("V")
_log = logging.getLogger(__name__)


class SceneFiles(QObject):
    """Follows the nodes of the document and keeps the files that they name.

    Args:
        store: Models that are loaded already are not read again.
        access: Blocks files that may not be read.
        budget: Limit of all images together.

    Signals:
        changed: A file was read, failed or is no longer needed.
        failed: A file and one line why it could not be read, or was reduced.
        progress: A strand file that is being read and the finished fraction; "" when idle.

    Attributes:
        meshes: Meshes by path.
        images: Pixels by path.
        textures: Pixels with mip levels by path.
        strands: Strands by path.
    """

    changed = Signal()
    failed = Signal(str, str)
    progress = Signal(str, float)

    def __init__(self, document: Document, store: ModelStore, access: FileAccess, budget: ImageBudget) -> None:
        super().__init__()
        self._document, self._store, self._access = document, store, access
        self.meshes: dict[str, Mesh] = {}
        self.images: dict[Path, UInt8] = {}
        self.textures: dict[Path, MipImage] = {}
        self.strands: dict[Path, StrandSet] = {}
        self._uses: dict[NodeId, tuple[FileUse, ...]] = {}
        self._cached: tuple[dict[Any, Any], ...] = (self.meshes, self.images, self.textures, self.strands)
        self._reading: set[str | Path] = set()
        self._outdated: set[str | Path] = set()
        self._failures: dict[str | Path, str] = {}
        self._shows_progress = False
        self._budget = budget
        document.changed.connect(self._on_changed)
        access.allowed.connect(self.sync)

    @property
    def is_reading(self) -> bool:
        return bool(self._reading)

    def note_of(self, settings: Settings) -> str:
        """One line about a mesh or strand file that settings need and that is missing, or ""."""
        there = {"mesh": self.meshes, "strands": self.strands}
        needed = [use for use in uses_of(settings) if use.content in there and use.is_needed and use.path]
        missing = (use.path for use in needed if _key(use) not in there[use.content])
        path = next(missing, "")
        return (self.fault_of(path) or f"Reading {path}") if path else ""

    def fault_of(self, path: str) -> str:
        """One line why a file is missing; "" if it was read or is being read."""
        if not self._access.allows(path):
            return f"{path} {WITHHELD}"
        return self._failures.get(path) or self._failures.get(Path(path)) or ""

    def section_names(self, path: str) -> tuple[str, ...]:
        """Names of the sections of a mesh file; empty if it was not read."""
        mesh = self.meshes.get(path)
        return tuple(section.name for section in mesh.sections) if mesh else ()

    def sync(self) -> None:
        """Reads files that the scene names and drops others."""
        self._uses = {node.id: uses_of(node.settings) for node in self._document.scene.nodes}
        uses = [use for found in self._uses.values() for use in found if use.path and self._access.allows(use.path)]
        meshes = {use.path for use in uses if use.content == "mesh"}
        images = {Path(use.path) for use in uses if use.content == "image"}
        textures = {Path(use.path) for use in uses if use.content == "texture"}
        strands = {Path(use.path) for use in uses if use.content == "strands"}
        for path in meshes - self.meshes.keys():
            model = self._store.model_at(path)
            if model is not None:
                self.meshes[path] = upright_mesh(model)
        self._follow(self.meshes, meshes, _read_mesh)
        self._follow(self.images, images, self._read_image)
        self._follow(self.textures, textures, self._read_texture)
        self._follow(self.strands, strands, _read_strands)
        named = meshes | images | textures | strands
        self._failures = {path: text for path, text in self._failures.items() if path in named}
        reading = sorted(map(str, strands & self._reading))
        if reading or self._shows_progress:
            self.progress.emit(reading[0] if reading else "", 0.0 if reading else 1.0)
        self._shows_progress = bool(reading)
        self.changed.emit()

    def cancel(self) -> None:
        """Cancels reading strands; naming them again reads them again."""
        for use in (use for found in self._uses.values() for use in found if use.content == "strands"):
            path = Path(use.path)
            if path in self._reading and path not in self._failures:
                self._failures[path] = f"{path}: reading was cancelled"
                self._reading.discard(path)
                self.failed.emit(str(path), self._failures[path])
        self.sync()

    @property
    def known(self) -> Mapping[Path, str]:
        return {Path(path): "" for cached in self._cached for path in cached}

    def reread(self, path: Path) -> None:
        """Reads a changed file again; the old content stays until then."""
        self._outdated.update(key for cached in self._cached for key in cached if Path(key) == path)
        self.retry(str(path))

    def retry(self, path: str) -> None:
        """Reads a file again that could not be read."""
        for key in (path, Path(path)):
            self._failures.pop(key, None)
        self.sync()

    def _follow(self, cached: dict[K, V], named: set[K], read: Callable[[K], V | str]) -> None:
        for path in cached.keys() - named:
            self._drop(cached.pop(path))
        for path in named - (cached.keys() - self._outdated) - self._reading - self._failures.keys():
            self._reading.add(path)
            self._outdated.discard(path)
            run_in_background(
                lambda path=path: read(path), lambda result, path=path: self._arrived(cached, path, result), self
            )

    def _drop(self, content: object) -> None:
        pixels = content.pixels if isinstance(content, MipImage) else content
        if isinstance(pixels, np.ndarray):
            self._budget.give_back(pixels.shape[0] * pixels.shape[1])

    def _arrived(self, cached: dict[K, V], path: K, result: V | str) -> None:
        if path not in self._reading:  # it was cancelled
            return
        self._reading.discard(path)
        if isinstance(result, str):
            self._failures[path] = result
            self.failed.emit(str(path), f"{result}{_consequence(self._document.scene, path)}")
        else:
            self._drop(cached.get(path))
            cached[path] = result
        for note in self._budget.take_notes():
            self.failed.emit(str(path), note)
        # The scene may name another file by now.
        self.sync()

    def _read_image(self, path: Path) -> UInt8 | str:
        """Runs on a worker thread."""
        try:
            return load_image(path, self._budget)
        except ImageError as error:
            return str(error)

    def _read_texture(self, path: Path) -> MipImage | str:
        image = self._read_image(path)
        return image if isinstance(image, str) else mip_image(image)

    def _on_changed(self, change: Change) -> None:
        node = self._document.scene.by_id.get(change.ref.owner) if change.ref is not None else None
        if change.kind is not ChangeKind.VALUE or (node and uses_of(node.settings) != self._uses.get(node.id)):
            self.sync()


def uses_of(settings: Settings) -> tuple[FileUse, ...]:
    return KINDS[settings.kind].files(settings)


def _key(use: FileUse) -> str | Path:
    return use.path if use.content == "mesh" else Path(use.path)


def _consequence(scene: Scene, path: str | Path) -> str:
    """Effect of a missing file on the nodes that name it, as the end of a line."""
    names: dict[str, list[str]] = {}
    for node in scene.nodes:
        for use in uses_of(node.settings):
            if use.without and Path(use.path) == Path(path):
                names.setdefault(use.without, []).append(node.name)
    return "".join(f"; {text.format(names=', '.join(found))}" for text, found in names.items())


def _read_mesh(path: str) -> Mesh | str:
    return _read(path, lambda: upright_mesh(load_model(path)))


def _read_strands(path: Path) -> StrandSet | str:
    return _read(path, lambda: load_strands(path))


def _read(path: str | Path, read: Callable[[], V]) -> V | str:
    """The result, or one line why it failed; runs on a worker thread, where exceptions would be lost."""
    try:
        return read()
    except ModelError as error:
        return str(error)
    except Exception as error:
        _log.exception("reading %s failed", printable(str(path)))
        return printable(" ".join(f"{path}: {type(error).__name__}: {error}".split()))
