import csv
import enum
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from sinew.app.document.document import Document
from sinew.app.jobs.job import form_class, job_of_form
from sinew.app.jobs.options import Size
from sinew.app.jobs.sweep import CAPTION, TIME_COLUMN, SweepJob, columns_of_sheet
from sinew.app.project.access import FileAccess
from sinew.app.project.project_json import ProjectError
from sinew.app.session.job_queue import CANCELLED, FAILED, RUNNING, JobQueue, OutputJob
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.cache.sweep import SweepAxis, SweepError, axis_of, combinations
from sinew.sim.export.formats import IMAGE_WRITERS
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect, Param, ParamError, Role, Scale, params_of, value_text
from sinew.sim.scene.scene import Node, NodeId, ParamRef, Scene
from sinew.widgets.inspector.editors import SettingsForm
from sinew.widgets.parts import EmptyState, Pages, packed
from sinew.widgets.sweep_map import SweepCell, SweepMap
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, SPACE_WIDE

PICTURE = 320, 240  # [px]

OTHERS = ("steps", "stable", "problem")


@dataclass(frozen=True, slots=True)
class SweepResult:
    values: tuple[Any, ...]  # In the order of the axes
    characters: dict[str, float]  # Time [ms/step] and measures by name; NaN if unknown
    steps: int
    problem: str  # Why the run ended early; "" if it did not
    picture: npt.NDArray[np.uint8]  # Image of the last step, shape (H, W, 3)


def axes_of(scene: Scene, node: NodeId, wanted: Sequence[tuple[str, str]]) -> list[SweepAxis]:
    """Returns the axes of a sweep; raises SweepError if values are invalid or too many, ParamError if refused."""
    axes = [axis_of(scene, f"{node}.{name}={values}") for name, values in wanted]
    combinations(axes)
    return axes


class SweepTask(QObject):
    """Task that runs one sweep at a time in another process."""

    progressed = Signal(str, float)  # Text and fraction 0 to 1; an empty text at the end
    done = Signal(list)  # The results in the order of the combinations; empty if cancelled
    failed = Signal(str)  # One line for the user

    def __init__(self, document: Document, access: FileAccess, client: ViewportRenderer) -> None:
        super().__init__()
        self._client = client
        self._axes: list[SweepAxis] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._queue = JobQueue(document, access, self)
        self._queue.changed.connect(self._on_changed)
        self._queue.written.connect(lambda _path, _note: self._read())
        self._queue.failed.connect(lambda _path, reason: self.failed.emit(reason))

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def start(self, axes: Sequence[SweepAxis], wanted: Sequence[str], steps: int, where: Any) -> None:
        """Starts a sweep; `wanted` holds one or two axes, "node.setting=values", `steps` is the length of each run.

        Args:
            where: A form of `SweepJob`.
        """
        if self.busy:
            return
        try:
            folder, project = self._queue.snapshot(is_shared=bool(where.scheduler))
        except ProjectError as error:
            self.failed.emit(str(error))
            return
        self._axes = list(axes)
        self._folder = tempfile.TemporaryDirectory(prefix="sinew-sweep-", ignore_cleanup_errors=True)
        job = job_of_form(
            SweepJob, where, project=project, axes=tuple(wanted), steps=steps, output=self._table,
            pictures=self._sheet, size=Size(*PICTURE), backend=self._client.back_end,
        )  # fmt: skip
        self._queue.add(OutputJob(self._table, self._queue.for_copy(job), folder))

    def cancel(self) -> None:
        self._queue.cancel_all()

    @property
    def _table(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / "table.csv"

    @property
    def _sheet(self) -> Path:
        return self._table.with_name(f"sheet{IMAGE_WRITERS.suffixes()[0]}")

    def _on_changed(self, job: OutputJob) -> None:
        self.progressed.emit("Sweep" if job.state == RUNNING else "", job.share)
        if job.state in (CANCELLED, FAILED) and self._folder is not None:
            self._folder.cleanup()
        if job.state == CANCELLED:
            self.done.emit([])

    def _read(self) -> None:
        """Reads the table, and splits the sheet of images."""
        assert self._folder is not None
        with self._table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with Image.open(self._sheet) as picture:
            sheet = np.asarray(picture.convert("RGB"))
        self._folder.cleanup()
        across, (width, height) = columns_of_sheet(self._axes), PICTURE
        labels = {axis.label for axis in self._axes}
        tried = []
        for number, (values, row) in enumerate(zip(combinations(self._axes), rows, strict=True)):
            x, y = number % across * width, number // across * (height + CAPTION)
            characters = {k: float(v) if v else math.nan for k, v in row.items() if k not in labels and k not in OTHERS}
            characters = {TIME_COLUMN: characters.pop(TIME_COLUMN), **characters}
            shown = np.ascontiguousarray(sheet[y : y + height, x : x + width])
            tried.append(SweepResult(tuple(values), characters, int(row["steps"]), row["problem"], shown))
        self.done.emit(tried)


def in_words(axes: Sequence[SweepAxis], values: Sequence[Any]) -> str:
    """Returns values as text, such as "Cape.substeps 8, Cape.wind_speed 3"."""
    return ", ".join(f"{axis.label} {value_text(value)}" for axis, value in zip(axes, values, strict=True))


HABITS = "from:to:count, from:to:log:count, or a list such as 4, 8, 16"
STEPS, STEPS_MAX = 120, 36000
_HINT = "Start simulates all combinations and colours each by its result; a click applies its values."


class SweepWindow(QDialog):
    def __init__(self, document: Document, sweeping: SweepTask, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._sweeping = document, sweeping
        self._node = ""
        self._axes: list[SweepAxis] = []
        self._tried: list[SweepResult] = []
        self.names, self.values = (QComboBox(), QComboBox()), (QLineEdit(), QLineEdit())
        self.steps = QSpinBox(minimum=1, maximum=STEPS_MAX, value=STEPS)
        self.run_form = SettingsForm(form_class(SweepJob)())
        self.start_button, self.cancel_button = QPushButton("Start"), QPushButton("Cancel")
        self.bar, self.reported = QProgressBar(maximum=100), QLabel()
        self.reported.setWordWrap(True)
        self.map, self.measure, self.picture = SweepMap(), QComboBox(), QLabel()
        self.picture.setFixedSize(*PICTURE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.facts = QLabel()
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.results = QWidget()
        self.pages = Pages(EmptyState("grid", "No runs yet", _HINT), self.results)
        self._arrange()
        for number, name in enumerate(self.names):
            name.currentIndexChanged.connect(lambda _, number=number: self._offer_values(number))
            self.values[number].textChanged.connect(lambda _: self._check())
        self.start_button.clicked.connect(self.start)
        self.cancel_button.clicked.connect(sweeping.cancel)
        self.measure.currentIndexChanged.connect(lambda _: self._show_map())
        self.map.pointed.connect(self._show_cell)
        self.map.chosen.connect(self.take)
        sweeping.progressed.connect(self._show_progress)
        sweeping.done.connect(self._show_tried)
        sweeping.failed.connect(self.reported.setText)
        document.changed.connect(self._on_changed)
        self._show_progress("", 0.0)

    def _on_changed(self, change: Change) -> None:
        """Deletes the results when another project is opened."""
        if change.kind is ChangeKind.REPLACED:
            self._sweeping.cancel()
            self._node = ""
            self._show_tried([])
            self.close()

    def _arrange(self) -> None:
        form = QGridLayout()
        for number, title in enumerate(("Rows", "Columns")):
            form.addWidget(QLabel(title), number, 0)
            form.addWidget(self.names[number], number, 1)
            form.addWidget(self.values[number], number, 2)
            self.names[number].setAccessibleName(f"Setting of the {title.lower()}")
            self.values[number].setAccessibleName(f"Values of the {title.lower()}")
            self.values[number].setToolTip(f"Values: {HABITS}.")
        form.addWidget(QLabel("Steps"), 2, 0)
        form.addWidget(self.steps, 2, 1)
        habits = QLabel(HABITS)
        habits.setEnabled(False)
        form.addWidget(habits, 2, 2)
        form.setColumnStretch(2, 1)
        work = packed(QHBoxLayout(), (self.reported, 1), self.bar, self.start_button, self.cancel_button, spacing=SPACE)
        beside = packed(QVBoxLayout(), self.picture, (self.facts, 1), spacing=SPACE)
        shown = packed(QHBoxLayout(), (self.map, 1), beside, spacing=SPACE_WIDE)
        coloured = packed(QHBoxLayout(), QLabel("Colours"), (self.measure, 1), spacing=SPACE)
        packed(QVBoxLayout(self.results), coloured, (shown, 1), spacing=SPACE)
        packed(QVBoxLayout(self), form, self.run_form, work, (self.pages, 1), spacing=SPACE, margins=SPACE_WIDE)
        self.resize(self.fontMetrics().height() * 64, self.fontMetrics().height() * 40)

    # --- setup ----------------------------------------------------------------------------------------

    def open_for(self, node: Node | None) -> None:
        """Opens the window for a node; shows a hint if it is not simulated."""
        if node is not None and node.id != self._node and not self._sweeping.busy:
            self._node = node.id
            self.setWindowTitle(f"Sweep: {node.name}")
            records = sweepable(node)
            for number, name in enumerate(self.names):
                name.blockSignals(True)
                name.clear()
                if number:
                    name.addItem("None", None)
                for record in records:
                    name.addItem(record.label, record)
                    name.setItemData(name.count() - 1, record.tooltip, Qt.ItemDataRole.ToolTipRole)
                name.setCurrentIndex(0 if number else _first_choice(records))
                name.blockSignals(False)
                self._offer_values(number)
            self._show_tried([])
        self._check()
        self.show()
        self.raise_()

    def _offer_values(self, number: int) -> None:
        record: Param | None = self.names[number].currentData()
        node = self._document.scene.by_id.get(self._node)
        self.values[number].setEnabled(record is not None)
        offered = offered_values(record, getattr(node.settings, record.name)) if record is not None and node else ""
        self.values[number].setText(offered)
        self._check()

    def _wanted(self) -> list[tuple[str, str]]:
        chosen = [(name.currentData(), value.text()) for name, value in zip(self.names, self.values, strict=True)]
        return [(record.name, text.replace(", ", ",")) for record, text in chosen if record is not None]

    def _check(self) -> list[SweepAxis]:
        """Returns the axes; shows why they are not valid."""
        axes: list[SweepAxis] = []
        try:
            if not self._document.scene.has(self._node):
                raise SweepError("The node was removed; select a simulated node")
            axes = axes_of(self._document.scene, self._node, self._wanted())
            text = f"{math.prod(len(axis.values) for axis in axes)} runs"
        except (SweepError, ParamError) as error:
            text = str(error)
        if not self._sweeping.busy:
            self.reported.setText(label_text(text))
        self.start_button.setEnabled(bool(axes) and not self._sweeping.busy)
        return axes

    def start(self) -> None:
        axes = self._check()
        if axes and not self._sweeping.busy:
            self._show_tried([])
            self._axes = axes
            wanted = [f"{self._node}.{name}={values}" for name, values in self._wanted()]
            self._sweeping.start(axes, wanted, self.steps.value(), self.run_form.settings)
            self._check()

    # --- results --------------------------------------------------------------------------------------

    def take(self, number: int) -> None:
        """Applies the values of a cell as one undo entry."""
        values = self._tried[number].values
        if self._document.scene.has(self._axes[0].ref.owner):
            changes: dict[ParamRef, Any] = {axis.ref: value for axis, value in zip(self._axes, values, strict=True)}
            self._document.set_as_one(f"Apply {in_words(self._axes, values)}", changes)
            self.reported.setText(label_text(f"Applied: {in_words(self._axes, values)}"))

    def _show_progress(self, text: str, share: float) -> None:
        self.bar.setVisible(bool(text))
        self.bar.setValue(round(share * 100.0))
        self.cancel_button.setVisible(bool(text))
        self.start_button.setVisible(not text)
        if text:
            self.reported.setText(text)

    def _show_tried(self, tried: Sequence[SweepResult]) -> None:
        self._tried = list(tried)
        self.pages.setCurrentIndex(1 if tried else 0)
        chosen = self.measure.currentText()
        self.measure.blockSignals(True)
        self.measure.clear()
        self.measure.addItems(list(dict.fromkeys(name for one in tried for name in one.characters)))
        self.measure.setCurrentIndex(max(self.measure.findText(chosen), 0))
        self.measure.blockSignals(False)
        self._show_map()
        self._show_cell(-1)
        self._check()
        if tried:
            stopped = sum(bool(one.problem) for one in tried)
            self.reported.setText(f"{len(tried)} runs, {stopped} of them stopped; a click takes values over")

    def _show_map(self) -> None:
        name = self.measure.currentText()
        cells = [
            SweepCell(
                f"{one.characters.get(name, math.nan):.3g}" if not one.problem else "stopped",
                one.characters.get(name, math.nan), not one.problem, in_words(self._axes, one.values),
            )
            for one in self._tried
        ]  # fmt: skip
        if not cells:
            self.map.show_cells(("", ""), (), (), ())
            return
        texts = [[_short(value) for value in axis.values] for axis in self._axes]
        labels = [axis.label for axis in self._axes]
        if len(texts) > 1:
            self.map.show_cells((labels[0], labels[1]), texts[0], texts[1], cells)
        else:
            self.map.show_cells((labels[0], ""), texts[0], ("",), cells)

    def _show_cell(self, number: int) -> None:
        """Shows the image and the measures of a cell; -1 shows no cell."""
        if number < 0:
            self.picture.clear()
            self.facts.setText("")
            return
        one = self._tried[number]
        height, width = one.picture.shape[:2]
        image = QImage(one.picture.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888)
        self.picture.setPixmap(QPixmap.fromImage(image))
        characters = [f"{name}: {value:.4g}" for name, value in one.characters.items() if math.isfinite(value)]
        lines = [in_words(self._axes, one.values), f"{one.steps} steps", *characters]
        self.facts.setText("\n".join([*lines, one.problem] if one.problem else lines))


def _first_choice(records: Sequence[Param]) -> int:
    """Returns the first offered setting: if possible, one that needs no restart and spans orders of magnitude."""
    live = [number for number, record in enumerate(records) if record.declared.effect is Effect.STEP]
    return next((number for number in live if records[number].declared.scale is Scale.LOG), next(iter(live), 0))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else value_text(value)


def sweepable(node: Node) -> list[Param]:
    """Returns the settings that a sweep can vary: numbers, switches and choices that affect steps."""
    if not KINDS[node.kind].system:
        return []
    records = [r for r in params_of(type(node.settings)) if r.declared.effect not in (Effect.VIEW, Effect.POSE)]
    idle = KINDS[node.kind].part(Form).idle(node)
    plain = [r for r in records if r.declared.role is Role.PLAIN and r.name not in idle and not r.optional]
    numbers = [record for record in plain if record.type in (int, float)]
    return numbers + [r for r in plain if r.type is bool or isinstance(r.default, enum.Enum)]


def offered_values(record: Param, value: Any) -> str:
    """Returns values around the current one as text."""
    if record.type is bool:
        return "off, on"
    if isinstance(value, enum.Enum):
        return ", ".join(str(one.value) for one in type(value))
    lo, hi = record.declared.lo, record.declared.hi
    if value > 0:
        first, last = max(value / 4, lo or 0.0), min(value * 4, hi if hi is not None else math.inf)
        return f"{first:.3g}:{last:.3g}:log:5" if first > 0 else f"{first:.3g}:{last:.3g}:5"
    soft = record.declared.soft or (lo if lo is not None else value - 1.0, hi if hi is not None else value + 1.0)
    return f"{soft[0]:.3g}:{soft[1]:.3g}:5"
