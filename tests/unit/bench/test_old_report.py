"""Reports of earlier benchmarks are read with care and compared row by row."""

import json
from pathlib import Path

import pytest

from sinew.sim.bench.report import BYTES_MAX, ReportError, comparison, differences, read_report, report
from sinew.sim.bench.runner import Row, row_of

MACHINE = {"renderer": "Card 9000", "gl_version": "4.5", "timer_source": "GPU timer", "cpu": "a processor"}


def _row(variant: str, milliseconds: float, size: int = 1000, system: str = "skinning") -> Row:
    return row_of(system, variant, size, "vertices", [milliseconds / 1e3, 2.0 * milliseconds / 1e3])


def _saved(tmp_path: Path, rows: list[Row], machine: dict[str, str] = MACHINE) -> Path:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report(machine, rows)), encoding="utf-8")
    return path


def test_rows_are_matched_by_system_variant_and_size(tmp_path: Path) -> None:
    before = [_row("lbs", 4.0), _row("dqs", 5.0), _row("lbs", 9.0, size=9000), _row("any", 1.0, system="pose")]
    old = read_report(_saved(tmp_path, before))
    lines = comparison([_row("lbs", 2.0), _row("new way", 3.0), _row("lbs", 18.0, size=9000)], old).splitlines()
    assert len({len(line.rstrip()) for line in lines[:2]}) == 1
    assert lines[0].split() == ["system", "variant", "size", "unit", "old", "ms", "new", "ms", "new/old", "median", "new/old"]  # noqa: E501  # fmt: skip
    assert lines[1].split() == ["skinning", "lbs", "1", "000", "vertices", "4", "2", "0.50", "0.50"]
    assert lines[2].split() == ["skinning", "new", "way", "1", "000", "vertices", "3", "only", "new"]
    assert lines[3].split() == ["skinning", "lbs", "9", "000", "vertices", "9", "18", "2.00", "2.00"]
    assert lines[4].split() == ["skinning", "dqs", "1", "000", "vertices", "5", "only", "old"]
    # A system that was not measured now is not missed.
    assert len(lines) == 5


def test_minimum_and_median_have_ratios_of_their_own(tmp_path: Path) -> None:
    old = read_report(_saved(tmp_path, [row_of("pose", "a", 1, "joints", [1.0, 4.0, 4.0])]))
    (line,) = comparison([row_of("pose", "a", 1, "joints", [2.0, 2.0, 2.0])], old).splitlines()[1:]
    assert line.split()[-2:] == ["2.00", "0.50"]


def test_another_machine_is_told(tmp_path: Path) -> None:
    old = read_report(_saved(tmp_path, [], {**MACHINE, "renderer": "llvmpipe"}))
    assert differences(MACHINE, old) == [
        "renderer is 'Card 9000', was 'llvmpipe': ratios compare machines, not versions"
    ]
    assert differences({**MACHINE, "renderer": "llvmpipe"}, old) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated"),
        (b"\x00\xff\x10", "malformed"),
        (b"[]", "is a list, not an object"),
        (b"{}", "rows is missing"),
        (b'{"rows": {}}', r"rows: is an object, not a list"),
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
    ],
    ids=["empty", "bytes", "array", "nothing", "rows", "system", "no time", "negative", "nan", "deep"],
)
def test_what_is_no_report_is_refused_with_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(content)
    with pytest.raises(ReportError, match=reason):
        read_report(path)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    with path.open("wb") as file:
        file.truncate(BYTES_MAX + 1)
    with pytest.raises(ReportError, match="more than 16 MiB"):
        read_report(path)


def test_unknown_keys_of_newer_reports_are_ignored(tmp_path: Path) -> None:
    path = _saved(tmp_path, [_row("lbs", 4.0)])
    content = json.loads(path.read_text(encoding="utf-8"))
    content["weather"] = "rain"
    content["rows"][0]["colour"] = "red"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert read_report(path).rows[0].ms_per_step_min == 4.0
