"""Timings in the trace event format of Chrome, which Perfetto and chrome://tracing open.

The file is a JSON object with "traceEvents" (Duffy, "Trace Event Format", 2016): process and tracks are named by
metadata events, passes are complete events ("X") with begin and duration in microseconds, and every frame has a mark.
Slices of one track nest without exception, also after rounding to nanoseconds: a part never leaves the pass it belongs
to, and neighbours never overlap.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim.assets.load_watch import LoadWatch
from sim.atomic_file import atomic_file
from sim.profile.recording import Recording, conditions, source_text
from sim.profile.sample import SEPARATOR, FrameSample, Slice, name_of

PROCESS = 1
FRAMES, CPU, GPU = 1, 2, 3
"""Numbers of the tracks."""
_NS = 1e9

Event = dict[str, Any]


def write_chrome_trace(path: Path, recording: Recording, watch: LoadWatch | None = None) -> None:
    """Writes a recording as a trace; the file appears complete or not at all.

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
    with atomic_file(path) as file:
        about = json.dumps(conditions(recording), ensure_ascii=False)
        file.write(f'{{"displayTimeUnit": "ms",\n"otherData": {about},\n"traceEvents": [\n'.encode())
        file.write(",\n".join(_text(event) for event in _names(recording)).encode())
        for events in _frames(recording):
            file.write("".join(f",\n{_text(event)}" for event in events).encode())
            watch.advance(1)
        file.write(b"\n]}\n")
    watch.finish()


@dataclass
class _Track:
    """Lays the slices of one track out so that they nest; times are whole nanoseconds.

    Attributes:
        number: Of the track.
        free: Where the next outermost slice may begin.
        open: Slices that the next one can be a part of: path, where the next part may begin, end.
    """

    number: int
    free: int = 0
    open: list[tuple[str, int, int]] = field(default_factory=list)

    def place(self, path: str, begin: int, length: int) -> tuple[int, int]:
        """Begin and length of a slice that comes after all others on the track, or is a part of one of them."""
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
        """The next slice is a part of nothing before."""
        self.open.clear()


def _names(recording: Recording) -> Iterator[Event]:
    gpu = f"GPU ({source_text(recording.samples) or 'nothing'})"
    named = {FRAMES: "Frames", CPU: "CPU (Python and driver)", GPU: gpu}
    yield {"ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": {"name": f"Sinew: {recording.name}"}}
    for track, name in named.items():
        yield {"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": track, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": track, "args": {"sort_index": track}}


def _frames(recording: Recording) -> Iterator[list[Event]]:
    cpu, gpu = _Track(CPU), _Track(GPU)
    for sample in recording.samples:
        start = round((sample.begin - recording.samples[0].begin) * _NS)
        about = _about(sample)
        events = [_mark(sample, start, about)]
        for one in sample.slices:
            events.append(_slice(cpu, one, start, one.begin, one.cpu, about))
            if not math.isnan(one.gpu) and not math.isnan(one.gpu_begin):
                events.append(_slice(gpu, one, start, one.gpu_begin, one.gpu, about))
        cpu.end_frame()
        gpu.end_frame()
        yield events


def _mark(sample: FrameSample, start: int, about: Event) -> Event:
    return {
        "ph": "i", "s": "p", "name": f"Frame {sample.number}", "cat": "frame",
        "pid": PROCESS, "tid": FRAMES, "ts": start / 1e3, "args": about,
    }  # fmt: skip


def _slice(track: _Track, one: Slice, start: int, begin: float, length: float, about: Event) -> Event:
    ts, dur = track.place(one.path, start + round(begin * _NS), round(length * _NS))
    times = {"gpu_ms": None if math.isnan(one.gpu) else one.gpu * 1e3, "cpu_ms": one.cpu * 1e3}
    return {
        "ph": "X", "name": name_of(one.path), "cat": "gpu" if track.number == GPU else "cpu",
        "pid": PROCESS, "tid": track.number, "ts": ts / 1e3, "dur": dur / 1e3,
        "args": {"pass": one.path, **about, **times},
    }  # fmt: skip


def _about(sample: FrameSample) -> Event:
    moment = sample.moment
    return {
        "frame": sample.number,
        "step": moment.step,
        "clip": moment.clip,
        "animation_frame": None if math.isnan(moment.clip_frame) else round(moment.clip_frame, 4),
        "source": sample.source.value,
        "latency_frames": sample.latency,
    }


def _text(event: Event) -> str:
    return json.dumps(event, ensure_ascii=False, allow_nan=False)
