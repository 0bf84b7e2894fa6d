"""Verifies the bake of a project: simulates it anew in a process of its own, beside the work."""

from PySide6.QtCore import QObject, Signal, SignalInstance

from app.document.document import Document
from app.files.access import FileAccess
from app.files.project_file import cache_folder
from app.files.project_json import ProjectError
from app.output.jobs import RUNNING, JobQueue, OutputJob
from app.viewport.renderer import ViewportRenderer
from sim.cache.bake import is_bake


class VerifyTask(QObject):
    """Compares every baked step with what the project as it stands now gives.

    Signals:
        progressed: What is done, and the share of it, 0 to 1; an empty text when it is over.
        ended: One line how it went, or why it was not begun.
        told: The project, and that all is equal to the bit.
        warned: The project, and one line about it.
        failed: The project, and one line what differs.
    """

    progressed = Signal(str, float)
    ended = Signal(str)
    reported = Signal(str, str)
    warned = Signal(str, str)
    failed = Signal(str, str)

    def __init__(self, document: Document, access: FileAccess, client: ViewportRenderer) -> None:
        super().__init__()
        self._document, self._client = document, client
        self._copy = ""
        self._queue = JobQueue(document, access, self)
        self._queue.changed.connect(self._on_changed)
        self._queue.written.connect(lambda path, note: self._end(self.reported, path, note))
        self._queue.failed.connect(lambda path, reason: self._end(self.failed, path, reason))
        self._queue.warned.connect(lambda path, text: self.warned.emit(path, self._plain(text)))

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def start(self) -> None:
        """Begins, where there is a bake."""
        project = self._document.path
        if self.busy:
            self.ended.emit("The bake is being verified already")
        elif project is None or not is_bake(cache_folder(project)):
            self.ended.emit("Nothing is baked beside the project")
        else:
            try:
                folder, copy = self._queue.snapshot()
            except ProjectError as error:
                self.failed.emit(str(project), str(error))
                return
            self._copy = str(copy)
            words = ["verify", str(copy), "--bake", str(cache_folder(project)), "--backend", self._client.back_end]
            self._queue.add(OutputJob(project, words, folder))

    def cancel(self) -> None:
        self._queue.cancel_all()

    def _on_changed(self, job: OutputJob) -> None:
        self.progressed.emit(f"Verifying the bake of {job.path.name}" if job.state == RUNNING else "", job.share)

    def _end(self, signal: SignalInstance, path: str, text: str) -> None:
        begin = "Bake verified" if signal is self.reported else "Bake not verified"
        text = f"{begin}: {self._plain(text)}"
        signal.emit(path, text)
        self.ended.emit(text)

    def _plain(self, text: str) -> str:
        """A line about the copy that is simulated, which nobody knows, without its name."""
        return text.removeprefix(f"{self._copy}: ").removeprefix("warning: ")
