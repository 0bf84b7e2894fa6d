"""Timings as CSV: a row for each frame and pass, below comment lines with the conditions of the measurement.

Several runs of a pass in one frame are one row with their sum and the number of runs.  Lost times are empty cells.
Times of frames count from the first frame.  Columns are found by their names, so that older files, newer ones with
more columns, and files that a spreadsheet has stored again can be read.
"""

import csv
import io
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from sinew.sim.assets.faults import quoted
from sinew.sim.assets.raw import LoadWatch
from sinew.sim.export.atomic_file import atomic_file
from sinew.sim.printable import cell_text, text_of_cell
from sinew.sim.profile.history import ENDLESS, FRAMES_MAX, QuantityHistory, TimingRecording, conditions, status_of
from sinew.sim.profile.sample import SEPARATOR, FrameSample, SceneMoment, Slice, TimeSource, parent_of

FORMAT = "sinew-timings"
VERSION = 1
FRAME, BEGIN, INTERVAL = "frame", "begin_s", "interval_ms"
STEP, TIME, CLIP, CLIP_FRAME = "step", "time_s", "clip", "animation_frame"
PASS, RUNS, PASS_BEGIN, GPU_BEGIN = "pass", "runs", "pass_begin_ms", "gpu_begin_ms"
GPU, CPU, SOURCE, LATENCY = "gpu_ms", "cpu_ms", "source", "latency_frames"
COLUMNS = (
    FRAME, BEGIN, INTERVAL, STEP, TIME, CLIP, CLIP_FRAME,
    PASS, RUNS, PASS_BEGIN, GPU_BEGIN, GPU, CPU, SOURCE, LATENCY,
)  # fmt: skip
NEEDED = (FRAME, BEGIN, PASS, GPU, CPU, SOURCE)
"""Columns that every version needs."""

BYTES_MAX = 512 * 1024 * 1024
PASSES_MAX = 500
PATH_LENGTH_MAX = 500
DEPTH_MAX = 32
COMMENTS_MAX = 100
_WHOLE_MAX = 2**53
_SOURCES = {source.value: source for source in TimeSource}


def write_csv(path: Path, recording: TimingRecording, watch: LoadWatch | None = None) -> None:
    """Writes timings to a file that appears complete or not at all; `watch` counts frames.

    Raises:
        OSError: If the file cannot be written.
        sinew.sim.assets.raw.LoadCancelled: If the watch cancels.
    """
    watch = watch or LoadWatch()
    watch.total = len(recording.samples)
    with atomic_file(path) as binary:
        text = io.TextIOWrapper(binary, "utf-8", newline="")
        text.write(f"# {FORMAT} {VERSION}\n")
        text.writelines(f"# {name}: {' '.join(value.split())}\n" for name, value in conditions(recording).items())
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for sample in recording.samples:
            writer.writerows(_cells(sample, recording.samples[0].begin))
            watch.advance(1)
        text.flush()
        text.detach()
    watch.finish()


def _cells(sample: FrameSample, origin: float) -> Iterator[list[object]]:
    moment = sample.moment
    frame: list[object] = [
        sample.number, f"{sample.begin - origin:.9f}", _ms(sample.interval),
        moment.step, f"{moment.time:.9f}", cell_text(moment.clip), _cell(moment.clip_frame, 4),
    ]  # fmt: skip
    last: list[object] = [sample.source.value, sample.latency]
    passes: dict[str, list[Slice]] = {}
    for part in sample.slices:
        passes.setdefault(part.path, []).append(part)
    for path, runs in passes.items():
        gpu, cpu = sum(run.gpu for run in runs), sum(run.cpu for run in runs)
        times = [_ms(time) for time in (runs[0].begin, runs[0].gpu_begin, gpu, cpu)]
        yield [*frame, cell_text(path), len(runs), *times, *last]
    if not sample.slices:
        yield [*frame, "", 0, "", "", "", "", *last]


def _ms(seconds: float) -> str:
    return _cell(seconds * 1e3, 6)


def _cell(value: float, decimals: int) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


class TimingsFileError(Exception):
    """Error about timings in one line that names file, row and reason."""


class _RowFault(ValueError):
    """Error that describes the current row."""


class _Lines:
    """Lines below the comments "# name: value"; `number` counts the last line from 1, `texts` has the comments."""

    def __init__(self, lines: Iterator[str], watch: LoadWatch) -> None:
        self._lines, self._watch = lines, watch
        self.number = 0
        self.texts: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        in_head = True
        for line in self._lines:
            self.number += 1
            self._watch.advance(len(line))
            in_head = in_head and line.startswith("#") and self.number <= COMMENTS_MAX
            if in_head:
                name, _, value = line[1:].rstrip(",; \r\n").partition(":")
                self.texts[name.strip()] = value.strip()
            else:
                yield line


class _Row:
    """Row of cells by the names of their columns; a missing column counts as empty cells."""

    def __init__(self, columns: dict[str, int], cells: list[str]) -> None:
        self._columns, self._cells = columns, cells

    def text(self, name: str) -> str:
        index = self._columns.get(name, len(self._cells))
        return self._cells[index] if index < len(self._cells) else ""

    def number(self, name: str, *, signed: bool = False) -> float:
        """Returns a finite number; NaN for an empty cell."""
        text = self.text(name).strip()
        if not text:
            return math.nan
        try:
            value = float(text)
        except ValueError:
            value = math.inf
        if not math.isfinite(value) or (value < 0.0 and not signed):
            raise _RowFault(f"{name} is {quoted(text)}, must be a {'' if signed else 'positive '}number")
        return value

    def whole(self, name: str) -> int:
        """Returns a whole number; 0 for an empty cell."""
        value = self.number(name)
        if math.isnan(value):
            return 0
        if value != int(value) or value > _WHOLE_MAX:
            raise _RowFault(f"{name} is {quoted(self.text(name))}, must be a whole number")
        return int(value)


def read_csv(path: Path, watch: LoadWatch | None = None) -> TimingRecording:
    """Reads a recording with the name that it was written with; `watch` counts characters.

    Raises:
        TimingsFileError: If the file cannot be read or holds no timings.
        sinew.sim.assets.raw.LoadCancelled: If the watch cancels.
    """
    watch = watch or LoadWatch()
    try:
        watch.total = path.stat().st_size
        if watch.total > BYTES_MAX:
            raise TimingsFileError(f"{path}: {watch.total} bytes, at most {BYTES_MAX} can be read")
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = _Lines(file, watch)
            try:
                history = _history(csv.reader(lines))
            except (_RowFault, csv.Error) as fault:
                raise TimingsFileError(f"{path}: row {lines.number}: {fault}") from fault
    except OSError as error:
        raise TimingsFileError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TimingsFileError(f"{path}: is no text in UTF-8") from error
    watch.finish()
    samples, name = tuple(history.samples), lines.texts.get("recording", "") or path.stem
    return TimingRecording(name, samples, status_of(lines.texts, samples[-1].source), str(path), history)


def _history(rows: Iterator[list[str]]) -> QuantityHistory:
    """Returns the frames; rows that follow each other with the same number are one."""
    names = [name.strip() for name in next(rows, [])]
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise _RowFault(f"is no file of timings: there is no column {quoted(missing[0])}")
    columns = {name: names.index(name) for name in COLUMNS if name in names}
    history, paths = QuantityHistory(ENDLESS), set[str]()
    filled = (_Row(columns, cells) for cells in rows if any(cells))
    for _, frame in itertools.groupby(filled, key=lambda row: row.text(FRAME)):
        history.append(_sample(frame, history, paths))
    if not len(history):
        raise _RowFault("there are no frames")
    return history


def _sample(rows: Iterator[_Row], history: QuantityHistory, paths: set[str]) -> FrameSample:
    """Reads a frame, whose first row has the facts of all passes; adds its passes to `paths`."""
    row = next(rows)
    if len(history) == FRAMES_MAX:
        raise _RowFault(f"more than {FRAMES_MAX} frames")
    source = _SOURCES.get(row.text(SOURCE))
    if source is None:
        raise _RowFault(f"{SOURCE} is {quoted(row.text(SOURCE))}, must be one of {', '.join(_SOURCES)}")
    begin = row.number(BEGIN)
    if math.isnan(begin) or (len(history) and begin < history[-1].begin):
        raise _RowFault(f"{BEGIN} is {quoted(row.text(BEGIN))}, frames must follow each other")
    number, interval = row.whole(FRAME), row.number(INTERVAL) * 1e-3
    time = row.number(TIME, signed=True)
    moment = SceneMoment(
        step=row.whole(STEP),
        time=0.0 if math.isnan(time) else time,
        clip=text_of_cell(row.text(CLIP)),
        clip_frame=row.number(CLIP_FRAME, signed=True),
    )
    latency = row.whole(LATENCY)
    slices: dict[str, Slice] = {}
    for part in itertools.chain([row], rows):
        if path := text_of_cell(part.text(PASS)):
            if path in slices:
                raise _RowFault(f"pass {quoted(path)} is there twice in frame {number}")
            if parent_of(path) and parent_of(path) not in slices:
                raise _RowFault(f"pass {quoted(path)} comes without the pass {quoted(parent_of(path))} it is a part of")
            _check_path(path, paths)
            slices[path] = _slice(part, path)
    return FrameSample(number, begin, interval, moment, tuple(slices.values()), source, latency)


def _slice(row: _Row, path: str) -> Slice:
    begin, gpu_begin, gpu, cpu = (
        row.number(name, signed=name == GPU_BEGIN) * 1e-3 for name in (PASS_BEGIN, GPU_BEGIN, GPU, CPU)
    )
    if math.isnan(cpu):
        raise _RowFault(f"{CPU} is empty")
    return Slice(path, 0.0 if math.isnan(begin) else begin, cpu, gpu_begin, gpu)


def _check_path(path: str, paths: set[str]) -> None:
    if path in paths:
        return
    if len(path) > PATH_LENGTH_MAX or path.count(SEPARATOR) >= DEPTH_MAX or not all(path.split(SEPARATOR)):
        raise _RowFault(f"{quoted(path)} is no name of a pass")
    if len(paths) == PASSES_MAX:
        raise _RowFault(f"more than {PASSES_MAX} passes")
    paths.add(path)
