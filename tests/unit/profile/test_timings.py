import csv
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.profile.by_frame import LOOPS, FrameCollector
from sinew.sim.profile.chrome_trace import CPU, GPU, write_chrome_trace
from sinew.sim.profile.comparison import FRAMES_MIN, block_length, compare, verdict
from sinew.sim.profile.csv_file import COLUMNS, TimingsFileError, read_csv, write_csv
from sinew.sim.profile.history import TimingRecording, buckets, peaks, summary
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimerStatus, TimeSource, Vsync
from tests.json_schema import complaints
from tests.refusals import refusal
from tests.unit.profile.frames import MS, frame


def shown(number: int, at: float, gpu: dict[str, float]) -> tuple[FrameSample, float]:
    return frame(number, gpu), at


def test_median_and_worst_over_loops() -> None:
    by_frame = FrameCollector()
    for loop, cost in enumerate((2.0, 9.0, 3.0)):
        for k in range(5):
            by_frame.add(*shown(loop * 5 + k, k, {"draw": (cost + k) * MS}))
    costs = by_frame.costs()
    assert costs.frames.tolist() == [0, 1, 2, 3, 4]
    assert costs.pictures.tolist() == [3] * 5
    assert costs.median == pytest.approx(np.array([3, 4, 5, 6, 7]) * MS)
    assert costs.worst == pytest.approx(np.array([9, 10, 11, 12, 13]) * MS)
    assert costs.worst_number.tolist() == [5, 6, 7, 8, 9]
    version = by_frame.version
    by_frame.clear()
    assert by_frame.version != version
    for at, cost in ((math.nan, MS), (1.0, math.nan)):
        by_frame.add(*shown(0, at, {"draw": cost}))
    assert len(by_frame.costs().frames) == 0, "images of no frame or time are left out"
    for number in range(3 * LOOPS):
        by_frame.add(*shown(number, 0.0, {"draw": (1 if number < 2 * LOOPS else 5) * MS}))
    assert by_frame.costs().median[0] == pytest.approx(5 * MS), "only the newest images make the median"
    assert by_frame.costs().pictures[0] == 3 * LOOPS


def test_an_image_belongs_to_the_nearest_frame() -> None:
    by_frame = FrameCollector()
    for number, at in enumerate((0.4, 0.6, 1.49, 3.0)):
        by_frame.add(*shown(number, at, {"draw": MS}))
    costs = by_frame.costs()
    assert (costs.frames.tolist(), costs.pictures.tolist()) == ([0, 1, 3], [1, 2, 1])
    assert [costs.bin_at(at) for at in (0.3, 1.4, 2.0, 2.6, 9.0)] == [0, 1, None, 2, None]


def test_bands_are_passes_without_their_parts_and_add_up() -> None:
    by_frame = FrameCollector(depth=2)
    by_frame.add(*shown(0, 0.0, {"draw": 5 * MS, "draw/models": 3 * MS, "draw/models/Ann": 2 * MS, "simulate": MS}))
    costs = by_frame.costs()
    assert {path: float(band[0]) for path, band in costs.bands.items()} == pytest.approx(
        {"draw": 2 * MS, "draw/models": 3 * MS, "simulate": MS}
    )
    assert costs.median[0] == pytest.approx(6 * MS)
    by_frame = FrameCollector()
    for number, (draw, simulate) in enumerate(((1, 9), (2, 1), (8, 2))):
        by_frame.add(*shown(number, 0.0, {"draw": draw * MS, "simulate": simulate * MS}))
    costs = by_frame.costs()
    assert list(costs.bands) == ["draw", "simulate"]
    assert sum(band[0] for band in costs.bands.values()) == pytest.approx(4 * MS)
    assert sum(band[0] for band in costs.stacked().values()) == pytest.approx(10 * MS), "the median of the total"


def test_the_same_as_numpy_on_random_frames_with_looks_in_between() -> None:
    random, by_frame = np.random.default_rng(1), FrameCollector()
    seen: dict[int, list[float]] = {}
    for number in range(900):
        at, cost = int(random.integers(150)), float(random.gamma(2.0)) * MS
        seen.setdefault(at, []).append(cost)
        by_frame.add(*shown(number, at, {"draw": cost}))
        if number % 100 == 0:
            by_frame.costs()
    costs = by_frame.costs()
    assert costs.frames.tolist() == sorted(seen)
    assert costs.median == pytest.approx([np.median(seen[at]) for at in sorted(seen)])
    assert costs.worst == pytest.approx([max(seen[at]) for at in sorted(seen)])


def test_long_animations_put_frames_together() -> None:
    by_frame = FrameCollector()
    by_frame.clear(10_000)
    for number in range(6):
        by_frame.add(*shown(number, 9_000.0 + number, {"draw": MS}))
    costs = by_frame.costs()
    assert costs.stride == 3
    assert costs.frames.tolist() == [9001.0, 9004.0]
    assert costs.pictures.tolist() == [3, 3]


def test_every_frame_of_the_window_is_in_one_bucket() -> None:
    times = np.sort(np.random.default_rng(2).uniform(0.0, 10.0, 500))
    into = buckets(times, 2.0, 8.0, 40)
    assert into.starts[0] == np.searchsorted(times, 2.0)
    assert into.stop == np.searchsorted(times, 8.0)
    assert len(into.starts) <= 41
    for begin, first in zip(into.begins, into.starts, strict=True):
        assert begin <= times[first] < begin + into.length


def test_a_stack_is_taken_from_the_frame_with_the_largest_total() -> None:
    times = np.arange(12) / 12.0
    total = np.array([1, 5, 2, 3, 0, 0, 7, 7, 1, 2, 3, 4.0])
    assert peaks(total, buckets(times, 0.0, 1.0, 3)).tolist() == [1, 6, 11]


def test_unknown_totals_are_no_peaks_unless_there_is_nothing_else() -> None:
    times = np.arange(6) / 6.0
    total = np.array([np.nan, 2.0, 1.0, np.nan, np.nan, np.nan])
    into = buckets(times, 0.0, 1.0, 2)
    assert peaks(total, into).tolist() == [1, 3]
    into = buckets(np.array([0.0, 0.1, 9.0]), 0.0, 10.0, 10)
    assert into.starts.tolist() == [0, 2], "a gap makes no buckets"
    assert len(peaks(np.array([1.0]), buckets(np.array([1.0]), 5.0, 6.0, 10))) == 0
    for end, count in ((0.0, 5), (1.0, 0)):
        with pytest.raises(ValueError, match="is empty"):
            buckets(np.empty(0), 0.0, end, count)


def test_percentiles_of_a_hundred_and_one_numbers_are_the_numbers() -> None:
    values = np.random.default_rng(1).permutation(np.arange(101.0))
    found = summary(values)
    assert (found.p50, found.p95, found.p99, found.maximum) == (50.0, 95.0, 99.0, 100.0)
    assert (found.count, found.lost, found.mean) == (101, 0, 50.0)


def test_unknown_numbers_are_counted_and_left_out() -> None:
    found = summary(np.array([np.nan, 3.0, 1.0, np.nan]))
    assert (found.count, found.lost, found.p50, found.maximum) == (2, 2, 2.0, 3.0)


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan])])
def test_unknown_numbers_alone_have_no_statistics(values: np.ndarray) -> None:
    found = summary(values)
    assert found.count == 0
    assert all(math.isnan(character) for character in (found.mean, found.p50, found.p95, found.p99, found.maximum))


def remembered(count: int, memory: float, random: np.random.Generator) -> np.ndarray:
    """Times of frames [s] whose logarithms remember the frame before by this correlation."""
    noise = random.normal(size=count + 50)
    for i in range(1, len(noise)):
        noise[i] = memory * noise[i - 1] + math.sqrt(1.0 - memory**2) * noise[i]
    return 5e-3 * np.exp(0.2 * noise[50:])


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_interval_holds_the_true_difference_as_often_as_it_says(memory: float) -> None:
    random = np.random.default_rng(11)
    found = [compare(remembered(300, memory, random), 1.1 * remembered(300, memory, random)) for _ in range(60)]
    held = sum(one.lo <= 0.5e-3 <= one.hi for one in found)
    # Of 60 intervals of 95 % all but 3 ± 1.7 hold it.
    assert 0.87 * 60 <= held <= 60


def test_frames_that_remember_each_other_are_drawn_in_blocks_and_widen_the_interval() -> None:
    random = np.random.default_rng(7)
    fresh, alike = remembered(600, 0.0, random), remembered(600, 0.9, random)
    assert block_length(alike) > 10 > block_length(fresh)
    (narrow, wide) = (compare(values, values) for values in (fresh, alike))
    assert wide.hi - wide.lo > 2.0 * (narrow.hi - narrow.lo)


def test_verdicts_read_as_sentences() -> None:
    random = np.random.default_rng(9)
    a = remembered(400, 0.0, random)
    slower, faster, same = (verdict(compare(a, b), "LBS", "DQS") for b in (2.0 * a, 0.5 * a, a))
    assert slower.startswith("DQS is 5.")
    assert " ms (100 %) slower than LBS; 95 % CI " in slower
    assert " ms (50.0 %) faster than LBS; 95 % CI " in faster
    assert same.startswith("No significant difference between LBS and DQS: 0.00 ms, 95 % CI −")


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan]), np.zeros(100)])
def test_strange_recordings_are_survived(values: np.ndarray) -> None:
    found = compare(values, np.linspace(1.0, 2.0, 40) * 1e-3)
    assert found.median_b == pytest.approx(1.5e-3)
    assert verdict(found)
    assert math.isnan(found.change)
    few = compare(np.full(FRAMES_MIN - 1, 1e-3), np.full(100, 2e-3))
    assert math.isnan(few.lo)
    assert not few.is_significant
    assert verdict(few) == "Too few frames to compare: 19 and 100, 20 of each are needed"
    partly = compare(np.full(50, 2e-3), np.where(np.arange(60) < 10, np.nan, 3e-3))
    assert (partly.frames_b, partly.lo, partly.hi) == (50, pytest.approx(1e-3), pytest.approx(1e-3))


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
