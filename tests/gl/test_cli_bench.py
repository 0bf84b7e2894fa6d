"""`sinew bench` prints a table and writes the same figures as JSON."""

import json
from pathlib import Path

import pytest

from sinew.app.cli.bench import launch_rows
from sinew.app.cli.failure import CommandError
from sinew.app.cli.main import main


def test_table_and_json_hold_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "bench.json"
    assert main(["bench", "pose", "skinning", "--sizes", "40,60", "--repeat", "2", "--json", str(output)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    content = json.loads(output.read_text(encoding="utf-8"))
    assert set(content) == {"renderer", "gl_version", "timer_source", "cpu", "rows"}
    assert all(isinstance(content[key], str) and content[key] for key in ("renderer", "gl_version", "cpu"))
    assert {(row["system"], row["size"]) for row in content["rows"]} == {
        ("pose", 40), ("pose", 60), ("skinning", 40), ("skinning", 60)
    }  # fmt: skip
    required = {
        "system", "variant", "size", "unit", "steps", "ms_per_step_min", "ms_per_step_median", "ms_per_step_max",
        "elements_per_second",
    }  # fmt: skip
    for row in content["rows"]:
        assert required <= set(row)
        assert 0.0 < row["ms_per_step_min"] <= row["ms_per_step_median"] <= row["ms_per_step_max"]
        assert row["elements_per_second"] == pytest.approx(row["size"] / row["ms_per_step_min"] * 1e3)
    lines = out.splitlines()
    assert lines[0] == f"renderer: {content['renderer']}"
    assert sum(line.startswith(("pose ", "skinning ")) for line in lines) == len(content["rows"])


def test_an_editor_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "no-such-platform")
    with pytest.raises(CommandError, match=r"^launch: the editor ended with status -?\d+: "):
        launch_rows(1)
