"""Runs sweeps in a process of its own, on the project as it stands, and reads what came of them."""

import csv
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtCore import QObject, Signal

from app.cli.sweep import CAPTION, TIME_COLUMN, columns_of_sheet
from app.document.document import Document
from app.files.access import FileAccess
from app.files.project_json import ProjectError
from app.output.jobs import CANCELLED, FAILED, RUNNING, JobQueue, OutputJob
from app.viewport.renderer import ViewportRenderer
from sim.cache.sweep import SweepAxis, axis_of, combinations
from sim.export.formats import IMAGE_WRITERS
from sim.scene.params import value_text
from sim.scene.scene import NodeId, Scene

PICTURE = 320, 240
"""Size of the pictures [px]."""

OTHERS = ("steps", "stable", "problem")


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What came of one combination.

    Attributes:
        values: Of the settings, in the order of the axes.
        characters: Time [ms/step] and measures, by name; NaN for what is not known.
        steps: How many were done.
        problem: Why it ended early; "" where it did not.
        picture: Of the last step, shape (H, W, 3).
    """

    values: tuple[Any, ...]
    characters: dict[str, float]
    steps: int
    problem: str
    picture: npt.NDArray[np.uint8]


def axes_of(scene: Scene, node: NodeId, wanted: Sequence[tuple[str, str]]) -> list[SweepAxis]:
    """The axes of settings of a node, by name with their values as text.

    Raises:
        SweepError: If values mean nothing, or there are too many.
        ParamError: If a setting refuses a value.
    """
    axes = [axis_of(scene, f"{node}.{name}={values}") for name, values in wanted]
    combinations(axes)
    return axes


class SweepTask(QObject):
    """One sweep at a time.

    Signals:
        progressed: What is done, and the share of it, 0 to 1; an empty text when it is over.
        done: What was tried, in the order of the combinations; nothing where it was given up.
        failed: One line why there is nothing.
    """

    progressed = Signal(str, float)
    done = Signal(list)
    failed = Signal(str)

    def __init__(self, document: Document, access: FileAccess, client: ViewportRenderer) -> None:
        super().__init__()
        self._client = client
        self._axes: list[SweepAxis] = []
        self._folder: tempfile.TemporaryDirectory | None = None
        self._queue = JobQueue(document, access, self)
        self._queue.changed.connect(self._on_changed)
        self._queue.written.connect(lambda _path, _note: self._read())
        self._queue.failed.connect(lambda _path, reason: self.failed.emit(reason))

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def start(self, axes: Sequence[SweepAxis], wanted: Sequence[str], steps: int) -> None:
        """Begins.

        Args:
            axes: One or two.
            wanted: The same as text, "node.setting=values".
            steps: Of a run.
        """
        if self.busy:
            return
        try:
            folder, project = self._queue.snapshot()
        except ProjectError as error:
            self.failed.emit(str(error))
            return
        self._axes = list(axes)
        self._folder = tempfile.TemporaryDirectory(prefix="sinew-sweep-", ignore_cleanup_errors=True)
        words = ["sweep", str(project), "--steps", str(steps), "--output", str(self._table), "--pictures"]
        words += [str(self._sheet), "--size", "x".join(map(str, PICTURE)), "--backend", self._client.back_end]
        for text in wanted:
            words += ["--set", text]
        self._queue.add(OutputJob(self._table, words, folder))

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
        self.progressed.emit("SweepTask" if job.state == RUNNING else "", job.share)
        if job.state in (CANCELLED, FAILED) and self._folder is not None:
            self._folder.cleanup()
        if job.state == CANCELLED:
            self.done.emit([])

    def _read(self) -> None:
        """Takes table and pictures apart."""
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
    """A combination, such as "Cape.substeps 8, Cape.wind_speed 3"."""
    return ", ".join(f"{axis.label} {value_text(value)}" for axis, value in zip(axes, values, strict=True))
