import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QPixmap
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.export import ExportJob
from sinew.app.jobs.job import form_class, word_of
from sinew.app.jobs.options import format_options
from sinew.app.jobs.render import RenderJob
from sinew.app.jobs.verify import VerifyJob
from sinew.app.output.file_field import FileField
from sinew.app.output.pictures import missing_codecs
from sinew.app.session.job_queue import CANCELLED, DONE, FAILED, RUNNING, WAITING, JobQueue, OutputJob
from sinew.sim.assets.formats import Format
from sinew.sim.export.formats import ANIMATION_FORMATS, missing_package
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import ParamError, changed_values, params_of
from sinew.sim.scene.view_state import OutputValue
from sinew.widgets.inspector.editors import MakeChoices, SettingsForm
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, SPACE_WIDE, dress

SCENE, IN_TO_OUT, PLAYHEAD = "Scene", "In to Out", "Playhead"
_ENABLED = Qt.ItemDataRole.UserRole - 1  # Of a QComboBox: 0 disables an item

PREVIEW = QSize(256, 144)  # [px], largest size

PREVIEW_PERIOD = 500  # [ms] between two checks for a new preview


RENDER, EXPORT = "render", "export"
"""Pages whose values a project keeps."""

Values = dict[str, OutputValue]


class OutputWindow(QDialog):
    """Window of renderings and exports that may stay open; `cameras` lists the cameras of the scene.

    Signals:
        edited: The user has changed a value of a page.

    Args:
        ask: Asks for the file of a page; None leaves it.
    """

    edited = Signal(str)

    def __init__(
        self,
        queue: JobQueue,
        render: Callable[[], None],
        export: Callable[[], None],
        verify: Callable[[], None],
        cameras: MakeChoices,
        ask: Callable[[str], Path | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Render, Export and Verify")
        self._queue = queue
        self._offered: dict[SettingsForm, tuple[int, int, float]] = {}
        self._spans: dict[str, tuple[float, float]] = {}
        self.bakes = BakeNotes()
        self.render_form = SettingsForm(form_class(RenderJob)(), cameras)
        self.export_form = SettingsForm(form_class(ExportJob)())
        self.verify_form, self.verify_button = SettingsForm(form_class(VerifyJob)()), QPushButton("Verify…")
        self.render_button, self.export_button = QPushButton("Render"), QPushButton("Export")
        self.files = {page: FileField(functools.partial(ask, page)) for page in (RENDER, EXPORT)}
        for page, form in ((RENDER, self.render_form), (EXPORT, self.export_form)):
            form.edited.connect(functools.partial(self.edited.emit, page))
            self.files[page].edited.connect(functools.partial(self._on_file, page))
        self.render_button.clicked.connect(lambda: render())
        self.export_button.clicked.connect(lambda: export())
        self.verify_button.clicked.connect(lambda: verify())
        self.render_frames, self.export_frames = (self._frames_of(one) for one in (self.render_form, self.export_form))
        self._build_pages()
        self._build_list()
        self.setMinimumWidth(self.fontMetrics().height() * 30)
        queue.changed.connect(self._show_job)
        self._watch = QTimer(self, interval=PREVIEW_PERIOD)
        self._watch.timeout.connect(self._show_preview)

    def _build_pages(self) -> None:
        self.formats = QComboBox()
        for format in ANIMATION_FORMATS:
            self.formats.addItem(f"{format.name} ({' '.join(format.suffixes)})", format)
        self.missing, self.estimate = _hint(), _hint()
        self.estimate.hide()
        self._options: dict[str, SettingsForm] = {}
        self._option_place = QVBoxLayout()
        self.tabs = QTabWidget()
        drawn, codecs = QWidget(), _hint()
        codecs.setText(missing_codecs())
        codecs.setVisible(bool(codecs.text()))
        self.missing_codecs = codecs
        parts: tuple[QWidget | QHBoxLayout, ...]
        parts = self.files[RENDER], codecs, _labelled(self.render_frames), self.render_form
        packed(QVBoxLayout(drawn), *parts, spacing=SPACE_WIDE)
        self.tabs.addTab(_page(drawn, self.render_button), "Render Animation")
        shown = QWidget()
        parts = self.files[EXPORT], self.formats, self.missing, _labelled(self.export_frames), self.export_form
        packed(QVBoxLayout(shown), *parts, self._option_place, self.estimate, spacing=SPACE_WIDE)
        self.tabs.addTab(_page(shown, self.export_button), "Export Scene")
        self.tabs.addTab(_page(self.verify_form, self.verify_button), "Verify Bakes")
        self.formats.currentIndexChanged.connect(lambda _: self._on_format())
        self._show_options()

    def _build_list(self) -> None:
        self._rows: dict[OutputJob, JobRow] = {}
        self._list = QVBoxLayout()
        self._list.addStretch(1)
        self._nothing = QLabel("No jobs.")
        self._nothing.setEnabled(False)
        self.preview = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.preview.hide()
        rows = QWidget()
        rows.setLayout(self._list)
        scrolled = QScrollArea()
        scrolled.setWidgetResizable(True)
        scrolled.setWidget(rows)
        scrolled.setMinimumHeight(self.fontMetrics().height() * 9)
        dress(scrolled)
        self.clear_button = QPushButton("Clear Finished")
        self.clear_button.setAutoDefault(False)
        self.clear_button.clicked.connect(self._clear_finished)
        self.clear_button.hide()
        below = QHBoxLayout()
        below.addStretch(1)
        below.addWidget(self.clear_button)
        packed(
            QVBoxLayout(self), self.bakes, self.tabs, self._nothing, (scrolled, 1), self.preview, below,
            spacing=SPACE_WIDE, margins=SPACE_WIDE,
        )  # fmt: skip
        self._scrolled = scrolled
        scrolled.hide()

    @property
    def format(self) -> Format:
        chosen: Format = self.formats.currentData()
        return chosen

    def options_of(self, format: Format) -> msgspec.Struct | None:
        """Returns options as last chosen; None if the options of the format were never shown."""
        form = self._options.get(format.name)
        return form.settings if form is not None else None

    def show_page(self, page: int, format: Format | None = None) -> None:
        """Shows the page of renderings, 0, exports, 1, or verifications, 2."""
        self.tabs.setCurrentIndex(page)
        self.render_form.show_values(camera=self.render_form.settings.camera)
        if format is not None:
            self.formats.setCurrentIndex(self.formats.findText(format.name, Qt.MatchFlag.MatchStartsWith))
        self.show()
        self.raise_()

    def refuse(self, page: str, reason: str) -> None:
        """Shows why a page cannot be started, and disables its button; "" enables it."""
        field, button = self.files[page], self.render_button if page == RENDER else self.export_button
        grows = bool(reason) and not field.fault.text()
        field.show_fault(reason)
        button.setEnabled(not reason and not (page == EXPORT and missing_package(self.format)))
        if grows:
            self._grow()

    def show_estimate(self, text: str) -> None:
        """Shows what an export is expected to take; nothing for ""."""
        self.estimate.setText(text)
        self.estimate.setVisible(bool(text))

    def names(self, page: str) -> set[str]:
        """Returns the names of all values of a page."""
        form = self.render_form if page == RENDER else self.export_form
        return {"path", "format", "options", *form.settings.__struct_fields__}

    def values(self, page: str) -> Values:
        """Returns the values of a page that the user has changed."""
        form = self.render_form if page == RENDER else self.export_form
        held = {name: _plain(value) for name, value in changed_values(form.settings).items()}
        if (form.settings.first, form.settings.last, form.settings.rate) == self._offered.get(form):
            held = {name: value for name, value in held.items() if name not in ("first", "last", "rate")}
        elif form in self._offered:
            held |= {name: getattr(form.settings, name) for name in ("first", "last", "rate")}
        field = self.files[page]
        found: Values = {"path": field.text} if field.is_own else {}
        if page == EXPORT and self.formats.currentIndex() > 0:
            found["format"] = self.format.name
        chosen = changed_values(self.options_of(self.format)) if page == EXPORT else {}
        options = tuple(f"{name}={word_of(value)}" for name, value in chosen.items())
        return {**found, **held, **({"options": options} if options else {})}

    def show_values(self, page: str, values: Values) -> list[str]:
        """Shows stored values of a page, defaults for others; returns a line for each that is not allowed."""
        form, faults = (self.render_form if page == RENDER else self.export_form), []
        cls: type[msgspec.Struct] = type(form.settings)
        form.show_values(**msgspec.structs.asdict(cls()))
        self._offered.pop(form, None)
        field = self.files[page]
        field.is_own = False
        if isinstance(path := values.get("path", ""), str) and path:
            field.propose(path)
            field.is_own = True
        if page == EXPORT:
            names = [known.name for known in ANIMATION_FORMATS]
            stored = values.get("format", names[0])
            self._choose_format(
                next((known for known in ANIMATION_FORMATS if known.name == stored), next(iter(ANIMATION_FORMATS)))
            )
            faults += [] if stored in names else [f"format: {stored} is unknown"]
        for record in params_of(cls):
            if record.name in values:
                try:
                    made: object = msgspec.convert(values[record.name], record.type, strict=False)
                    form.show_values(**{record.name: made})
                except (msgspec.ValidationError, ParamError):
                    faults.append(f"{record.name}: {values[record.name]} is not allowed")
        if {"first", "last", "rate"} & values.keys():
            self._offered[form] = (-1, -1, 0.0)  # the frames are the user's
        options = values.get("options", ())
        if page == EXPORT and options and isinstance(options, tuple):
            try:
                chosen = format_options(self.format, options, Path(field.text or "export"))
                self._options[self.format.name].show_values(**changed_values(chosen))
            except CommandError as error:
                faults.append(f"options: {error}")
        return faults

    def _on_file(self, page: str) -> None:
        """A typed suffix chooses the format of an export."""
        suffix = Path(self.files[page].text).suffix.lower()
        if page == EXPORT and suffix in ANIMATION_FORMATS.suffixes():
            self._choose_format(ANIMATION_FORMATS.of(Path(self.files[page].text)))
        self.edited.emit(page)

    def _choose_format(self, format: Format) -> None:
        self.formats.blockSignals(True)
        self.formats.setCurrentIndex(list(ANIMATION_FORMATS).index(format))
        self.formats.blockSignals(False)
        self._show_options()

    def _on_format(self) -> None:
        """A chosen format has its suffix in the file."""
        self._show_options()
        field = self.files[EXPORT]
        if field.is_own and Path(field.text).suffix.lower() in ANIMATION_FORMATS.suffixes():
            field.line.setText(str(Path(field.text).with_suffix(self.format.suffixes[0])))
        self.edited.emit(EXPORT)

    def offer(self, spans: dict[str, tuple[float, float]], rate: float) -> None:
        """Offers spans by name, from a start to an end [s]; fills in one unless the user has changed the frames.

        Renderings use the frame rate of the scene; exports contain every step of the simulation.
        """
        self._spans, name = spans, IN_TO_OUT if IN_TO_OUT in spans else SCENE
        for box, form, at in (
            (self.render_frames, self.render_form, rate),
            (self.export_frames, self.export_form, 1.0 / STEP_TIME),
        ):
            box.setItemData(box.findText(IN_TO_OUT), None if IN_TO_OUT in spans else 0, _ENABLED)
            held = form.settings
            if (held.first, held.last, held.rate) == self._offered.get(form, (0, 0, held.rate)):
                box.setCurrentText(name)
                self._fill(form, name, at)

    def _frames_of(self, form: SettingsForm) -> QComboBox:
        """Returns a list of spans that fill in the frames of a form."""
        box = QComboBox()
        box.setAccessibleName("Frames")
        box.setToolTip("Fills in first and last frame.")
        box.addItems([SCENE, IN_TO_OUT, PLAYHEAD])
        box.textActivated.connect(lambda name: self._fill(form, name, form.settings.rate))
        return box

    def _fill(self, form: SettingsForm, name: str, rate: float) -> None:
        start, end = self._spans[name]
        self._offered[form] = (round(start * rate), round(end * rate), rate)
        form.show_values(**dict(zip(("first", "last", "rate"), self._offered[form], strict=True)))
        self.edited.emit(RENDER if form is self.render_form else EXPORT)

    def _grow(self) -> None:
        """Enlarges the window for new content; labels with word wrap do not request their height."""
        if (layout := self.layout()) is not None:
            layout.activate()
        self.resize(self.size().expandedTo(self.sizeHint()))

    def _show_options(self) -> None:
        hint = missing_package(self.format)
        self.missing.setText(f"{self.format.name} {hint}")
        self.missing.setVisible(bool(hint))
        self.export_button.setEnabled(not hint and not self.files[EXPORT].fault.text())
        for form in self._options.values():
            form.hide()
        if self.format.options is not None:
            if self.format.name not in self._options:
                form = self._options[self.format.name] = SettingsForm(self.format.options())
                form.edited.connect(functools.partial(self.edited.emit, EXPORT))
                self._option_place.addWidget(form)
            self._options[self.format.name].show()

    def _show_job(self, job: OutputJob) -> None:
        if job not in self._rows:
            self._rows[job] = JobRow(job, self._queue.cancel)
            self._list.insertWidget(0, self._rows[job])
        self._rows[job].refresh()
        self.clear_button.setVisible(any(one.state not in (WAITING, RUNNING) for one in self._rows))
        self._nothing.hide()
        if not self._scrolled.isVisible():
            self._scrolled.show()
            self._grow()
        if self._queue.busy:
            self._watch.start()
        else:
            self._watch.stop()

    def _clear_finished(self) -> None:
        for job, row in list(self._rows.items()):
            if job.state not in (WAITING, RUNNING):
                self._list.removeWidget(row)
                row.deleteLater()
                del self._rows[job]
        self._queue.forget_finished()
        self.clear_button.hide()
        self._nothing.setVisible(not self._rows)
        self._scrolled.setVisible(bool(self._rows))

    def _show_preview(self) -> None:
        running = next((job for job in self._queue.jobs if job.state == RUNNING), None)
        image = QPixmap()
        if running is not None and running.preview.exists() and image.load(str(running.preview)):
            keep_ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            self.preview.setPixmap(image.scaled(PREVIEW, keep_ratio, smooth))
            if not self.preview.isVisible():
                self.preview.show()
                self._grow()


def _plain(value: Any) -> OutputValue:
    """Returns a value as a project stores it."""
    made: OutputValue = msgspec.to_builtins(value)
    return made


class BakeNotes(QWidget):
    """Lines about bakes that renderings and exports show, and what to do about them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = _hint()
        self.bake_button, self.detach_button = QPushButton("Bake Again"), QPushButton("Detach Bake")
        packed(QHBoxLayout(self), (self.lines, 1), self.bake_button, self.detach_button, spacing=SPACE_WIDE)
        self.hide()

    def show_notes(self, notes: Sequence[str]) -> None:
        self.lines.setText("\n".join(notes))
        self.setVisible(bool(notes))


class JobRow(QWidget):
    def __init__(self, job: OutputJob, cancel: Callable[[OutputJob], None]) -> None:
        super().__init__()
        self._job = job
        self.name, self.bar = QLabel(job.name), QProgressBar()
        self.status = _hint()
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.name.setToolTip(str(job.path))
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(6)
        self.button, self.again = QPushButton("Cancel"), QPushButton("Again")
        self.button.clicked.connect(lambda: self._act(cancel))
        self.again.setToolTip("Do this again with the scene as it is now.")
        self.again.clicked.connect(lambda: job.again() if job.again is not None else None)
        for button in (self.button, self.again):
            button.setAutoDefault(False)
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE, SPACE, SPACE)
        grid.addWidget(self.name, 0, 0)
        grid.addWidget(self.status, 1, 0)
        grid.addWidget(self.bar, 2, 0)
        grid.addWidget(self.again, 0, 1, 3, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.button, 0, 2, 3, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)

    def refresh(self) -> None:
        job = self._job
        self.bar.setValue(round(100.0 * job.share))
        self.bar.setVisible(job.state in (WAITING, RUNNING))
        self.status.setText(job.status)
        self.button.setText("Show" if job.state == DONE else "Cancel")
        self.button.setEnabled(job.state not in (FAILED, CANCELLED))
        self.again.setVisible(job.again is not None and job.state in (DONE, FAILED, CANCELLED))
        if (layout := self.layout()) is not None:
            layout.invalidate()  # the number of lines may have changed
        self.updateGeometry()

    def _act(self, cancel: Callable[[OutputJob], None]) -> None:
        if self._job.state == DONE:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._job.path.parent)))
        else:
            cancel(self._job)


def _hint() -> QLabel:
    """Returns a label with text that the user can copy."""
    return QLabel(wordWrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse)


def _labelled(box: QComboBox) -> QHBoxLayout:
    label = QLabel(box.accessibleName())
    label.setBuddy(box)
    return packed(QHBoxLayout(), label, (box, 1), spacing=SPACE_WIDE)


def _page(content: QWidget, button: QPushButton) -> QWidget:
    page, row = QWidget(), QHBoxLayout()
    row.addStretch(1)
    row.addWidget(button)
    column = QVBoxLayout(page)
    packed(column, content, row, spacing=SPACE_WIDE, margins=SPACE_WIDE)
    column.addStretch(1)
    return page
