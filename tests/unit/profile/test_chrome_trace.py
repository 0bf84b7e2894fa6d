import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.profile.chrome_trace import CPU, GPU, write_chrome_trace
from sinew.sim.profile.history import TimingRecording
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource
from tests.json_schema import complaints

SCHEMA = json.loads((Path(__file__).parents[2] / "data" / "chrome_trace.schema.json").read_text())


def nested_frame(number: int, random: np.random.Generator) -> FrameSample:
    """Three levels of passes, whose parts fill them up to the last bit."""
    slices: list[Slice] = []

    def add(path: str, begin: float, length: float, depth: int) -> None:
        slices.append(Slice(path, begin, length, begin + 1e-3, length))
        cuts = np.sort(random.uniform(0.0, 1.0, 2)) * length
        ends = [0.0, *cuts, length]
        for i in range(3 if depth else 0):
            add(f"{path}/part{i}", begin + ends[i], ends[i + 1] - ends[i], depth - 1)

    add("simulate", 0.0, random.uniform(1e-5, 5e-3), 2)
    add("draw", slices[0].cpu, random.uniform(1e-5, 5e-3), 2)
    moment = SceneMoment(2 * number, number / 30.0, "walk", number % 31 + 0.25)
    return FrameSample(number, 12345.678 + number / 60.0, 1 / 60.0, moment, tuple(slices), TimeSource.TIMER)


def written(path: Path, *samples: FrameSample) -> dict[str, Any]:
    write_chrome_trace(path / "trace.json", TimingRecording("walk", samples))
    return json.loads((path / "trace.json").read_text())


def unnested(trace: dict[str, Any]) -> list[str]:
    """Slices that leave the one they began in, by whole nanoseconds as Perfetto reads them."""
    found = []
    for track in (CPU, GPU):
        open_ends: list[int] = []
        slices = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] == track]
        for event in sorted(slices, key=lambda event: event["ts"]):
            begin = round(event["ts"] * 1000)
            end = begin + round(event["dur"] * 1000)
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                found.append(f"{event['args']['pass']} at {begin} ends at {end}, after {open_ends[-1]}")
            open_ends.append(end)
    return found


def test_a_trace_has_the_format_and_its_slices_nest(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    trace = written(tmp_path, *(nested_frame(i, random) for i in range(40)))
    assert complaints(trace, SCHEMA) == []
    assert unnested(trace) == []
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) == 40 * 2 * 26
    assert sum(event["ph"] == "i" for event in trace["traceEvents"]) == 40


def test_slices_that_leave_their_pass_are_found() -> None:
    events = [
        {"ph": "X", "tid": CPU, "ts": begin, "dur": length, "args": {"pass": "a"}}
        for begin, length in ((0.0, 10.0), (5.0, 6.0))
    ]
    assert len(unnested({"traceEvents": events})) == 1


def test_damaged_traces_are_found(tmp_path: Path) -> None:
    trace = written(tmp_path, nested_frame(0, np.random.default_rng(1)))
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    slices[0]["dur"], slices[1]["ph"] = -1.0, "Q"
    del slices[2]["ts"]
    assert {line.split(":")[0] for line in complaints(trace, SCHEMA)} >= {
        f"$.traceEvents[{trace['traceEvents'].index(one)}]" for one in slices[:3]
    }


def test_overlapping_times_are_made_to_nest(tmp_path: Path) -> None:
    slices = (
        Slice("draw", 0.0, 2e-3, 5e-3, 1e-3),
        Slice("draw/models", 0.0, 1e-3, 4e-3, 3e-3),
        Slice("draw/ground", 0.5e-3, 5e-3, 4e-3, 3e-3),
        Slice("simulate", 1e-3, 1e-3, 5e-3, 1e-3),
    )
    frame = FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER)
    trace = written(tmp_path, frame, frame)
    assert unnested(trace) == []
    assert complaints(trace, SCHEMA) == []


def test_a_slice_tells_what_it_belongs_to(tmp_path: Path) -> None:
    trace = written(tmp_path, nested_frame(7, np.random.default_rng(2)))
    found = next(event for event in trace["traceEvents"] if event["name"] == "part1" and event["tid"] == GPU)
    assert found["args"] | {"gpu_ms": 0, "cpu_ms": 0} == {
        "pass": "simulate/part0/part1", "frame": 7, "step": 14, "animation_frame": 7.25, "source": "GPU timer",
        "gpu_ms": 0, "cpu_ms": 0,
    }  # fmt: skip
    assert found["dur"] == pytest.approx(found["args"]["gpu_ms"] * 1000, abs=2e-3)
    names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert names[GPU] == "GPU (GPU timer)"


def test_lost_times_are_on_the_track_of_the_processor_only(tmp_path: Path) -> None:
    slices = (Slice("draw", 0.0, 2e-3), Slice("draw/models", 0.0, 1e-3, 1e-3, 1e-3))
    trace = written(tmp_path, FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER))
    tracks = [(event["args"]["pass"], event["tid"]) for event in trace["traceEvents"] if event["ph"] == "X"]
    assert tracks == [("draw", CPU), ("draw/models", CPU), ("draw/models", GPU)]
    assert complaints(trace, SCHEMA) == []


def test_giving_up_leaves_no_file(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    recording = TimingRecording("walk", tuple(nested_frame(i, random) for i in range(5)))
    with pytest.raises(LoadCancelled):
        write_chrome_trace(tmp_path / "trace.json", recording, LoadWatch(cancelled=lambda: True))
    assert list(tmp_path.iterdir()) == []
