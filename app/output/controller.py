"""Render and export commands, which ask for a file, copy the project and queue the job."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from sinew.app.document.document import Document
from sinew.app.headless.image_sink import NUMBERED
from sinew.app.jobs.export import ExportJob
from sinew.app.jobs.job import job_of_form, word_of
from sinew.app.jobs.options import Span
from sinew.app.jobs.render import RenderJob, refused
from sinew.app.jobs.verify import VerifyJob
from sinew.app.output.pictures import picture_path, pictures_there, suggested_path
from sinew.app.output.window import IN_TO_OUT, PLAYHEAD, SCENE, OutputWindow
from sinew.app.project.access import FileAccess
from sinew.app.project.project_file import cache_folder
from sinew.app.project.project_json import ProjectError
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.dialogs import Dialogs, OverwriteChoice
from sinew.app.session.job_queue import JobQueue, OutputJob
from sinew.app.session.panels import Panels
from sinew.app.session.playback import Playback
from sinew.app.timeline.bake_task import BakeTask
from sinew.sim.export.formats import RENDER_FORMATS, SCENE_FORMATS, SceneFormat, VideoOptions
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.scene.params import changed_values
from sinew.sim.scene.playback import play_range
from sinew.sim.scene.scene import NodeId
from sinew.widgets.inspector.editors import Choices
from sinew.widgets.texts import file_filter


class Output:
    """Commands of the output window; `help` is called when the user asks for help in the window."""

    def __init__(
        self,
        document: Document,
        access: FileAccess,
        active: ActiveModel,
        dialogs: Dialogs,
        panels: Panels,
        playback: Playback,
        baking: BakeTask,
    ) -> None:
        self._document, self._active, self._dialogs = document, active, dialogs
        self._playback, self._baking = playback, baking
        baking.ended.connect(lambda _: self._show_bakes())
        document.changed.connect(lambda _: self._show_bakes())
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
            self._window.bakes.bake_button.clicked.connect(lambda: self._baking.start(self._baked))
            self._window.bakes.detach_button.clicked.connect(self._baking.free)
            shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.HelpContents), self._window)
            shortcut.activated.connect(lambda: self.help())
        settings, end = self._document.scene.playback, self._active.shown_duration
        spans = {SCENE: (settings.start_time, end)}
        if settings.in_point is not None or settings.out_point is not None:
            spans[IN_TO_OUT] = play_range(settings, end)
        spans[PLAYHEAD] = (self._playback.playhead.time,) * 2
        self._window.offer(spans, settings.rate)
        self._window.bakes.show_notes(self._baking.notes())
        return self._window

    @property
    def _baked(self) -> list[NodeId]:
        return [node.id for node in self._document.scene.nodes if node.baked]

    def _show_bakes(self) -> None:
        if self._window is not None and self._window.isVisible():
            self._window.bakes.show_notes(self._baking.notes())

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

    def render(self) -> None:
        suffixes = RENDER_FORMATS.suffixes()
        kinds = [file_filter("Images and videos", suffixes), *(file_filter(f.name, f.suffixes) for f in RENDER_FORMATS)]
        job = job_of_form(RenderJob, self.window.render_form.settings, scene=Path(), output=Path())
        frames = job.frames or Span()
        suggested = suggested_path(self._document.title, frames, alpha=job.alpha)
        path = self._asked("Render animation", suggested, ";;".join(kinds))
        if path is None:
            return
        path, format = RENDER_FORMATS.typed(path, next(iter(RENDER_FORMATS)))
        job = msgspec.structs.replace(
            job, output=picture_path(path, frames), around=self._selected() if job.turntable else "",
            options=(f"codec={job.codec.value}",) if format.options is VideoOptions else (),
        )  # fmt: skip
        refusal = refused(job)
        self.window.refuse(refusal)
        if refusal:
            self._failed(str(job.output), refusal)
            return
        there = 0 if job.resume else pictures_there(job.output, frames)
        answer = (
            self._dialogs.pictures_there(job.output.parent, NUMBERED.sub("…", job.output.name), there)
            if there
            else OverwriteChoice.REPLACE
        )
        if answer is not OverwriteChoice.CANCEL:
            resume = job.resume or answer is OverwriteChoice.KEEP
            self._queue(msgspec.structs.replace(job, resume=resume), is_shared=bool(job.scheduler))

    def export(self) -> None:
        format = self.window.format
        suggested = Path(f"{self._document.title}{format.suffixes[0]}")
        path = self._asked(f"Export {format.name}", suggested, file_filter(format.name, format.suffixes))
        if path is None:
            return
        path, meant = SCENE_FORMATS.typed(path, format)
        options = [f"{name}={word_of(value)}" for name, value in changed_values(self.window.options_of(meant)).items()]
        job = job_of_form(
            ExportJob, self.window.export_form.settings, scene=Path(), output=path, options=tuple(options)
        )  # fmt: skip
        nodes = (selected,) if job.selected and (selected := self._selected()) else ()
        self._queue(msgspec.structs.replace(job, nodes=nodes))

    def verify(self) -> None:
        """Asks for projects, and queues one job, which reads them as they were saved."""
        projects = self._dialogs.project_paths(self._document.path)
        if not projects:
            return
        title = f"Verify {projects[0].name if len(projects) == 1 else f'{len(projects)} projects'}"
        folder = tempfile.TemporaryDirectory(prefix="sinew-verify-", ignore_cleanup_errors=True)
        job = job_of_form(VerifyJob, self.window.verify_form.settings, projects=tuple(projects))
        self.queue.add(OutputJob(projects[0], job, folder, title=title))

    def _cameras(self) -> Choices:
        cameras = tuple((node.id, node.name) for node in self._document.scene.of_kind(CameraSettings.kind))
        return Choices("As chosen below", (("cuts", "Cuts"), *cameras) if cameras else ())

    def _asked(self, title: str, suggestion: Path, kinds: str) -> Path | None:
        path = self._dialogs.save_path(title, suggestion, kinds)
        return path.absolute() if path is not None else None

    def _queue(self, job: RenderJob | ExportJob, *, is_shared: bool = False) -> None:
        try:
            folder, project = self.queue.snapshot(is_shared=is_shared)
        except ProjectError as error:
            self._failed(str(job.output), str(error))
            return
        path = self._document.path
        bake = cache_folder(path) if path is not None else None  # the copy has none beside it
        job = msgspec.structs.replace(job, scene=project, bake=bake)
        queued = OutputJob(job.output, self.queue.for_copy(job), folder)
        if isinstance(queued.command, RenderJob):
            queued.command = msgspec.structs.replace(queued.command, preview=queued.preview)
        self.queue.add(queued)

    def _selected(self) -> str:
        node = self._document.selected
        return (node.name or node.id) if node is not None else ""
