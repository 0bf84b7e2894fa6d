import inspect
import json
import math
import time
from pathlib import Path

import pytest

from sinew.sim.assets.formats import resolved
from sinew.sim.bench.report import BYTES_MAX, ReportError, comparison, read_report, report, table
from sinew.sim.bench.runner import PASS, SYSTEMS, Case, Row, gpu_seconds, measure, row_of
from sinew.sim.profile.recorder import NO_RUN, WARM_UP
from sinew.sim.profile.sample import Calibration, FrameSample, SceneMoment, Slice, TimeSource


def _case(variant: str, **changes: object) -> Case:
    values: dict[str, object] = {"system": "skinning", "variant": variant, "size": 1000, "unit": "vertices"}
    return Case(**{**values, "step": lambda: None, **changes})  # type: ignore[arg-type]


def _row(variant: str, milliseconds: float, size: int = 1000) -> Row:
    return row_of("skinning", variant, size, "vertices", [milliseconds / 1e3])


def test_cases_take_turns_and_the_first_round_warms_up() -> None:
    log: list[str] = []
    cases = [
        _case(
            name, steps=2, step=lambda name=name: log.append(name), finish=lambda name=name: log.append(f"end {name}")
        )
        for name in ("a", "b")
    ]
    rows = measure(cases, repeat=3)
    one_round = ["end a", "a", "a", "end a", "end b", "b", "b", "end b"]
    assert log == one_round * 4
    assert [row.variant for row in rows] == ["a", "b"]
    with pytest.raises(ValueError, match="repeat is 0"):
        measure(cases, repeat=0)


def test_the_table_is_aligned() -> None:
    lines = table([_row("numpy", 10.0), _row("gpu, dual quaternions", 0.125)]).splitlines()
    assert lines[0].split()[:4] == ["system", "variant", "size", "unit"]
    assert lines[1].split() == ["skinning", "numpy", "1", "000", "vertices", "10", "10", "10", "100", "k"]
    assert lines[2].endswith("80.00")
    assert len({line.index("vertices") for line in lines[1:]}) == 1


MACHINE = {"renderer": "Card 9000", "gl_version": "4.5", "timer_source": "GPU timer", "cpu": "a processor"}


def _of(variant: str, milliseconds: float, size: int = 1000, system: str = "skinning") -> Row:
    return row_of(system, variant, size, "vertices", [milliseconds / 1e3, 2.0 * milliseconds / 1e3])


def _saved(tmp_path: Path, rows: list[Row], machine: dict[str, str] = MACHINE) -> Path:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report(machine, rows)), encoding="utf-8")
    return path


def test_rows_are_matched_by_system_variant_and_size(tmp_path: Path) -> None:
    before = [
        _of("lbs", 4.0),
        _of("dqs", 5.0),
        _of("lbs", 9.0, size=9000),
        _of("any", 1.0, system="pose"),
    ]
    old = read_report(_saved(tmp_path, before))
    lines = comparison([_of("lbs", 2.0), _of("new way", 3.0), _of("lbs", 18.0, size=9000)], old).splitlines()
    assert len({len(line.rstrip()) for line in lines[:2]}) == 1
    assert lines[0].split() == ["system", "variant", "size", "unit", "old", "ms", "new", "ms", "new/old", "median", "new/old"]  # noqa: E501  # fmt: skip
    assert lines[1].split() == ["skinning", "lbs", "1", "000", "vertices", "4", "2", "0.50", "0.50"]
    assert lines[2].split() == ["skinning", "new", "way", "1", "000", "vertices", "3", "only", "new"]
    assert lines[3].split() == ["skinning", "lbs", "9", "000", "vertices", "9", "18", "2.00", "2.00"]
    assert lines[4].split() == ["skinning", "dqs", "1", "000", "vertices", "5", "only", "old"]
    # A system that was not measured now is not missed.
    assert len(lines) == 5


def test_what_is_no_report_is_refused_with_a_reason(tmp_path: Path) -> None:
    for content, reason in (
        (b"", "truncated"),
        (b"[]", "is a list, not an object"),
        (b'{"rows": [{"system": 3}]}', r"rows\[0\].system: is a whole number, not text"),
        (b'{"rows": [{"system": "a", "variant": "b", "size": 1}]}', r"rows\[0\]: ms_per_step_min is missing"),
        (
            b'{"rows": [{"system": "a", "variant": "b", "size": 1, "ms_per_step_min": -1, "ms_per_step_median": 1}]}',
            r"rows\[0\].ms_per_step_min: is not a number >= 0.0",
        ),
        (
            b'{"rows": [{"system": "a", "variant": "b", "size": 1, "ms_per_step_min": NaN, "ms_per_step_median": 1}]}',
            "malformed",
        ),
        (b'{"rows": ' + b"[" * 5000, "not a report"),
    ):
        path = tmp_path / "old.json"
        path.write_bytes(content)
        with pytest.raises(ReportError, match=reason):
            read_report(path)
        with path.open("wb") as file:
            file.truncate(BYTES_MAX + 1)
        with pytest.raises(ReportError, match="more than 16 MiB"):
            read_report(path)


class FakeTimers:
    """Timers whose card takes the given times [s] for the rounds."""

    def __init__(self, spans: list[float], source: TimeSource = TimeSource.TIMER) -> None:
        self._spans, self._source = spans, source
        self.switched: list[bool] = []
        self.frames = 0

    def calibrate(self) -> Calibration:
        return Calibration(self._source, "a test")

    def switch(self, on: bool) -> None:
        self.switched.append(on)

    def scope(self, name: str):
        assert name == PASS
        return NO_RUN

    def finish_frame(self, moment: SceneMoment) -> None:
        assert self.switched == [True]
        self.frames += 1

    def poll(self) -> list[FrameSample]:
        if self.frames <= WARM_UP:
            return []
        slices = (
            Slice(PASS, 0.0, 0.0, 0.0, self._spans[self.frames - WARM_UP - 1]),
            Slice("bench/x", 0.0, 0.0, 0.0, 9.0),
        )
        return [FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER)]


def test_the_median_of_the_rounds_that_are_known() -> None:
    timers, done = FakeTimers([0.03, 0.01, math.nan, 0.02]), []
    seconds = gpu_seconds(timers, lambda: done.append(1), lambda: None, steps=10, repeat=4)
    assert seconds == pytest.approx(0.002)
    assert len(done) == 10 * (WARM_UP + 4)
    assert timers.switched == [True, False]
    assert gpu_seconds(FakeTimers([math.nan]), lambda: None, lambda: None, steps=1, repeat=1) is None
    distrusted = FakeTimers([], TimeSource.CLOCK)
    assert gpu_seconds(distrusted, lambda: None, lambda: None, steps=1, repeat=1) is None
    assert distrusted.switched == []


def test_the_gpu_time_is_beside_the_clock_in_table_and_report() -> None:
    case = Case(
        system="cloth", variant="a", size=4, unit="particles", step=lambda: None, steps=2, timers=FakeTimers([0.008])
    )
    (row,) = measure([case], repeat=1)
    assert row.gpu_ms_median == pytest.approx(4.0)
    assert row.ms_per_step_min < 4.0
    plain = row_of("cloth", "numpy", 4, "particles", [0.1])
    lines = table([row, plain]).splitlines()
    assert lines[0].endswith("gpu ms")
    assert lines[1].endswith(" 4")
    assert "gpu_ms_median" in report({}, [row, plain])["rows"][0]
    assert "gpu_ms_median" not in report({}, [row, plain])["rows"][1]
    assert "gpu ms" not in table([plain])
    assert row.cpu_ms_min is None


def test_where_the_gpu_has_no_timer_the_processor_time_of_all_threads_is_beside_the_clock() -> None:
    timers, steps = FakeTimers([], TimeSource.CLOCK), {"a": lambda: sum(range(200_000)), "b": lambda: time.sleep(0.05)}
    rows = measure([_case(name, step=step, timers=timers) for name, step in steps.items()], repeat=3)
    times = [row.cpu_ms_min for row in rows]
    assert min(times) > 0.0
    assert times[1] < 0.5 * rows[1].ms_per_step_min, "it does not count the time of a step that waits"
    lines = table([*rows, _row("numpy", 1.0)]).splitlines()
    assert lines[0].split()[-4:] == ["cpu", "ms", "cpu", "times"]
    assert lines[2].split()[-1] == f"{times[0] / times[1]:.2f}"
    assert [row.get("cpu_ms_min") for row in report({}, rows)["rows"]] == times
    assert "cpu" not in table([_row("numpy", 1.0)])


def test_every_system_can_be_measured() -> None:
    for system in SYSTEMS.values():
        assert len(inspect.signature(resolved(system.rows)).parameters) == 2
