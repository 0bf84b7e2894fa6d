"""Changes by other programs, and files outside the folders of the project, which are read after a question."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew import shaders
from sinew.app.document.document import Document
from sinew.app.editor.main_window import MainWindow
from sinew.app.files.file_watch import FileWatch
from sinew.app.files.model_store import ModelStore
from sinew.app.files.project_files import ProjectFiles
from sinew.app.files.scene_files import SceneFiles
from sinew.app.project.access import FileAccess
from sinew.app.project.project_paths import OutsideFile, outside_question
from sinew.sim.printable import printable

Answer = tuple[str, str, Callable[[], object]]
"""Text and tip of a button, and its function."""


class DiskChanges(QObject):
    """Reactions to changes on the disk; nothing is overwritten or lost without a question."""

    shaders_changed = Signal(list)  # Names of changed shader files

    def __init__(
        self,
        window: MainWindow,
        document: Document,
        access: FileAccess,
        files: ProjectFiles,
        store: ModelStore,
        scene_files: SceneFiles,
    ) -> None:
        super().__init__()
        self._window, self._document, self._access, self._files = window, document, access, files
        self._store, self._scene_files = store, scene_files
        self._asked: tuple[Path | None, str] | None = None
        self.watch = FileWatch(self._known, self)
        self.watch.changed.connect(self._on_changed)
        access.asked.connect(self._ask_outside)
        window.activated.connect(self.watch.look)
        files.overtaken.connect(self._ask_to_save)
        document.title_changed.connect(self._on_title)
        store.changed.connect(self.watch.look)
        scene_files.changed.connect(self.watch.look)

    def _known(self) -> dict[Path, str]:
        known = dict.fromkeys(shaders.files(), "")
        known |= {**self._scene_files.known, **self._store.known}
        if self._document.path is not None:
            known[self._document.path] = self._document.digest
        return known

    def _on_changed(self, paths: list[Path]) -> None:
        known = shaders.files()
        names = [known[path] for path in paths if path in known]
        if names:
            self.shaders_changed.emit(names)
        if self._document.path in paths:
            keep = ("Keep Mine", "Keep the open project; saving will ask again.", lambda: None)
            self._ask("has been changed by another program.", self._reload, keep)
        read = [path for path in paths if path in self._store.known or path in self._scene_files.known]
        for path in read:
            self._store.reread(path)
            self._scene_files.reread(path)
        if read:
            self._window.show_news(f"Reloaded from disk: {', '.join(printable(path.name) for path in read)}")

    def _ask_to_save(self) -> None:
        anyway = ("Save Anyway", "Overwrite the changes of the other program.", self._save_anyway)
        save_as = ("Save As…", "Save the open project to another file.", self._files.save_as)
        self._ask("was not saved: another program has changed it.", anyway, self._reload, save_as)

    def _ask_outside(self, files: tuple[OutsideFile, ...]) -> None:
        read = ("Read", "Read these files while the project is open.", self._access.allow)
        leave = ("Leave out", "Show the project without these files.", self._access.leave_out)
        self._window.question.ask(*outside_question(files), read, leave)

    def _ask(self, text: str, *answers: Answer) -> None:
        path = self._document.path or Path()
        self._asked = path, self._document.digest
        self._window.disk_question.ask(f"{printable(path.name)} {text}", printable(str(path)), *answers)

    @property
    def _reload(self) -> Answer:
        return "Reload", "Load the file again. Unsaved changes are lost.", self._files.reload

    def _save_anyway(self) -> None:
        if self._document.path is not None:
            self._files.save_to(self._document.path)

    def _on_title(self) -> None:
        """Closes the question if it is about another project or another content of the file."""
        if self._asked is not None and self._asked != (self._document.path, self._document.digest):
            self._asked = None
            self._window.disk_question.ask("")
        self.watch.look()
