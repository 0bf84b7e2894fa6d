from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from sinew.app.project.project_paths import OutsideFile
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Files
from sinew.sim.scene.params import ParamError, Settings, with_paths
from sinew.sim.scene.scene import Scene

WITHHELD = "lies outside the project's folders and is not read unless you allow it"
"""Reason for a blocked file; the same text whether the file exists or not."""


class FileAccess(QObject):
    """What the open project may do: files that it names outside its folders are blocked until the user allows them, and
    its kernels are not used before.
    """

    asked = Signal(tuple)  # Files that wait for an answer, a tuple of `OutsideFile`; empty after the answer
    allowed = Signal()  # The blocked files may be read
    kernels_changed = Signal(bool)  # Whether kernels of the project may replace shader files

    def __init__(self) -> None:
        super().__init__()
        self._withheld: frozenset[str] = frozenset()
        self.takes_kernels = True

    def take_kernels(self, on: bool) -> None:
        self.takes_kernels = on
        self.kernels_changed.emit(on)

    def allows(self, path: str) -> bool:
        return path not in self._withheld

    def readable(self, scene: Scene) -> Scene:
        """Returns a scene without blocked files; raises ParamError if a node cannot work without such a file."""
        for node in scene.nodes:
            for use in KINDS[node.kind].part(Files).used(node.settings):
                if use.is_needed and not self.allows(use.path):
                    raise ParamError(f"{node.name}: {use.path} {WITHHELD}")

        def settings_of(settings: Settings) -> Settings:
            return with_paths(settings, lambda path: path if self.allows(path) else "")

        nodes = (msgspec.structs.replace(node, settings=settings_of(node.settings)) for node in scene.nodes)
        return msgspec.structs.replace(scene, nodes=tuple(nodes)) if self._withheld else scene

    def withhold(self, files: Iterable[OutsideFile]) -> None:
        """Blocks these files of a new project and asks about them; earlier blocks are dropped."""
        waiting = tuple(files)
        self._withheld = frozenset(file.path for file in waiting)
        self.asked.emit(waiting)

    def allow(self) -> None:
        self._withheld = frozenset()
        self.asked.emit(())
        self.allowed.emit()

    def leave_out(self) -> None:
        """Leaves blocked files out; the question is not repeated while the project is open."""
        self.asked.emit(())
