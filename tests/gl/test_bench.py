import contextlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.bench import launch_rows
from sinew.app.cli.main import main
from sinew.app.failure.errors import CommandError
from sinew.sim.bench import cloth, frames, hair, plain, runner
from sinew.sim.bench import compile as compiling
from sinew.sim.bench.frames import muted_gl, timed_scene
from sinew.sim.bench.runner import Case, rows_of
from sinew.sim.bench.skinning import (
    JOINTS,
    gpu_cases,
    numpy_cases,
    random_pose,
    synthetic_mesh,
    synthetic_skin,
)
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.scene.scene import Scene


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    duration = runner._duration

    def short(case: Case) -> float:
        return duration(case if case.system == "frame" else replace(case, steps=min(case.steps, 2)))

    monkeypatch.setattr(runner, "_duration", short)


def test_compile_rows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiling, "SCENE", Scene(nodes=compiling.SCENE.nodes[:3]))
    monkeypatch.setattr(sys, "argv", ["bench"])
    compiling.start()  # what each process runs
    printed = capsys.readouterr().out
    seconds, count = json.loads(printed)
    assert seconds > 0.0
    assert count > 10
    monkeypatch.setattr(
        compiling.subprocess, "run", lambda *words, **_: subprocess.CompletedProcess(words, 0, stdout=printed)
    )
    rows = compiling.compile_rows(1)
    assert [row.variant for row in rows] == [
        "first start", "first start with a force field", "second start", "second start, driver's cache alone",
        "second start, program binaries alone",
    ]  # fmt: skip
    assert all((row.size, row.unit) == (count, "programs") for row in rows)


def test_muted_calls_do_nothing_and_are_restored() -> None:
    before = GL.glClear
    with Context.headless() as context:
        picture = Framebuffer(context, (1, 1))
        picture.clear((1.0, 1.0, 1.0, 1.0))
        with contextlib.suppress(RuntimeError), muted_gl():
            assert GL.glClear(GL.GL_COLOR_BUFFER_BIT) is None
            picture.clear((0.0, 0.0, 0.0, 0.0))
            raise RuntimeError
        assert picture.read_pixels().tolist() == [[[255, 255, 255, 255]]]
        picture.clear((0.0, 0.0, 0.0, 0.0))
        assert picture.read_pixels().tolist() == [[[0, 0, 0, 0]]]
    assert GL.glClear is before


def test_frame_rows() -> None:
    whole, python = rows_of("frame", 1, (50,))
    assert (whole.system, whole.variant, whole.size) == ("frame", "whole", 50)
    assert python.variant == "Python alone"
    assert 0.0 < python.ms_per_step_min < whole.ms_per_step_min


def test_look_rows() -> None:
    rows = rows_of("look", 1, (64,))
    assert [row.variant for row in rows] == [
        "classic", "classic, outlined", "standard", "standard, outlined", "soft shadows", "ambient occlusion", "all"
    ]  # fmt: skip
    assert all(row.ms_per_step_min > 0.0 for row in rows)


def test_timing_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "TIMED_STEPS", 2)
    off, on = rows_of("timing", 1, (50,))
    assert [(row.system, row.variant, row.size, row.unit) for row in (off, on)] == [
        ("timing", "off", 50, "vertices"), ("timing", "on", 50, "vertices")
    ]  # fmt: skip
    assert off.ms_per_step_min > 0.0 < on.ms_per_step_min


def test_a_timed_frame_has_every_pass(context: Context) -> None:
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


def test_reports_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    old.write_text("{}", encoding="utf-8")
    assert main(["bench", "pose", "--compare", str(old)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"sinew: {old}: not a report of a benchmark: rows is missing\n"


def test_numpy_and_gpu_skin_alike(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(3000, random), synthetic_skin(3000, random)
    pose = random_pose(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    linear = next(case for case in gpu_cases(context, skinned, [pose]) if case.variant.endswith(" lbs"))
    linear.step()
    for case in numpy_cases(mesh, skin, pose):
        np.testing.assert_allclose(skinned.read()["position"], case.step(), atol=1e-4)
    assert len(pose.palette) == JOINTS


ROWS = {
    "skinning": ("vertices", (64, 128), [
        "numpy einsum", "numpy einsum, two steps", "transform feedback lbs", "transform feedback dqs",
        "transform feedback dqs-scale",
    ]),
    "shape": ("vertices", (64,), [
        "without targets", *(f"{count} of 16 targets" for count in (0, 1, 4, 8)), "bulge", "twist", "bend", "taper",
        "wave",
    ]),
    "cloth": ("particles", (64, 144), [
        "plain kernel", "solver", "numpy", "plain kernel", "solver", "solver", "with self-collision",
        "springs", "lines",
        "solver", "with contact",
    ]),
    "hair": ("strands", (60,), [
        "plain kernel", "springs", "rod", "rod with the head", "rod with all", "rod with loads",
        "rod with exact rest", "springs of 6 knots", "layers",
        "springs, Python alone", "grown, ten times as many drawn", "these brought to the GPU", "combed, a dab",
        "drawn", "drawn without self-shadow", "drawn with soft tips", "fur of ten times as many", "the same as shells",
        "drawn with 16 samples",
    ]),
    "particles": ("particles", (700,), [
        "plain kernel", "emitter", "interleaved", "separate", "always full", "all features", "drawn as spots",
        "drawn as streaks", "drawn as a draft", "numpy", "copy of the bytes",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("system", ROWS)
def test_a_system_has_its_rows_at_every_size(context, system):
    unit, sizes, variants = ROWS[system]
    rows = rows_of(system, 1, sizes)
    assert [(row.size, row.variant) for row in rows] == [(size, variant) for size in sizes for variant in variants]
    assert all(row.elements_per_second > 0.0 and row.unit == unit for row in rows)
    with pytest.raises(ValueError, match="repeat"):
        rows_of(system, 0, (10,))


def test_table_and_json_have_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_an_editor_that_cannot_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "no-such-platform")
    with pytest.raises(CommandError, match=r"^launch: the editor ended with status -?\d+: "):
        launch_rows(1)


def test_plain_kernels_move_as_the_solvers(context: Context, library: ShaderLibrary) -> None:
    settings = cloth.bench_settings(8)
    model = build_cloth(settings, None, np.eye(4))
    model.positions[:] += np.random.default_rng(1).normal(scale=1e-3, size=model.positions.shape)
    sheet, arrays = plain.PlainCloth(context, library, model, settings), plain.NumpyCloth(model, settings)
    solver = cloth.SolverCloth(context, library, model, settings, collide=False)
    solver.step()
    for _ in range(cloth.SUBSTEPS):
        sheet.step()
        arrays.step()
    places = arrays.position.reshape(-1, 3)
    np.testing.assert_allclose(solver.positions()[: len(places)], places, atol=2e-5)
    np.testing.assert_allclose(sheet.positions(), places, atol=5e-4)
    settings = hair.bench_settings(30)
    bench = hair.BenchHair(context, library, settings)
    start = bench.strands.growth.guides.places[:, None] + bench.strands.offsets()
    strands = plain.PlainHair(context, library, start, settings)
    for _ in range(10):
        bench.step()
        for _ in range(settings.substeps):
            strands.step()
    np.testing.assert_allclose(strands.positions(), bench.strands.positions().reshape(-1, 3), atol=1e-4)
    fountain, numpy_fountain = plain.PlainParticles(context, library, 900), plain.NumpyParticles(900)
    alive = fountain.read()[:, 3] > 12.0
    for _ in range(10):
        fountain.step()
        numpy_fountain.step()
    np.testing.assert_allclose(fountain.read()[alive, :3], numpy_fountain.place.T[alive], atol=1e-4)
    for owned in (sheet, solver, strands, bench, fountain):
        owned.release()
