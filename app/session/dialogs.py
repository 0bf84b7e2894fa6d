import enum
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from sinew.app.files.project_files import ProjectFiles, UnsavedAnswer
from sinew.app.files.recovery import Recovery, RecoveryStore
from sinew.app.project.project_file import PROJECT_SUFFIX
from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS, STRAND_FORMATS, motion_suffixes
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Files
from sinew.sim.printable import printable
from sinew.widgets.texts import ALL_FILES, file_filter

Answer = TypeVar("Answer")

_PROJECTS = file_filter("Sinew projects", [PROJECT_SUFFIX])


class OverwriteChoice(enum.Enum):
    REPLACE = "replace"
    KEEP = "keep"  # and write the others
    CANCEL = "cancel"


class Dialogs:
    """Questions to the user, which tests override; `folder` returns the first folder of file dialogs, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.parent = parent
        self.folder: Callable[[], Path | None] = lambda: None

    def unsaved(self, title: str, lost: str = "") -> UnsavedAnswer:
        """Asks about unsaved changes; `title` is "" if there are none, `lost` names other work that would be lost."""
        more = " ".join(filter(None, ["Unsaved changes are lost otherwise." if title else "", lost]))
        if title:
            answers = {
                "Save": UnsavedAnswer.SAVE, "Discard": UnsavedAnswer.DISCARD, "Cancel": UnsavedAnswer.CANCEL
            }  # fmt: skip
            return self._ask("Unsaved changes", f"Save the changes to “{title}”?", more, answers, "Save")
        return self._ask(
            "Close", "Close now?", more, {"Close": UnsavedAnswer.DISCARD, "Cancel": UnsavedAnswer.CANCEL}, "Cancel"
        )

    def run_script(self, script: Path) -> bool:
        """Asks whether a script may run; it could do anything that the user can."""
        more = f"{script}\n\nA script can read, change and delete your files. Run only scripts you trust."
        text = f"Run {script.name} on the open project?"
        warning = QMessageBox.Icon.Warning
        return self._ask("Run a script", text, more, {"Run": True, "Cancel": False}, "Cancel", warning)

    def open_path(self) -> Path | None:
        both = file_filter("Projects and models", [PROJECT_SUFFIX, *MODEL_FORMATS.suffixes()])
        return self._existing("Open", both, _PROJECTS, *_importable())

    def project_paths(self, chosen: Path | None) -> list[Path]:
        begin = str(chosen or self.folder() or "")
        names, _ = QFileDialog.getOpenFileNames(self.parent, "Verify projects", begin, _PROJECTS)
        return [Path(name) for name in names]

    def model_path(self, title: str = "Import model") -> Path | None:
        return self._existing(title, _models())

    def import_path(self) -> Path | None:
        return self._existing("Import", *_importable())

    def motion_path(self) -> Path | None:
        return self._existing("Add motion", file_filter("Motions", motion_suffixes()), _models())

    def strands_path(self, title: str) -> Path | None:
        return self._existing(title, file_filter("Strands", STRAND_FORMATS.suffixes()))

    def image_path(self, title: str) -> Path | None:
        return self._existing(title, file_filter("Images", IMAGE_FORMATS.suffixes()))

    def timings_path(self) -> Path | None:
        return self._existing("Import timings", "Timings (*.csv)")

    def project_save_path(self, suggestion: Path) -> Path | None:
        return self.save_path("Save project", suggestion, _PROJECTS)

    def save_path(self, title: str, suggestion: Path, kind: str) -> Path | None:
        """Asks where to save; a name without file extension gets the extension of the suggestion."""
        folder = self.folder() or Path()
        dialog = QFileDialog(self.parent, title, str((folder / suggestion).parent), kind)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suggestion.suffix)
        dialog.selectFile(suggestion.name)
        accepted = dialog.exec() == QFileDialog.DialogCode.Accepted
        dialog.deleteLater()
        return Path(dialog.selectedFiles()[0]) if accepted else None

    def pictures_there(self, folder: Path, name: str, count: int) -> OverwriteChoice:
        text = f"{count} of the images {printable(name)} {'exists' if count == 1 else 'exist'} already."
        answers = {
            "Replace": OverwriteChoice.REPLACE,
            "Keep, Write the Others": OverwriteChoice.KEEP,
            "Cancel": OverwriteChoice.CANCEL,
        }
        return self._ask("Files exist", text, f"They are in {printable(str(folder))}.", answers, "Replace")

    def replaces(self, path: Path) -> bool:
        text = f"{printable(path.name)} exists already. Replace it?"
        answers = {"Replace": True, "Cancel": False}
        return self._ask("File exists", text, f"It is in {printable(str(path.parent))}.", answers, "Replace")

    def use_kernels(self, files: Sequence[str]) -> bool:
        """Asks whether a project may replace shader files."""
        text = f"This project replaces shader files of Sinew: {', '.join(map(printable, files))}. Use them?"
        more = "A faulty kernel can block the graphics driver. Otherwise the shipped files are used."
        return self._ask("Kernels of the project", text, more, {"Yes": True, "No": False}, "No")

    def recover(self, recovery: Recovery) -> UnsavedAnswer:
        """Asks about the project of a crashed session: SAVE recovers it, DISCARD deletes it."""
        name = recovery.origin.name if recovery.origin else "an unsaved project"
        when = recovery.saved_at.astimezone().strftime("%d %B, %H:%M:%S")
        text = f"Sinew did not close properly. Recover {name} as of {when}?"
        more = "Your saved file does not change until you save again."
        answers = {"Recover": UnsavedAnswer.SAVE, "Discard": UnsavedAnswer.DISCARD, "Later": UnsavedAnswer.CANCEL}
        return self._ask("Recover a project", text, more, answers, "Recover")

    def _ask(
        self,
        title: str,
        text: str,
        more: str,
        answers: Mapping[str, Answer],
        default: str,
        icon: QMessageBox.Icon = QMessageBox.Icon.Question,
    ) -> Answer:
        """Asks with one button per answer; the first one accepts, and the last one stands for a closed box."""
        role = QMessageBox.ButtonRole
        roles = [role.AcceptRole, *[role.DestructiveRole] * (len(answers) - 2), role.RejectRole]
        box = QMessageBox(icon, title, text, parent=self.parent, informativeText=more)
        buttons = {label: box.addButton(label, its_role) for label, its_role in zip(answers, roles, strict=True)}
        box.setDefaultButton(buttons[default])
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        *others, last = answers
        return answers[next((label for label in others if buttons[label] is clicked), last)]

    def _existing(self, title: str, *kinds: str) -> Path | None:
        shown = ";;".join([*kinds, ALL_FILES])
        name, _ = QFileDialog.getOpenFileName(self.parent, title, str(self.folder() or ""), shown)
        return Path(name) if name else None


def _importable() -> tuple[str, ...]:
    others = [(kind.label, kind.part(Files).imports) for kind in KINDS.values()]
    return _models(), *(file_filter(label, imports[0].suffixes()) for label, imports in others if imports is not None)


def _models() -> str:
    return file_filter("Models", MODEL_FORMATS.suffixes())


class RecoveryQuestions(QObject):
    """Questions about crashed sessions, one by one; `ask` returns SAVE to recover, DISCARD to delete, else to keep."""

    def __init__(self, store: RecoveryStore, files: ProjectFiles, ask: Callable[[Recovery], UnsavedAnswer]) -> None:
        super().__init__()
        self._store, self._files, self._ask = store, files, ask
        self._pending: list[Recovery] = []
        files.recovered.connect(self._on_recovered)

    def offer(self) -> None:
        """Asks until one project is opened; the others are offered at the next start."""
        self._pending = self._store.pending()
        self._offer_next()

    def _offer_next(self) -> None:
        while self._pending:
            recovery = self._pending.pop(0)
            answer = self._ask(recovery)
            if answer is UnsavedAnswer.SAVE:
                self._files.recover(recovery)
                return
            if answer is UnsavedAnswer.DISCARD:
                self._store.discard(recovery)

    def _on_recovered(self, recovery: Recovery, readable: bool) -> None:
        if readable:
            self._store.adopt(recovery)
        else:
            self._offer_next()


def if_given(path: Path | None, use: Callable[[Path], object]) -> None:
    """Uses a path unless the user has named none."""
    if path is not None:
        use(path)
