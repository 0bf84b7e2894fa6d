"""Timings as CSV: a row for each frame and pass, below comment lines that say how they were measured.

Several runs of a pass in one frame are one row with their sum, and the number of runs beside it. Times that were lost
are empty cells. Times of frames count from the first frame. Columns are found by their names, so that older files,
newer ones with more columns, and those that a spreadsheet has stored again can be read.
"""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sim.assets.faults import quoted
from sim.assets.raw import LoadWatch
from sim.export.atomic_file import atomic_file
from sim.printable import cell_text, text_of_cell
from sim.profile.history import FRAMES_MAX
from sim.profile.recording import TimingRecording, conditions, status_of
from sim.profile.sample import SEPARATOR, FrameSample, SceneMoment, Slice, TimeSource, parent_of

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
"""What no version can do without."""

BYTES_MAX = 512 * 1024 * 1024
PASSES_MAX = 500
PATH_LENGTH_MAX = 500
DEPTH_MAX = 32
COMMENTS_MAX = 100
_WHOLE_MAX = 2**53
_SOURCES = {source.value: source for source in TimeSource}


def write_csv(path: Path, recording: TimingRecording, watch: LoadWatch | None = None) -> None:
    """Writes a recording; the file appears complete or not at all.

    Args:
        path: File to write.
        recording: What to write.
        watch: Told how far it is, and asked whether to go on; counts frames.

    Raises:
        OSError: If the file cannot be written.
        sim.assets.raw.LoadCancelled: If the watch says so.
    """
    watch = watch or LoadWatch()
    watch.total = len(recording.samples)
    with atomic_file(path) as binary:
        text = io.TextIOWrapper(binary, "utf-8", newline="")
        text.write(f"# {FORMAT} {VERSION}\n")
        text.writelines(f"# {name}: {_one_line(value)}\n" for name, value in conditions(recording).items())
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for sample in recording.samples:
            writer.writerows(_rows(sample, recording.samples[0].begin))
            watch.advance(1)
        text.flush()
        text.detach()
    watch.finish()


def merged_runs(sample: FrameSample) -> dict[str, tuple[int, Slice]]:
    """Runs of each pass and their sum, which begins where the first of them does."""
    merged: dict[str, tuple[int, Slice]] = {}
    for one in sample.slices:
        runs, before = merged.get(one.path, (0, None))
        merged[one.path] = (runs + 1, one if before is None else _sum(before, one))
    return merged


def _sum(first: Slice, more: Slice) -> Slice:
    return Slice(first.path, first.begin, first.cpu + more.cpu, first.gpu_begin, first.gpu + more.gpu)


def _rows(sample: FrameSample, origin: float) -> Iterator[list[object]]:
    moment = sample.moment
    frame: list[object] = [
        sample.number, f"{sample.begin - origin:.9f}", _ms(sample.interval),
        moment.step, f"{moment.time:.9f}", cell_text(moment.clip), _cell(moment.clip_frame, 4),
    ]  # fmt: skip
    last: list[object] = [sample.source.value, sample.latency]
    for runs, one in merged_runs(sample).values():
        times = [_ms(time) for time in (one.begin, one.gpu_begin, one.gpu, one.cpu)]
        yield [*frame, cell_text(one.path), runs, *times, *last]
    if not sample.slices:
        yield [*frame, "", 0, "", "", "", "", *last]


def _ms(seconds: float) -> str:
    return _cell(seconds * 1e3, 6)


def _cell(value: float, decimals: int) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


class TimingsFileError(Exception):
    """A file that cannot be read as timings; one line that names file, row and reason."""


class _RowFault(ValueError):
    """What is wrong with the row that is being read."""


def read_csv(path: Path, watch: LoadWatch | None = None) -> TimingRecording:
    """Reads a recording, named as when it was written.

    Args:
        path: The file.
        watch: Told how far it is, and asked whether to go on; counts characters.

    Raises:
        TimingsFileError: If the file cannot be read or is none of ours.
        sim.assets.raw.LoadCancelled: If the watch says so.
    """
    watch = watch or LoadWatch()
    try:
        watch.total = path.stat().st_size
        if watch.total > BYTES_MAX:
            raise TimingsFileError(f"{path}: {watch.total} bytes, at most {BYTES_MAX} can be read")
        with path.open(encoding="utf-8-sig", newline="") as file:
            recording = _TimingsReader(path, watch).read(file)
    except OSError as error:
        raise TimingsFileError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TimingsFileError(f"{path}: is no text in UTF-8") from error
    watch.finish()
    return recording


@dataclass
class _Frame:
    """A frame whose rows are being read."""

    key: str
    number: int
    begin: float
    interval: float
    moment: SceneMoment
    source: TimeSource
    latency: int
    slices: dict[str, Slice] = field(default_factory=dict)

    def sample(self) -> FrameSample:
        slices = tuple(self.slices.values())
        return FrameSample(self.number, self.begin, self.interval, self.moment, slices, self.source, self.latency)


class _TimingsReader:
    """Goes through one file."""

    def __init__(self, path: Path, watch: LoadWatch) -> None:
        self._path, self._watch = path, watch
        self._texts: dict[str, str] = {}
        self._line = 0
        self._paths: set[str] = set()
        self._samples: list[FrameSample] = []
        self._frame: _Frame | None = None

    def read(self, lines: Iterator[str]) -> TimingRecording:
        try:
            rows = csv.reader(self._counted(lines))
            where = self._head(rows)
            for row in rows:
                if any(row):
                    self._take({name: row[index] if index < len(row) else "" for name, index in where.items()})
            self._end_frame()
            if not self._samples:
                raise _RowFault("there are no frames")
        except (_RowFault, csv.Error) as fault:
            raise TimingsFileError(f"{self._path}: row {self._line}: {fault}") from fault
        name = self._texts.get("recording", "") or self._path.stem
        status = status_of(self._texts, self._samples[-1].source)
        return TimingRecording(name, tuple(self._samples), status, str(self._path))

    def _counted(self, lines: Iterator[str]) -> Iterator[str]:
        """The lines below the comments, which are taken in passing."""
        for line in lines:
            self._line += 1
            self._watch.advance(len(line))
            if line.startswith("#") and self._line <= COMMENTS_MAX and not self._samples:
                name, _, value = line[1:].rstrip(",; \r\n").partition(":")
                self._texts[name.strip()] = value.strip()
            else:
                yield line

    def _head(self, rows: Iterator[list[str]]) -> dict[str, int]:
        names = [name.strip() for name in next(rows, [])]
        missing = [name for name in NEEDED if name not in names]
        if missing:
            raise _RowFault(f"is no file of timings: there is no column {quoted(missing[0])}")
        return {name: names.index(name) for name in COLUMNS if name in names}

    def _take(self, row: dict[str, str]) -> None:
        if self._frame is None or self._frame.key != row[FRAME]:
            self._end_frame()
            self._frame = self._begin_frame(row)
        if row[PASS]:
            self._add_pass(self._frame, row, text_of_cell(row[PASS]))

    def _begin_frame(self, row: dict[str, str]) -> _Frame:
        if len(self._samples) == FRAMES_MAX:
            raise _RowFault(f"more than {FRAMES_MAX} frames")
        source = _SOURCES.get(row[SOURCE])
        if source is None:
            raise _RowFault(f"{SOURCE} is {quoted(row[SOURCE])}, must be one of {', '.join(_SOURCES)}")
        begin = _number(row, BEGIN)
        if math.isnan(begin) or (self._samples and begin < self._samples[-1].begin):
            raise _RowFault(f"{BEGIN} is {quoted(row[BEGIN])}, frames must follow each other")
        return _Frame(
            key=row[FRAME],
            number=_whole(row, FRAME),
            begin=begin,
            interval=_number(row, INTERVAL) * 1e-3,
            moment=_moment(row),
            source=source,
            latency=_whole(row, LATENCY),
        )

    def _add_pass(self, frame: _Frame, row: dict[str, str], path: str) -> None:
        if path in frame.slices:
            raise _RowFault(f"pass {quoted(path)} is there twice in frame {frame.number}")
        if parent_of(path) and parent_of(path) not in frame.slices:
            raise _RowFault(f"pass {quoted(path)} comes without the pass {quoted(parent_of(path))} it is a part of")
        self._check_path(path)
        begin, gpu_begin, gpu, cpu = (
            _number(row, name, signed=name == GPU_BEGIN) * 1e-3 for name in (PASS_BEGIN, GPU_BEGIN, GPU, CPU)
        )
        if math.isnan(cpu):
            raise _RowFault(f"{CPU} is empty")
        frame.slices[path] = Slice(path, 0.0 if math.isnan(begin) else begin, cpu, gpu_begin, gpu)

    def _check_path(self, path: str) -> None:
        if path in self._paths:
            return
        if len(path) > PATH_LENGTH_MAX or path.count(SEPARATOR) >= DEPTH_MAX or not all(path.split(SEPARATOR)):
            raise _RowFault(f"{quoted(path)} is no name of a pass")
        if len(self._paths) == PASSES_MAX:
            raise _RowFault(f"more than {PASSES_MAX} passes")
        self._paths.add(path)

    def _end_frame(self) -> None:
        if self._frame is not None:
            self._samples.append(self._frame.sample())


def _moment(row: dict[str, str]) -> SceneMoment:
    time = _number(row, TIME, signed=True)
    return SceneMoment(
        step=_whole(row, STEP),
        time=0.0 if math.isnan(time) else time,
        clip=text_of_cell(row.get(CLIP, "")),
        clip_frame=_number(row, CLIP_FRAME, signed=True),
    )


def _number(row: dict[str, str], name: str, *, signed: bool = False) -> float:
    """A finite number; NaN for an empty cell or a column that is not there."""
    text = row.get(name, "").strip()
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value) or (value < 0.0 and not signed):
        raise _RowFault(f"{name} is {quoted(text)}, must be a {'' if signed else 'positive '}number")
    return value


def _whole(row: dict[str, str], name: str) -> int:
    """A whole number; 0 for an empty cell or a column that is not there."""
    value = _number(row, name)
    if math.isnan(value):
        return 0
    if value != int(value) or value > _WHOLE_MAX:
        raise _RowFault(f"{name} is {quoted(row[name])}, must be a whole number")
    return int(value)
