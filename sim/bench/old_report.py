"""Reports of earlier benchmarks, read back, and how the figures of now compare with them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from sim.bench.report import aligned, quantity_of_time
from sim.bench.row import Row
from sim.refusal import refusal

BYTES_MAX = 16 << 20
HEADINGS = ("system", "variant", "size", "unit", "old ms", "new ms", "new/old", "median new/old")
LEFT = ("system", "variant", "unit")
MACHINE = ("renderer", "cpu")

Milliseconds = Annotated[float, msgspec.Meta(ge=0.0)]
Key = tuple[str, str, int]


class OldRow(msgspec.Struct, frozen=True):
    """A row of a report, as far as it is compared; attributes as in `Row`."""

    system: str
    variant: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    ms_per_step_min: Milliseconds
    ms_per_step_median: Milliseconds
    unit: str = ""


class BaselineReport(msgspec.Struct, frozen=True):
    """A report that `bench --json` wrote.

    Attributes:
        renderer, cpu: Where it was measured.
        rows: What was measured.
    """

    rows: tuple[OldRow, ...]
    renderer: str = ""
    cpu: str = ""


class ReportError(ValueError):
    """A file is no report; the text is the reason, without the file."""


def read_report(path: Path) -> BaselineReport:
    """Reads a report.

    Raises:
        OSError: If the file cannot be read.
        ReportError: If it is no report.
    """
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
    """Aligned text: times then and now, and new over old, so that less than 1 is faster.

    Rows of now come in their order, then those that only the old report has.
    """
    before: dict[Key, OldRow] = {(row.system, row.variant, row.size): row for row in old.rows}
    lines: list[tuple[str, ...]] = [HEADINGS]
    for row in rows:
        lines.append(_compared(row, before.pop((row.system, row.variant, row.size), None)))
    measured = {row.system for row in rows}
    lines += [_only_old(row) for row in before.values() if row.system in measured]
    return aligned(lines, LEFT)


def differences(machine: Mapping[str, str], old: BaselineReport) -> list[str]:
    """Lines about what makes the figures hard to compare: another driver, another processor."""
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


def _only_old(row: OldRow) -> tuple[str, ...]:
    size, then = _grouped(row.size), quantity_of_time(row.ms_per_step_min)
    return row.system, row.variant, size, row.unit, then, "", "only old", ""


def _ratio(new: float, old: float) -> str:
    return f"{new / old:.2f}" if old > 0.0 else ""


def _grouped(size: int) -> str:
    return f"{size:,}".replace(",", " ")
