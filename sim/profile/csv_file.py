"""Timings as CSV: a row for each frame and pass, below comment lines that say how they were measured.

Several runs of a pass in one frame are one row with their sum, and the number of runs beside it. Times that were lost
are empty cells. Times of frames count from the first frame.
"""

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path

from sim.assets.load_watch import LoadWatch
from sim.export.atomic_file import atomic_file
from sim.profile import csv_columns
from sim.profile.recording import Recording, conditions
from sim.profile.sample import FrameSample, Slice


def write_csv(path: Path, recording: Recording, watch: LoadWatch | None = None) -> None:
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
        text.write(f"# {csv_columns.FORMAT} {csv_columns.VERSION}\n")
        text.writelines(f"# {name}: {_one_line(value)}\n" for name, value in conditions(recording).items())
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(csv_columns.COLUMNS)
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
        moment.step, f"{moment.time:.9f}", moment.clip, _cell(moment.clip_frame, 4),
    ]  # fmt: skip
    last: list[object] = [sample.source.value, sample.latency]
    for runs, one in merged_runs(sample).values():
        times = [_ms(time) for time in (one.begin, one.gpu_begin, one.gpu, one.cpu)]
        yield [*frame, one.path, runs, *times, *last]
    if not sample.slices:
        yield [*frame, "", 0, "", "", "", "", *last]


def _ms(seconds: float) -> str:
    return _cell(seconds * 1e3, 6)


def _cell(value: float, decimals: int) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
