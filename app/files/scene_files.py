"""Meshes, images and strands of settings, read off the GUI thread and cached while they are named."""

import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.project.access import WITHHELD, FileAccess
from sinew.app.project.digest import file_digest
from sinew.app.tasks import run_in_background
from sinew.sim.assets.images import ImageBudget, ImageError, MipImage, pixel_count
from sinew.sim.assets.model import CharacterModel, upright_mesh
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.scene_assets import CONTENTS, Asset, SceneAssets, assets_from, load_asset
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Files, FileUse
from sinew.sim.printable import printable
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import NodeId, Scene

_log = logging.getLogger(__name__)

_SLOW = ("strands", "motion")
"""Contents whose reading is shown and can be cancelled."""

Key = tuple[str, Path]
"""Identity of a file: one of `CONTENTS`, and a path."""


class SceneFiles(QObject):
    """Files that the nodes of the document name, cached as long as they do.

    Args:
        store: Models that are loaded already are not read again.
        budget: Limit of all images together.

    Attributes:
        assets: All files that were read; another object whenever one changes.
    """

    changed = Signal()  # A file was read, failed or is no longer needed
    failed = Signal(str, str)  # A file and one line why it could not be read, or was reduced
    progress = Signal(str, float)  # A strand file that is being read and the finished fraction; "" when idle

    def __init__(self, document: Document, store: ModelStore, access: FileAccess, budget: ImageBudget) -> None:
        super().__init__()
        self._document, self._store, self._access = document, store, access
        self.assets = SceneAssets()
        self._uses: dict[NodeId, tuple[FileUse, ...]] = {}
        self._contents: dict[Key, Asset] = {}
        self._digests: dict[Key, str] = {}
        self._animated: dict[NodeId, CharacterModel] = {}
        self._reading: set[Key] = set()
        self._outdated: set[Key] = set()
        self._failures: dict[Key, str] = {}
        self._shows_progress = False
        self._budget = budget
        document.changed.connect(self._on_changed)
        access.allowed.connect(self.sync)

    @property
    def is_reading(self) -> bool:
        return bool(self._reading)

    def note_of(self, settings: Settings) -> str:
        """Returns one line about a mesh or strand file that settings need and that is missing, or ""."""
        needed = (use for use in uses_of(settings) if use.content in CONTENTS and use.is_needed and use.path)
        path = next((use.path for use in needed if (use.content, Path(use.path)) not in self._contents), "")
        return (self.fault_of(path) or f"Reading {path}") if path else ""

    def fault_of(self, path: str) -> str:
        """Returns one line why a file is missing; "" if it was read or is being read."""
        if not self._access.allows(path):
            return f"{path} {WITHHELD}"
        return next((text for (_, failed), text in self._failures.items() if failed == Path(path)), "")

    def has_settled(self, path: str) -> bool:
        """Returns True if a motion is among the assets or cannot be read."""
        is_there, has_failed = Path(path) in self.assets.motions, ("motion", Path(path)) in self._failures
        return is_there or has_failed or not path or not self._access.allows(path)

    def adopt(self, content: str, path: str, asset: Asset) -> None:
        """Keeps a file that was read before the scene names it, as the next edit must."""
        self._contents[content, Path(path)] = asset

    def set_animated(self, animated: Mapping[NodeId, CharacterModel]) -> None:
        """Sets the models with the clips of their motions."""
        before, self._animated = self._animated, dict(animated)
        if before.keys() != animated.keys() or any(before[node] is not model for node, model in animated.items()):
            self.sync()

    def section_names(self, path: str) -> tuple[str, ...]:
        """Returns the sections of a mesh file; empty if it was not read."""
        mesh = self.assets.meshes.get(Path(path))
        return tuple(section.name for section in mesh.sections) if mesh else ()

    def sync(self) -> None:
        self._uses = {node.id: uses_of(node.settings) for node in self._document.scene.nodes}
        named = {
            (use.content, Path(use.path))
            for uses in self._uses.values()
            for use in uses
            if use.content in CONTENTS and use.path and self._access.allows(use.path)
        }
        for key in self._contents.keys() - named:
            self._drop(self._contents.pop(key))
            self._digests.pop(key, None)
        self._failures = {key: text for key, text in self._failures.items() if key in named}
        for key in named - (self._contents.keys() - self._outdated) - self._reading - self._failures.keys():
            model = self._store.model_at(str(key[1])) if key not in self._outdated else None
            if model is not None and key[0] in ("mesh", "motion"):
                self._contents[key] = upright_mesh(model) if key[0] == "mesh" else model
            else:
                self._read(key)
        assets = assets_from(self._contents, self._animated)
        if not assets.is_same(self.assets):
            self.assets = assets
        reading = sorted(str(path) for content, path in named & self._reading if content in _SLOW)
        if reading or self._shows_progress:
            self.progress.emit(reading[0] if reading else "", 0.0 if reading else 1.0)
        self._shows_progress = bool(reading)
        self.changed.emit()

    def cancel(self) -> None:
        """Cancels reading strands and motions; naming them again reads them again."""
        for key in sorted(key for key in self._reading - self._failures.keys() if key[0] in _SLOW):
            self._failures[key] = f"{key[1]}: reading was cancelled"
            self._reading.discard(key)
            self.failed.emit(str(key[1]), self._failures[key])
        self.sync()

    @property
    def known(self) -> Mapping[Path, str]:
        return {key[1]: self._digests.get(key, "") for key in self._contents}

    def reread(self, path: Path) -> None:
        """Reads a changed file again; the old content stays until then."""
        self._outdated.update(key for key in self._contents if key[1] == path)
        self.retry(str(path))

    def retry(self, path: str) -> None:
        self._failures = {key: text for key, text in self._failures.items() if key[1] != Path(path)}
        self.sync()

    def _read(self, key: Key) -> None:
        self._reading.add(key)
        self._outdated.discard(key)
        run_in_background(lambda: _load(key, self._budget), lambda loaded: self._arrived(key, *loaded), self)

    def _drop(self, asset: Asset | None) -> None:
        if isinstance(asset, MipImage):
            self._budget.give_back(pixel_count([asset]))
        elif isinstance(asset, np.ndarray):
            self._budget.give_back(asset.shape[0] * asset.shape[1])

    def _arrived(self, key: Key, digest: str, result: Asset | str) -> None:
        if key not in self._reading:  # it was cancelled
            return
        self._reading.discard(key)
        if isinstance(result, str):
            self._failures[key] = result
            self.failed.emit(str(key[1]), f"{result}{_consequence(self._document.scene, key[1])}")
        else:
            self._drop(self._contents.get(key))
            self._contents[key], self._digests[key] = result, digest
        for note in self._budget.take_notes():
            self.failed.emit(str(key[1]), note)
        # The scene may name another file by now.
        self.sync()

    def _on_changed(self, change: Change) -> None:
        node = self._document.scene.by_id.get(change.ref.owner) if change.ref is not None else None
        if change.kind is not ChangeKind.VALUE or (node and uses_of(node.settings) != self._uses.get(node.id)):
            self.sync()


def uses_of(settings: Settings) -> tuple[FileUse, ...]:
    return KINDS[settings.kind].part(Files).used(settings)


def _consequence(scene: Scene, path: Path) -> str:
    """Returns the end of a line, which names the nodes and the effect of the missing file."""
    names: dict[str, list[str]] = {}
    for node in scene.nodes:
        for use in uses_of(node.settings):
            if use.without and Path(use.path) == path:
                names.setdefault(use.without, []).append(node.name)
    return "".join(f"; {text.format(names=', '.join(found))}" for text, found in names.items())


def _load(key: Key, budget: ImageBudget) -> tuple[str, Asset | str]:
    """Reads a file on a worker thread, where exceptions would be lost.

    Returns:
        Digest of the file, from before it was read, and the asset, or one line why it failed.
    """
    content, path = key
    digest = file_digest(path)
    try:
        return digest, load_asset(content, path, budget)
    except (ModelError, ImageError) as error:
        return digest, str(error)
    except Exception as error:
        _log.exception("reading %s failed", printable(str(path)))
        return digest, printable(" ".join(f"{path}: {type(error).__name__}: {error}".split()))
