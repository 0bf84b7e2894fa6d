"""Benchmarks measure finished work, take turns, and compare with the first variant."""

import inspect

import pytest

from sinew.sim.assets.formats import resolved
from sinew.sim.bench.report import ratios, report, table
from sinew.sim.bench.runner import SYSTEMS, Case, Row, measure, row_of


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


def test_the_clock_includes_waiting_for_the_end() -> None:
    now = [0.0]
    steps = iter([5.0, 5.0, 1.0, 1.0, 3.0, 3.0, 2.0, 2.0])

    def step() -> None:
        now[0] += next(steps)

    def finish() -> None:
        now[0] += 0.5

    (row,) = measure([_case("a", steps=2, step=step, finish=finish, clock=lambda: now[0])], repeat=3)
    assert (row.ms_per_step_min, row.ms_per_step_median, row.ms_per_step_max) == (1250.0, 2250.0, 3250.0)
    assert row.elements_per_second == 800.0


def test_a_repeat_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="repeat is 0"):
        measure([_case("a")], repeat=0)


def test_ratios_compare_within_system_and_size() -> None:
    rows = [_row("numpy", 10.0), _row("gpu", 2.0), _row("numpy", 30.0, size=9000), _row("gpu", 3.0, size=9000)]
    assert ratios(rows) == [None, pytest.approx(5.0), None, pytest.approx(10.0)]


def test_the_table_is_aligned() -> None:
    lines = table([_row("numpy", 10.0), _row("gpu, dual quaternions", 0.125)]).splitlines()
    assert lines[0].split()[:4] == ["system", "variant", "size", "unit"]
    assert lines[1].split() == ["skinning", "numpy", "1", "000", "vertices", "10", "10", "10", "100", "k"]
    assert lines[2].endswith("80.00")
    assert len({line.index("vertices") for line in lines[1:]}) == 1


def test_the_report_names_the_machine_and_every_row() -> None:
    content = report({"cpu": "a processor"}, [_row("numpy", 10.0)])
    assert content["cpu"] == "a processor"
    assert content["rows"] == [
        {
            "system": "skinning", "variant": "numpy", "size": 1000, "unit": "vertices", "steps": 1,
            "ms_per_step_min": 10.0, "ms_per_step_median": 10.0, "ms_per_step_max": 10.0,
            "elements_per_second": pytest.approx(1e5),
        }
    ]  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_can_be_measured(name: str) -> None:
    system = SYSTEMS[name]
    expected = ["context", "library"] * system.on_gpu + ["size"] * bool(system.sizes) + ["repeat"]
    assert len(inspect.signature(resolved(system.rows)).parameters) == len(expected)
    assert not system.more or len(inspect.signature(resolved(system.more)).parameters) == 1
