"""Render and export commands, which ask for a file, copy the project and queue the job."""

import functools
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from sinew.app.document.document import Document
from sinew.app.failure.errors import CommandError
from sinew.app.headless.image_sink import NUMBERED
from sinew.app.headless.tracks import STEPS_PER_SECOND
from sinew.app.jobs.export import ExportJob
from sinew.app.jobs.job import job_of_form, word_of
from sinew.app.jobs.options import Span, format_options
from sinew.app.jobs.page import IMAGES
from sinew.app.jobs.render import RenderJob, refused
from sinew.app.jobs.verify import VerifyJob
from sinew.app.output.estimate import page_estimate
from sinew.app.output.file_field import folder_fault
from sinew.app.output.pictures import picture_path, pictures_there, suggested_path
from sinew.app.output.window import EXPORT, IN_TO_OUT, PLAYHEAD, RENDER, SCENE, OutputWindow, Values
from sinew.app.project.access import FileAccess
from sinew.app.project.project_file import cache_folder
from sinew.app.project.project_json import ProjectError
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.bone_preview import BoneChoice
from sinew.app.session.dialogs import Dialogs, OverwriteChoice
from sinew.app.session.job_queue import JobQueue, OutputJob
from sinew.app.session.panels import Panels
from sinew.app.session.playback import Playback
from sinew.app.timeline.bake_task import BakeTask
from sinew.sim.assets.formats import Format
from sinew.sim.export.formats import (
    ANIMATION_FORMATS,
    RENDER_FORMATS,
    SCENE_FORMATS,
    BoneOptions,
    PageFormat,
    PageOptions,
    VideoOptions,
)
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import Counts
from sinew.sim.scene.params import changed_values
from sinew.sim.scene.playback import play_range
from sinew.sim.scene.scene import NodeId
from sinew.widgets.inspector.editors import Choices
from sinew.widgets.texts import file_filter


class Output:
    """Commands of the output window; `help` is called when the user asks for help in the window.

    Args:
        folder: Returns the folder of proposed files, beside the project if it is relative.
        counts: Returns the counts of the visible nodes.
    """

    def __init__(
        self,
        document: Document,
        access: FileAccess,
        active: ActiveModel,
        dialogs: Dialogs,
        panels: Panels,
        playback: Playback,
        baking: BakeTask,
        folder: Callable[[], str],
        counts: Callable[[], Mapping[NodeId, Counts]],
    ) -> None:
        self._document, self._active, self._dialogs = document, active, dialogs
        self._playback, self._baking = playback, baking
        baking.ended.connect(lambda _: self._show_bakes())
        document.changed.connect(lambda _: self._show_bakes())
        self.queue = JobQueue(document, access)
        self.queue.written.connect(panels.inform)
        self.queue.failed.connect(panels.fail)
        self.queue.warned.connect(panels.warn)
        self._failed, self._warned = panels.fail, panels.warn
        self._window: OutputWindow | None = None
        self._is_showing = False
        self._held: dict[str, Values] = {}  # What the window shows of the project
        self._folder, self._counts = folder, counts
        self.help: Callable[[], object] = lambda: None

    def window_of(self) -> OutputWindow:
        """Returns the window, made at first use, as it is."""
        if self._window is None:
            self._window = OutputWindow(
                self.queue, self.render, self.export, self.verify, self._cameras, self._ask, self._dialogs.parent
            )
            self._window.edited.connect(self._on_edited)
            self._window.bakes.bake_button.clicked.connect(lambda: self._baking.start(self._baked))
            self._window.bakes.detach_button.clicked.connect(self._baking.free)
            shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.HelpContents), self._window)
            shortcut.activated.connect(lambda: self.help())
        return self._window

    @property
    def window(self) -> OutputWindow:
        """The window with the frames of the current scene and what the project keeps of it."""
        window, self._is_showing = self.window_of(), True
        for page in (RENDER, EXPORT):
            values = self._document.view_state.output.get(page, {})
            if values != self._held.get(page, {}):
                self._held = {**self._held, page: values}
                for fault in window.show_values(page, values):
                    self._warned(str(self._document.path or ""), f"$.state.output.{page}.{fault}; the default is used")
        window.offer(self._spans(), self._document.scene.playback.rate)
        window.bakes.show_notes(self._baking.notes())
        for page in (RENDER, EXPORT):
            self._refresh(page)
        self._is_showing = False
        return window

    def _spans(self) -> dict[str, tuple[float, float]]:
        settings, end = self._document.scene.playback, self._active.shown_duration
        spans = {SCENE: (settings.start_time, end)}
        if settings.in_point is not None or settings.out_point is not None:
            spans[IN_TO_OUT] = play_range(settings, end)
        return spans | {PLAYHEAD: (self._playback.playhead.time,) * 2}

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

    def bones(self) -> BoneChoice | None:
        """Returns what an export would fit to which frames; None if its options have no bones."""
        values, spans = self._document.view_state.output.get(EXPORT, {}), self._spans()
        start, end = spans.get(IN_TO_OUT, spans[SCENE])
        names = {known.name: known for known in SCENE_FORMATS}
        format, texts = names.get(str(values.get("format", "")), next(iter(SCENE_FORMATS))), values.get("options", ())
        try:
            chosen = format_options(format, texts if isinstance(texts, tuple) else (), Path("export"))
        except CommandError:
            return None
        if not isinstance(chosen, BoneOptions) or not chosen.has_bones:
            return None
        rate = float(str(values.get("rate", STEPS_PER_SECOND)))
        first, last = (int(str(values.get(name, round(at * rate)))) for name, at in (("first", start), ("last", end)))
        return BoneChoice(chosen, first, last, rate)

    def open_verify(self) -> None:
        self.window.show_page(2)

    def open_export(self, format: Format) -> None:
        self.window.show_page(1, format)

    # --- files ----------------------------------------------------------------------------------------

    def _absolute(self, text: str) -> Path:
        """Returns the place of a path of the window; a relative one begins at the project, else at the last folder."""
        project = self._document.path
        return (project.parent if project is not None else Path(self._dialogs.folder() or Path.cwd())) / text

    def _render_file(self) -> tuple[Path, Format]:
        return RENDER_FORMATS.typed(self._absolute(self.window_of().files[RENDER].text), next(iter(RENDER_FORMATS)))

    def _refresh(self, page: str) -> None:
        """Proposes a file, shows at once why it cannot be written, and keeps what the user has chosen."""
        window = self.window_of()
        folder, title = Path(self._folder()), self._document.title
        field = window.files[page]
        if page == RENDER:
            job = job_of_form(RenderJob, window.render_form.settings, scene=Path(), output=Path())
            frames = job.frames or Span()
            field.propose(str(folder / suggested_path(title, frames, alpha=job.alpha)))
            path, reason = self._render_file()[0], refused(self._render_job())
        else:
            field.propose(str(folder / f"{title}{window.format.suffixes[0]}"))
            path, reason = ANIMATION_FORMATS.typed(self._absolute(field.text), window.format)[0], ""
            window.show_estimate(self._estimate())
        window.refuse(page, folder_fault(path) or reason if field.text else "Name a file.")

    def _estimate(self) -> str:
        """Returns a line about the size of a web page; "" for other formats."""
        window = self.window_of()
        if not isinstance(window.format, PageFormat):
            return ""
        options, form = window.options_of(window.format), window.export_form.settings
        seconds = max(form.last - form.first, 0) / max(form.rate, 1.0)
        images = round(seconds * min(form.rate, IMAGES)) + 1
        chosen = options if isinstance(options, PageOptions) else PageOptions()
        return page_estimate(self._counts(), self._active.models(), images, chosen)

    def _on_edited(self, page: str) -> None:
        self._refresh(page)
        if not self._is_showing:
            state = self._document.view_state
            window, former = self.window_of(), state.output.get(page, {})
            unknown = {name: value for name, value in former.items() if name not in window.names(page)}
            stored = {**state.output, page: {**unknown, **window.values(page)}}
            stored = self._held = {name: values for name, values in stored.items() if values}
            self._document.set_view_state(msgspec.structs.replace(state, output=stored))

    def _ask(self, page: str) -> Path | None:
        """Asks for the file of a page; the answer is relative to the project where that is shorter."""
        window = self.window_of()
        if page == RENDER:
            suffixes = RENDER_FORMATS.suffixes()
            kinds = [file_filter("Images and videos", suffixes)]
            title, known = (
                "Render animation",
                ";;".join([*kinds, *(file_filter(f.name, f.suffixes) for f in RENDER_FORMATS)]),
            )
        else:
            title, known = f"Export {window.format.name}", file_filter(window.format.name, window.format.suffixes)
        path = self._dialogs.save_path(title, self._absolute(window.files[page].text), known)
        project = self._document.path
        if path is not None and project is not None and path.absolute().is_relative_to(project.parent):
            return path.absolute().relative_to(project.parent)
        return path

    def _is_free(self, path: Path) -> bool:
        return not path.exists() or self._dialogs.replaces(path)

    def _made_folder(self, path: Path) -> bool:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._failed(str(path), (error.strerror or str(error)).lower())
            return False
        return True

    # --- commands -------------------------------------------------------------------------------------

    def _render_job(self) -> RenderJob:
        job = job_of_form(RenderJob, self.window_of().render_form.settings, scene=Path(), output=Path())
        path, format = self._render_file()
        return msgspec.structs.replace(
            job, output=picture_path(path, job.frames or Span()), around=self._selected() if job.turntable else "",
            options=(f"codec={job.codec.value}",) if format.options is VideoOptions else (),
        )  # fmt: skip

    def render(self) -> None:
        self._refresh(RENDER)
        job = self._render_job()
        if self.window_of().files[RENDER].fault.text():
            return
        frames = job.frames or Span()
        there = 0 if job.resume else pictures_there(job.output, frames)
        answer = OverwriteChoice.REPLACE
        if there:
            answer = self._dialogs.pictures_there(job.output.parent, NUMBERED.sub("…", job.output.name), there)
        elif not job.resume and not self._is_free(job.output):
            answer = OverwriteChoice.CANCEL
        if answer is not OverwriteChoice.CANCEL and self._made_folder(job.output):
            resume = job.resume or answer is OverwriteChoice.KEEP
            self._queue(msgspec.structs.replace(job, resume=resume), is_shared=bool(job.scheduler))

    def export(self) -> None:
        self._refresh(EXPORT)
        window = self.window_of()
        if window.files[EXPORT].fault.text():
            return
        path, meant = ANIMATION_FORMATS.typed(self._absolute(window.files[EXPORT].text), window.format)
        options = [f"{name}={word_of(value)}" for name, value in changed_values(window.options_of(meant)).items()]
        job = job_of_form(ExportJob, window.export_form.settings, scene=Path(), output=path, options=tuple(options))
        nodes = (selected,) if job.selected and (selected := self._selected()) else ()
        if self._is_free(path) and self._made_folder(path):
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

    def _queue(self, asked: RenderJob | ExportJob, *, is_shared: bool = False) -> None:
        job = asked
        try:
            folder, project = self.queue.snapshot(is_shared=is_shared)
        except ProjectError as error:
            self._failed(str(job.output), str(error))
            return
        path = self._document.path
        bake = cache_folder(path) if path is not None else None  # the copy has none beside it
        job = msgspec.structs.replace(job, scene=project, bake=bake)
        again = functools.partial(self._queue, asked, is_shared=is_shared)
        queued = OutputJob(job.output, self.queue.for_copy(job), folder, again=again)
        if isinstance(queued.command, RenderJob):
            queued.command = msgspec.structs.replace(queued.command, preview=queued.preview)
        self.queue.add(queued)

    def _selected(self) -> str:
        node = self._document.selected
        return (node.name or node.id) if node is not None else ""
