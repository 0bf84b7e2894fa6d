"""Which files of the open project may be read before the user has said so."""

from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from app.files.project_paths import OutsideFile
from sim.kinds import KINDS
from sim.scene.params import ParamError, Settings, with_paths
from sim.scene.scene import Scene

WITHHELD = "lies outside the project's folders and is not read unless you allow it"
"""Reads the same whether there is such a file or not."""


class FileAccess(QObject):
    """Withholds what a project names elsewhere; whatever the user chooses or types is free.

    Signals:
        asked: Files that wait for an answer, a tuple of `OutsideFile`; none after the answer.
        allowed: What was withheld may be read.
    """

    asked = Signal(tuple)
    allowed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._withheld: frozenset[str] = frozenset()

    def allows(self, path: str) -> bool:
        """Whether a file may be read, and its being there be told."""
        return path not in self._withheld

    def readable(self, scene: Scene) -> Scene:
        """A scene as it is shown, which names no file that may not be read.

        Raises:
            ParamError: If a node cannot do without such a file.
        """
        for node in scene.nodes:
            for use in KINDS[node.kind].files(node.settings):
                if use.is_needed and not self.allows(use.path):
                    raise ParamError(f"{node.name}: {use.path} {WITHHELD}")

        def settings_of(settings: Settings) -> Settings:
            return with_paths(settings, lambda path: path if self.allows(path) else "")

        nodes = (msgspec.structs.replace(node, settings=settings_of(node.settings)) for node in scene.nodes)
        return msgspec.structs.replace(scene, nodes=tuple(nodes)) if self._withheld else scene

    def withhold(self, files: Iterable[OutsideFile]) -> None:
        """Another project is open: asks about what it names elsewhere, and forgets what was withheld before."""
        waiting = tuple(files)
        self._withheld = frozenset(file.path for file in waiting)
        self.asked.emit(waiting)

    def allow(self) -> None:
        """Everything may be read."""
        self._withheld = frozenset()
        self.asked.emit(())
        self.allowed.emit()

    def leave_out(self) -> None:
        """What is withheld stays so; it is not asked again while the project is open."""
        self.asked.emit(())
