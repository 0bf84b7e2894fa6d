from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import msgspec

from sinew.sim.assets.info import aligned
from sinew.sim.bench.runner import Row
from sinew.sim.refusal import refusal

HEADINGS = (
    "system",
    "variant",
    ">size",
    "unit",
    ">fastest ms",
    ">median ms",
    ">slowest ms",
    ">per second",
    ">times as fast",
)

BYTES_MAX = 16 << 20
COMPARISON_HEADINGS = ("system", "variant", ">size", "unit", ">old ms", ">new ms", ">new/old", ">median new/old")
MACHINE = ("renderer", "cpu")

Milliseconds = Annotated[float, msgspec.Meta(ge=0.0)]
Key = tuple[str, str, int]


def report(machine: Mapping[str, str], rows: Iterable[Row]) -> dict[str, Any]:
    """Returns the object that `bench --json` writes: facts about the machine, then the rows without missing values."""
    plain = [{key: value for key, value in asdict(row).items() if value is not None} for row in rows]
    return {**machine, "rows": plain}


def table(rows: Sequence[Row]) -> str:
    """Returns a table; ratios are speed-ups over the first variant of the same system and size."""
    speedups = ratios(rows, [row.ms_per_step_min for row in rows])
    cells = [HEADINGS, *(_cells(row, ratio) for row, ratio in zip(rows, speedups, strict=True))]
    gpu, cpu = [row.gpu_ms_median for row in rows], [row.cpu_ms_min for row in rows]
    for heading, values, text in (
        (">gpu ms", gpu, quantity_of_time),
        (">cpu ms", cpu, quantity_of_time),
        (">cpu times", ratios(rows, cpu), "{:.2f}".format),
    ):
        if any(value is not None for value in values):
            column = heading, *("" if value is None else text(value) for value in values)
            cells = [(*line, cell) for line, cell in zip(cells, column, strict=True)]
    return "\n".join(aligned(cells))


def ratios(rows: Sequence[Row], times: Sequence[float | None]) -> list[float | None]:
    """Returns speed-ups over the first variant of the system and size; None for the first variant itself."""
    firsts: dict[tuple[str, int], float | None] = {}
    speedups: list[float | None] = []
    for row, taken in zip(rows, times, strict=True):
        key = row.system, row.size
        first = firsts.get(key)
        speedups.append(first / taken if first is not None and taken else None)
        firsts.setdefault(key, taken)
    return speedups


def _cells(row: Row, ratio: float | None) -> tuple[str, ...]:
    times = (row.ms_per_step_min, row.ms_per_step_median, row.ms_per_step_max)
    return (
        row.system,
        row.variant,
        _grouped(row.size),
        row.unit,
        *(quantity_of_time(value) for value in times),
        _quantity(row.elements_per_second),
        f"{ratio:.2f}" if ratio is not None else "",
    )


def quantity_of_time(value: float) -> str:
    """Returns milliseconds with four digits."""
    return f"{value:.4g}" if value < 1000.0 else f"{value:.0f}"


def _quantity(value: float) -> str:
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return f"{value:.3g}"


class OldRow(msgspec.Struct, frozen=True):
    system: str
    variant: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    ms_per_step_min: Milliseconds
    ms_per_step_median: Milliseconds
    unit: str = ""


class BaselineReport(msgspec.Struct, frozen=True):
    rows: tuple[OldRow, ...]
    renderer: str = ""
    cpu: str = ""


class ReportError(ValueError):
    """Error in a report; the text is the reason, without the file."""


def read_report(path: Path) -> BaselineReport:
    """Reads a report; raises OSError if the file cannot be read, ReportError if it is not a report."""
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise ReportError(f"more than {BYTES_MAX >> 20} MiB, which no report of a benchmark has")
    try:
        return msgspec.json.decode(data, type=BaselineReport)
    except msgspec.ValidationError as error:
        raise ReportError(": ".join(filter(None, ("not a report of a benchmark", *refusal(error))))) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"not a report of a benchmark: {error}") from error


def comparison(rows: Sequence[Row], old: BaselineReport) -> str:
    """Returns old and new times, and new over old; rows that only the old report has come last."""
    before: dict[Key, OldRow] = {(row.system, row.variant, row.size): row for row in old.rows}
    lines: list[tuple[str, ...]] = [COMPARISON_HEADINGS]
    for row in rows:
        lines.append(_compared(row, before.pop((row.system, row.variant, row.size), None)))
    measured = {row.system for row in rows}
    for old_row in before.values():
        if old_row.system in measured:
            size, then = _grouped(old_row.size), quantity_of_time(old_row.ms_per_step_min)
            lines.append((old_row.system, old_row.variant, size, old_row.unit, then, "", "only old", ""))
    return "\n".join(aligned(lines))


def differences(machine: Mapping[str, str], old: BaselineReport) -> list[str]:
    then = {"renderer": old.renderer, "cpu": old.cpu}
    return [
        f"{key} is {machine[key]!r}, was {then[key]!r}: ratios compare machines, not versions"
        for key in MACHINE
        if then[key] != machine[key]
    ]


def _compared(row: Row, old: OldRow | None) -> tuple[str, ...]:
    head = (row.system, row.variant, _grouped(row.size), row.unit)
    now = quantity_of_time(row.ms_per_step_min)
    if old is None:
        return (*head, "", now, "only new", "")
    return (
        *head,
        quantity_of_time(old.ms_per_step_min),
        now,
        _ratio(row.ms_per_step_min, old.ms_per_step_min),
        _ratio(row.ms_per_step_median, old.ms_per_step_median),
    )


def _ratio(new: float, old: float) -> str:
    return f"{new / old:.2f}" if old > 0.0 else ""


def _grouped(size: int) -> str:
    return f"{size:,}".replace(",", " ")
