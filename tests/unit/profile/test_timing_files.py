import csv
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.profile.chrome_trace import CPU, GPU, write_chrome_trace
from sinew.sim.profile.csv_file import COLUMNS, TimingsFileError, read_csv, write_csv
from sinew.sim.profile.history import TimingRecording
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimerStatus, TimeSource, Vsync
from tests.json_schema import complaints
from tests.refusals import refusal

STATUS = TimerStatus(True, TimeSource.TIMER, "agrees: 102 %", "Mesa, a card", 3, 2, 4, Vsync.ON, 12.5, 7.5)


def recording(frames: int = 3) -> TimingRecording:
    samples = []
    for i in range(frames):
        slices = (
            Slice("simulate", 0.0, 4e-3, 0.25e-3, 3e-3),
            Slice("simulate/cloth", 0.0, 1e-3, 0.25e-3, 1e-3),
            Slice("simulate/cloth", 2e-3, 2e-3, 1.25e-3, 2e-3),
            Slice("draw", 4e-3, 1e-3),
        )
        moment = SceneMoment(2 * i, i / 30.0, 'walk, "fast"\nnow', 10.0 + i / 2) if i else SceneMoment()
        interval = 0.015 if i else math.nan
        samples.append(FrameSample(100 + i, 5000.0 + 0.015 * i, interval, moment, slices, TimeSource.TIMER, 3))
    return TimingRecording("DQS, again", tuple(samples), STATUS)


def written(folder: Path, frames: int = 3) -> Path:
    write_csv(folder / "walk.csv", recording(frames))
    return folder / "walk.csv"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_a_row_for_each_frame_and_pass(tmp_path: Path) -> None:
    rows = rows_of(written(tmp_path))
    assert list(rows[0]) == list(COLUMNS)
    assert [(row["frame"], row["pass"]) for row in rows[:4]] == [
        ("100", "simulate"), ("100", "simulate/cloth"), ("100", "draw"), ("101", "simulate"),
    ]  # fmt: skip
    assert rows[4] == {
        "frame": "101", "begin_s": "0.015000000", "interval_ms": "15.000000", "step": "2", "time_s": "0.033333333",
        "clip": 'walk, "fast"\nnow', "animation_frame": "10.5000", "pass": "simulate/cloth", "runs": "2",
        "pass_begin_ms": "0.000000", "gpu_begin_ms": "0.250000", "gpu_ms": "3.000000", "cpu_ms": "3.000000",
        "source": "GPU timer", "latency_frames": "3",
    }  # fmt: skip
    assert (rows[2]["gpu_ms"], rows[2]["cpu_ms"], rows[2]["animation_frame"]) == ("", "1.000000", "")


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path, before = written(tmp_path), recording()
    found = read_csv(path)
    assert (found.name, found.origin) == ("DQS, again", str(path))
    assert found.status == dataclasses.replace(STATUS, enabled=False)
    for one, other in zip(found.samples, before.samples, strict=True):
        assert (one.number, one.moment.step, one.moment.clip) == (other.number, other.moment.step, other.moment.clip)
        assert one.begin == pytest.approx(other.begin - 5000.0)
        assert [s.path for s in one.slices] == ["simulate", "simulate/cloth", "draw"]
        assert [s.gpu for s in one.slices] == pytest.approx([3e-3, 3e-3, math.nan], nan_ok=True)
        assert [s.cpu for s in one.slices] == pytest.approx([4e-3, 3e-3, 1e-3])


def test_a_file_that_a_spreadsheet_stored_again_is_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    lines = path.read_text().replace('"walk, ""fast""\nnow"', "walk").splitlines()
    path.write_text("\ufeff" + "\r\n".join(f"{line},,," if line.startswith("#") else line for line in lines) + "\r\n")
    assert len(read_csv(path).samples) == 3
    assert read_csv(path).status.vsync is Vsync.ON
    path.write_text("note,cpu_ms,gpu_ms,pass,source,begin_s,frame\nhello,1,2.5,draw,GPU timer,0.5,7\n")
    (found,) = read_csv(path).samples
    assert (found.number, found.slices[0].gpu) == (7, pytest.approx(2.5e-3))


HEAD = "frame,begin_s,pass,gpu_ms,cpu_ms,source\n"


def test_foreign_and_broken_files_are_refused_in_one_line(tmp_path: Path) -> None:
    for text, reported in (
        ("", "row 0: is no file of timings: there is no column 'frame'"),
        ("a;b;c\n1;2;3\n", "row 1: is no file of timings: there is no column 'frame'"),
        (HEAD, "row 1: there are no frames"),
        (HEAD + "0,0,draw,1,1,guess\n", "row 2: source is 'guess', must be one of GPU timer, wall clock around"),
        (HEAD + "0,0,draw,-1,1,GPU timer\n", "row 2: gpu_ms is '-1', must be a positive number"),
        (HEAD + "0,0,draw,inf,1,GPU timer\n", "row 2: gpu_ms is 'inf', must be a positive number"),
        (HEAD + "0,0,draw,1,x,GPU timer\n", "row 2: cpu_ms is 'x', must be a positive number"),
        (HEAD + "0,0,draw,1,,GPU timer\n", "row 2: cpu_ms is empty"),
        (HEAD + "0.5,0,draw,1,1,GPU timer\n", "row 2: frame is '0.5', must be a whole number"),
        (HEAD + "0,5,draw,1,1,GPU timer\n1,4,draw,1,1,GPU timer\n", "row 3: begin_s is '4', frames must follow"),
        (HEAD + "0,0,draw,1,1,GPU timer\n0,0,draw,1,1,GPU timer\n", "row 3: pass 'draw' is there twice in frame 0"),
        (HEAD + "0,0,draw/x,1,1,GPU timer\n", "row 2: pass 'draw/x' comes without the pass 'draw' it is a part of"),
        (HEAD + "0,0," + "x" * 600 + ",1,1,GPU timer\n", "is no name of a pass"),
        (HEAD + "".join(f"0,0,p{i},1,1,GPU timer\n" for i in range(501)), "row 502: more than 500 passes"),
        (HEAD + "".join(f"{i},{i},p,1,1,GPU timer\n" for i in range(14401)), "row 14402: more than 14400 frames"),
    ):
        path = tmp_path / "broken.csv"
        path.write_text(text)
        reason = refusal(read_csv, path, TimingsFileError)
        assert reason.startswith("row ")
        assert reported in reason
    (tmp_path / "image.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    for name, reason in (("image.csv", "is no text in UTF-8"), ("nothing.csv", "No such file")):
        with pytest.raises(TimingsFileError, match=reason):
            read_csv(tmp_path / name)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    random, whole = np.random.default_rng(8), written(tmp_path, 6).read_bytes()
    path, refusals = tmp_path / "damaged.csv", []
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(random.integers(1, 6)):
            at = int(random.integers(len(data)))
            match random.integers(3):
                case 0:
                    data[at] = random.integers(256)
                case 1:
                    del data[at : at + int(random.integers(1, 60))]
                case _:
                    data[at:at] = data[int(random.integers(len(data))) :][:40]
        path.write_bytes(data)
        try:
            assert read_csv(path).history is not None
        except TimingsFileError as error:
            refusals.append(str(error))
    assert 100 < len(refusals) < 300
    assert not any("\n" in text for text in refusals)


def test_progress_rises_and_cancelling_leaves_no_file(tmp_path: Path) -> None:
    reported: list[float] = []
    write_csv(tmp_path / "a.csv", recording(50), LoadWatch(reported.append))
    assert reported[-1] == 1.0
    assert reported == sorted(reported)
    with pytest.raises(LoadCancelled):
        write_csv(tmp_path / "b.csv", recording(), LoadWatch(cancelled=lambda: True))
    with pytest.raises(LoadCancelled):
        read_csv(tmp_path / "a.csv", LoadWatch(cancelled=lambda: True))
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_names_are_no_formulas_for_a_spreadsheet(tmp_path: Path) -> None:
    clip, passes = "=cmd|' /C calc'!A0", ('=HYPERLINK("x")', "+1+1", "cloth")
    slices = tuple(Slice(name, 0.0, 1e-3, 0.0, 1e-3) for name in passes)
    sample = FrameSample(0, 0.0, 0.016, SceneMoment(0, 0.0, clip, 1.0), slices, next(iter(TimeSource)), 0)
    made = dataclasses.replace(recording(1), samples=(sample,))
    write_csv(tmp_path / "a.csv", made)
    (first, second, third) = rows_of(tmp_path / "a.csv")
    assert first["clip"] == f"'{clip}"
    assert [row["pass"] for row in (first, second, third)] == [f"'{passes[0]}", "'+1+1", "cloth"]
    again = read_csv(tmp_path / "a.csv").samples[0]
    assert again.moment.clip == clip
    assert [one.path for one in again.slices] == list(passes)


SCHEMA = json.loads((Path(__file__).parents[2] / "data" / "chrome_trace.schema.json").read_text())


def nested_frame(number: int, random: np.random.Generator) -> FrameSample:
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


def traced(path: Path, *samples: FrameSample) -> dict[str, Any]:
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
    trace = traced(tmp_path, *(nested_frame(i, random) for i in range(40)))
    assert complaints(trace, SCHEMA) == []
    assert unnested(trace) == []
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) == 40 * 2 * 26
    assert sum(event["ph"] == "i" for event in trace["traceEvents"]) == 40


def test_overlapping_times_are_made_to_nest(tmp_path: Path) -> None:
    slices = (
        Slice("draw", 0.0, 2e-3, 5e-3, 1e-3),
        Slice("draw/models", 0.0, 1e-3, 4e-3, 3e-3),
        Slice("draw/ground", 0.5e-3, 5e-3, 4e-3, 3e-3),
        Slice("simulate", 1e-3, 1e-3, 5e-3, 1e-3),
    )
    frame = FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER)
    trace = traced(tmp_path, frame, frame)
    assert unnested(trace) == []
    assert complaints(trace, SCHEMA) == []
    slices = (Slice("draw", 0.0, 2e-3), Slice("draw/models", 0.0, 1e-3, 1e-3, 1e-3))
    trace = traced(tmp_path, FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER))
    tracks = [(event["args"]["pass"], event["tid"]) for event in trace["traceEvents"] if event["ph"] == "X"]
    assert tracks == [("draw", CPU), ("draw/models", CPU), ("draw/models", GPU)], "the first has no time of the GPU"


def test_a_slice_names_its_pass_and_frame(tmp_path: Path) -> None:
    trace = traced(tmp_path, nested_frame(7, np.random.default_rng(2)))
    found = next(event for event in trace["traceEvents"] if event["name"] == "part1" and event["tid"] == GPU)
    assert found["args"] | {"gpu_ms": 0, "cpu_ms": 0} == {
        "pass": "simulate/part0/part1", "frame": 7, "step": 14, "animation_frame": 7.25, "source": "GPU timer",
        "gpu_ms": 0, "cpu_ms": 0,
    }  # fmt: skip
    assert found["dur"] == pytest.approx(found["args"]["gpu_ms"] * 1000, abs=2e-3)
    names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert names[GPU] == "GPU (GPU timer)"
