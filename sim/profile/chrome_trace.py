"""Chrome's trace event format, which Perfetto and chrome://tracing open.

The file is a JSON object with "traceEvents" (Duffy, "Trace Event Format", 2016): metadata events name process and
tracks, passes are complete events ("X") with begin and duration in microseconds, and every frame has a mark.
Slices of one track nest without exception, also after rounding to nanoseconds: a part never leaves its pass, and
neighbours never overlap.
"""

import functools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sinew.sim.assets.raw import LoadWatch
from sinew.sim.export.atomic_file import atomic_file
from sinew.sim.profile.history import TimingRecording, conditions, source_text
from sinew.sim.profile.sample import SEPARATOR, FrameSample, Slice, name_of

PROCESS = 1
FRAMES, CPU, GPU = 1, 2, 3
_NS = 1e9

Arguments = dict[str, Any]


def write_chrome_trace(path: Path, recording: TimingRecording, watch: LoadWatch | None = None) -> None:
    """Writes a trace, which appears complete or not at all; `watch` counts frames.

    Raises:
        OSError: If the file cannot be written.
        sinew.sim.assets.raw.LoadCancelled: If the watch cancels.
    """
    watch = watch or LoadWatch()
    watch.total = len(recording.samples)
    with atomic_file(path) as file:
        about = _json(conditions(recording))
        file.write(f'{{"displayTimeUnit": "ms",\n"otherData": {about},\n"traceEvents": [\n'.encode())
        file.write(",\n".join(_names(recording)).encode())
        for events in _frames(recording):
            file.write("".join(f",\n{event}" for event in events).encode())
            watch.advance(1)
        file.write(b"\n]}\n")
    watch.finish()


@dataclass
class _Track:
    """A track whose slices are placed so that they nest; times are whole nanoseconds."""

    number: int  # Of the track
    category: str  # Of its slices
    free: int = 0  # Begin of the next outermost slice at the earliest
    # Slices that the next one can be a part of: path, begin of the next part at the earliest, end
    open: list[tuple[str, int, int]] = field(default_factory=list)

    def place(self, path: str, begin: int, length: int) -> tuple[int, int]:
        """Returns begin and length of a slice that comes after all others on the track, or is a part of one of them."""
        while self.open and not path.startswith(self.open[-1][0] + SEPARATOR):
            self.open.pop()
        earliest, latest = (self.open[-1][1], self.open[-1][2]) if self.open else (self.free, None)
        begin = max(begin, earliest)
        end = begin + max(length, 0)
        if latest is not None:
            begin, end = min(begin, latest), min(end, latest)
            self.open[-1] = (self.open[-1][0], end, latest)
        else:
            self.free = end
        self.open.append((path, begin, end))
        return begin, end - begin

    def end_frame(self) -> None:
        self.open.clear()


def _names(recording: TimingRecording) -> Iterator[str]:
    gpu = f"GPU ({source_text(recording.samples) or 'nothing'})"
    named = {FRAMES: "Frames", CPU: "CPU (Python and driver)", GPU: gpu}
    yield _named("process_name", 0, {"name": f"Sinew: {recording.name}"})
    for track, name in named.items():
        yield _named("thread_name", track, {"name": name})
        yield _named("thread_sort_index", track, {"sort_index": track})


def _named(what: str, track: int, arguments: Arguments) -> str:
    return _json({"ph": "M", "name": what, "pid": PROCESS, "tid": track, "args": arguments})


def _frames(recording: TimingRecording) -> Iterator[list[str]]:
    cpu, gpu = _Track(CPU, "cpu"), _Track(GPU, "gpu")
    for sample in recording.samples:
        start = round((sample.begin - recording.samples[0].begin) * _NS)
        about = _json(_about(sample))[1:-1]
        events = [_mark(sample, start)]
        for part in sample.slices:
            events.append(_slice(cpu, part, start, part.begin, part.cpu, about))
            if not math.isnan(part.gpu) and not math.isnan(part.gpu_begin):
                events.append(_slice(gpu, part, start, part.gpu_begin, part.gpu, about))
        cpu.end_frame()
        gpu.end_frame()
        yield events


def _mark(sample: FrameSample, start: int) -> str:
    interval = None if math.isnan(sample.interval) else round(sample.interval * 1e3, 6)
    more = {"clip": sample.moment.clip, "interval_ms": interval, "latency_frames": sample.latency}
    return _json({
        "ph": "i", "s": "p", "name": f"Frame {sample.number}", "cat": "frame",
        "pid": PROCESS, "tid": FRAMES, "ts": start / 1e3, "args": {**_about(sample), **more},
    })  # fmt: skip


def _slice(track: _Track, part: Slice, start: int, begin: float, length: float, about: str) -> str:
    """Returns the JSON of a slice without the JSON encoder: there may be a million slices."""
    ts, dur = track.place(part.path, start + round(begin * _NS), round(length * _NS))
    gpu_ms = "null" if math.isnan(part.gpu) else f"{part.gpu * 1e3:.6f}"
    return (
        f'{{"ph": "X", "name": {_text(name_of(part.path))}, "cat": "{track.category}", "pid": {PROCESS}, '
        f'"tid": {track.number}, "ts": {ts / 1e3:.3f}, "dur": {dur / 1e3:.3f}, "args": {{"pass": {_text(part.path)}, '
        f'{about}, "gpu_ms": {gpu_ms}, "cpu_ms": {part.cpu * 1e3:.6f}}}}}'
    )


def _about(sample: FrameSample) -> Arguments:
    moment = sample.moment
    return {
        "frame": sample.number,
        "step": moment.step,
        "animation_frame": None if math.isnan(moment.clip_frame) else round(moment.clip_frame, 4),
        "source": sample.source.value,
    }


@functools.lru_cache(maxsize=4096)
def _text(text: str) -> str:
    return _json(text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
