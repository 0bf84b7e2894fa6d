"""Render and export commands, which ask for a file, copy the project and queue the job."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from sinew.app.document.document import Document
from sinew.app.headless.image_sink import NUMBERED
from sinew.app.jobs.settings import (
    ExportSettings,
    RenderSettings,
    VerifySettings,
    export_words,
    picture_path,
    pictures_there,
    refused,
    render_words,
    run_words,
    suggested_path,
)
from sinew.app.output.jobs import JobQueue, OutputJob
from sinew.app.output.window import OutputWindow
from sinew.app.project.access import FileAccess
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_json import ProjectError
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.dialogs import Dialogs, OverwriteChoice
from sinew.app.session.panels import Panels
from sinew.sim.export.formats import RENDER_FORMATS, SCENE_FORMATS, SceneFormat
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.widgets.inspector.editors import Choices
from sinew.widgets.texts import file_filter


class Output:
    """Commands of the output window; `help` is called when the user asks for help in the window."""

    def __init__(
        self, document: Document, access: FileAccess, active: ActiveModel, dialogs: Dialogs, panels: Panels
    ) -> None:
        self._document, self._active, self._dialogs = document, active, dialogs
        self.queue = JobQueue(document, access)
        self.queue.written.connect(panels.inform)
        self.queue.failed.connect(panels.fail)
        self.queue.warned.connect(panels.warn)
        self._failed = panels.fail
        self._window: OutputWindow | None = None
        self.help: Callable[[], object] = lambda: None

    @property
    def window(self) -> OutputWindow:
        """The window, made at first use with the frames of the current scene."""
        if self._window is None:
            self._window = OutputWindow(
                self.queue, self.render, self.export, self.verify, self._cameras, self._dialogs.parent
            )
            shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.HelpContents), self._window)
            shortcut.activated.connect(lambda: self.help())
        playback = self._document.scene.playback
        self._window.offer(playback.start_time, self._active.shown_duration, playback.rate)
        return self._window

    @property
    def has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return self._window is not None and focus is not None and self._window.isAncestorOf(focus)

    def open_render(self) -> None:
        self.window.show_page(0)

    def open_verify(self) -> None:
        self.window.show_page(2)

    def open_export(self, format: SceneFormat) -> None:
        self.window.show_page(1, format)

    def render(self, settings: RenderSettings) -> None:
        suffixes = RENDER_FORMATS.suffixes()
        kinds = [file_filter("Images and videos", suffixes), *(file_filter(f.name, f.suffixes) for f in RENDER_FORMATS)]
        path = self._asked("Render animation", suggested_path(settings, self._document.title), ";;".join(kinds))
        if path is not None:
            path, _ = RENDER_FORMATS.typed(path, next(iter(RENDER_FORMATS)))
            file = picture_path(settings, path)
            refusal = refused(settings, file)
            self.window.refuse(refusal)
            if refusal:
                self._failed(str(file), refusal)
                return
            there = 0 if settings.resume else pictures_there(settings, file)
            answer = (
                self._dialogs.pictures_there(file.parent, NUMBERED.sub("…", file.name), there)
                if there
                else OverwriteChoice.REPLACE
            )
            if answer is OverwriteChoice.CANCEL:
                return
            chosen = msgspec.structs.replace(settings, resume=True) if answer is OverwriteChoice.KEEP else settings
            self._queue(
                file, lambda project: render_words(chosen, file, project, self._selected()), preview=True,
                is_shared=bool(chosen.scheduler),
            )  # fmt: skip

    def export(self, settings: ExportSettings, format: SceneFormat, options: msgspec.Struct | None) -> None:
        kind = file_filter(format.name, format.suffixes)
        path = self._asked(f"Export {format.name}", Path(f"{self._document.title}{format.suffixes[0]}"), kind)
        if path is not None:
            path, meant = SCENE_FORMATS.typed(path, format)
            options = options if meant is format else self.window.options_of(meant)
            self._queue(path, lambda project: export_words(settings, options, path, project, self._selected()))

    def verify(self, settings: VerifySettings) -> None:
        """Asks for projects, and queues one job, which reads them as they were saved."""
        projects = self._dialogs.project_paths(self._document.path)
        if not projects:
            return
        title = f"Verify {projects[0].name if len(projects) == 1 else f'{len(projects)} projects'}"
        folder = tempfile.TemporaryDirectory(prefix="sinew-verify-", ignore_cleanup_errors=True)
        words = ["verify", *map(str, projects), *run_words(settings)]
        permitted = Permitted(outside=settings.outside, kernels=settings.kernels)
        self.queue.add(OutputJob(projects[0], words, folder, permitted, title=title))

    def _cameras(self) -> Choices:
        cameras = tuple((node.id, node.name) for node in self._document.scene.of_kind(CameraSettings.kind))
        return Choices("As chosen below", (("cuts", "Cuts"), *cameras) if cameras else ())

    def _asked(self, title: str, suggestion: Path, kinds: str) -> Path | None:
        path = self._dialogs.save_path(title, suggestion, kinds)
        return path.absolute() if path is not None else None

    def _queue(
        self, path: Path, words_of: Callable[[Path], list[str]], *, preview: bool = False, is_shared: bool = False
    ) -> None:
        try:
            folder, project = self.queue.snapshot(is_shared=is_shared)
        except ProjectError as error:
            self._failed(str(path), str(error))
            return
        job = OutputJob(path, words_of(project), folder, self.queue.permitted)
        if preview:
            job.words += ["--preview", str(job.preview)]
        self.queue.add(job)

    def _selected(self) -> str:
        node = self._document.selected
        return (node.name or node.id) if node is not None else ""
