"""Benchmark rows as a table for people and as JSON for programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sim.bench.row import Row

HEADINGS = ("system", "variant", "size", "unit", "min ms", "median ms", "max ms", "elements/s", "ratio")
LEFT = ("system", "variant", "unit")
GAP = "  "


def report(machine: Mapping[str, str], rows: Iterable[Row]) -> dict[str, Any]:
    """The object that `bench --json` writes: facts about the machine, then the rows.

    A row has `gpu_ms_median` only where the graphics card's timer was asked.
    """
    plain = [{key: value for key, value in asdict(row).items() if value is not None} for row in rows]
    return {**machine, "rows": plain}


def table(rows: Sequence[Row]) -> str:
    """Aligned text; the ratio says how many times faster than the first variant of the same system and size."""
    asked = any(row.gpu_ms_median is not None for row in rows)
    cells = [HEADINGS, *(_cells(row, ratio) for row, ratio in zip(rows, ratios(rows), strict=True))]
    if asked:
        reported = (
            "gpu ms",
            *("" if row.gpu_ms_median is None else quantity_of_time(row.gpu_ms_median) for row in rows),
        )
        cells = [(*line, text) for line, text in zip(cells, reported, strict=True)]
    return aligned(cells, LEFT)


def ratios(rows: Sequence[Row]) -> list[float | None]:
    """For each row, the time of the first variant of its system and size over its own; None for that first one."""
    firsts: dict[tuple[str, int], Row] = {}
    found: list[float | None] = []
    for row in rows:
        first = firsts.setdefault((row.system, row.size), row)
        comparable = first is not row and row.ms_per_step_min > 0.0
        found.append(first.ms_per_step_min / row.ms_per_step_min if comparable else None)
    return found


def _cells(row: Row, ratio: float | None) -> tuple[str, ...]:
    times = (row.ms_per_step_min, row.ms_per_step_median, row.ms_per_step_max)
    return (
        row.system,
        row.variant,
        f"{row.size:,}".replace(",", " "),
        row.unit,
        *(quantity_of_time(value) for value in times),
        _quantity(row.elements_per_second),
        f"{ratio:.2f}" if ratio is not None else "",
    )


def quantity_of_time(value: float) -> str:
    """Four digits of a time [ms]."""
    return f"{value:.4g}" if value < 1000.0 else f"{value:.0f}"


def aligned(lines: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    """Text in columns as wide as they need be.

    Args:
        lines: Cells; the first line holds the headings.
        left: Headings of columns whose cells begin at the left; others end at the right.
    """
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(_aligned(line, widths, [heading in left for heading in lines[0]]) for line in lines)


def _quantity(value: float) -> str:
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return f"{value:.3g}"


def _aligned(line: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    cells = (
        cell.ljust(width) if is_left else cell.rjust(width)
        for cell, width, is_left in zip(line, widths, left, strict=True)
    )
    return GAP.join(cells).rstrip()
