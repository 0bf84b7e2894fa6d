"""The benchmark of the instrument, and comparisons with older reports on the command line."""

import json
from pathlib import Path

import pytest

from sinew.app.cli.main import main
from sinew.sim.bench import frames
from sinew.sim.bench.frames import timed_scene
from sinew.sim.bench.runner import rows_of
from sinew.sim.gl.context import Context


def test_rows_tell_a_frame_with_timing_off_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "TIMED_STEPS", 2)
    off, on = rows_of("timing", 1, (50,))
    assert [(row.system, row.variant, row.size, row.unit) for row in (off, on)] == [
        ("timing", "off", 50, "vertices"), ("timing", "on", 50, "vertices")
    ]  # fmt: skip
    assert off.ms_per_step_min > 0.0 < on.ms_per_step_min


def test_a_timed_frame_holds_a_pass_of_every_kind(context: Context) -> None:
    bench = timed_scene(context, 50)
    context.timers.switch(True)
    for _ in range(3):
        bench.timed_frame()
    samples = []
    context.timers._recorder._warming = 0
    finish = context.timers.finish_frame

    def cached(moment):
        number = finish(moment)
        samples.extend(context.timers.poll())
        return number

    context.timers.finish_frame = cached
    bench.timed_frame()
    context.timers.finish_frame = finish
    context.timers.switch(False)
    paths = {one.path for one in samples[0].slices}
    assert {
        "apply", "simulate/pose/character", "simulate/skinning/character",
        "simulate/cloth/cloth", "simulate/emitter/emitter", "draw/surface/cloth", "draw/count/emitter",
        "draw/background", "draw/models/character", "draw/cloths/cloth", "draw/particles/emitter", "draw/ground",
        "draw/overlay", "draw/resolve",
    } <= paths  # fmt: skip
    bench.release()


def test_figures_are_compared_with_an_older_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.json"
    assert main(["bench", "pose", "--sizes", "7,9", "--repeat", "1", "--json", str(old)]) == 0
    content = json.loads(old.read_text(encoding="utf-8"))
    for row in content["rows"]:
        row["ms_per_step_min"] *= 1000.0
    content["cpu"] = "another"
    old.write_text(json.dumps(content), encoding="utf-8")
    capsys.readouterr()
    assert main(["bench", "pose", "--sizes", "7", "--repeat", "1", "--compare", str(old)]) == 0
    out, err = capsys.readouterr()
    lines = out[out.index("compared with") :].splitlines()
    assert lines[1].startswith("system")
    assert [line.split()[-2] for line in lines[2:5]] == ["0.00"] * 3
    assert sum("only old" in line for line in lines) == 3
    assert "warning: cpu is " in err
    assert "was 'another'" in err


def test_a_foreign_file_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.json"
    old.write_text("{}", encoding="utf-8")
    assert main(["bench", "pose", "--compare", str(old)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"sinew: {old}: not a report of a benchmark: rows is missing\n"
