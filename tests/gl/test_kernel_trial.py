"""Kernels of a project are compiled and run by another process first, whose limits end in one line."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from sinew import shaders
from sinew.app.cli.main import main
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.cache.keys import node_keys
from sinew.sim.gl import kernel_trial
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel_limits import TooLargeError
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.kinds.kernel.kind import KernelSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.processes import finished, started

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
RUN = "void run(int id) {\n"
SHEET = Node(id="sheet", name="Sheet", settings=ClothSettings(columns=8, rows=8, substeps=8, pins=PinPreset.NONE))
HEAVIER = SHIPPED.replace("acceleration = u_gravity", "acceleration = 2.0 * u_gravity")


def calls(count: int) -> str:
    """Returns the text with functions that a compiler puts 2**count times where they are called."""
    functions = "".join(
        f"float f{n}(float x) {{ return f{n - 1}(x) + cos(f{n - 1}(x * 1.3)); }}\n" for n in range(1, count)
    )
    functions = f"float f0(float x) {{ return sin(x) * x; }}\n{functions}"
    return functions + SHIPPED.replace(RUN, f"{RUN}if (f{count - 1}(float(id)) == 1.0) return;\n")


ENDLESS, SLOW = calls(30), calls(13)
LARGE = SHIPPED.replace(RUN, f"{RUN}float q[2000000000]; q[id] = 1.0; if (q[id * 2] < -1.0) return;\n")


def scene_with(text: str) -> Scene:
    kernel = Node(id="k", name="Kernel", settings=KernelSettings(file=FILE, base=SHIPPED, text=text))
    return Scene(nodes=(SHEET, kernel))


def project_with(folder: Path, text: str) -> Path:
    path = folder / "a.sinew"
    save_project(path, scene_with(text), ViewState())
    return path


@pytest.fixture
def engine(context: Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(kernel_trial, "_known", {})
    made = Engine(context)
    yield made
    made.release()


def stepped(engine: Engine, scene: Scene) -> list[str]:
    engine.apply(scene)
    engine.restart(0.0)
    for step in range(3):
        engine.step((step + 1) * STEP_TIME)
    return [problem.text for problem in engine.simulation.take_problems()]


@pytest.mark.slow
def test_every_kernel_of_the_faults_ends_in_one_line(tmp_path: Path, assets: Path) -> None:
    for path in sorted((assets / "faults4").glob("kernel*.sinew")):
        words = ("-m", "sinew", "simulate", path, "--steps", "2", "--output", tmp_path / "o.npz")
        before = psutil.Process().children(recursive=True)
        status, out, err = finished(*words)
        lines = [line for line in err.splitlines() if "is replaced by the project" not in line]
        assert (status, out, len(lines)) == (1, "", 1), err
        assert str(path) in lines[0]
        assert FILE in lines[0]
        assert len(lines[0]) < 500
        assert psutil.Process().children(recursive=True) == before


@pytest.mark.parametrize("text", [slow(ENDLESS), LARGE])
def test_what_passes_the_limits_of_texts_ends_in_the_other_process(engine, monkeypatch, survived, text) -> None:
    monkeypatch.setattr(kernel_trial, "check_limits", lambda _: None)
    (line,) = stepped(engine, scene_with(text))
    assert re.search(f"{FILE}:1: (ends the compiler, or needs more than|takes more than|was not compiled)", line)
    survived.clear()
    assert stepped(engine, scene_with(HEAVIER)) == [], "the next one has a new process"


def test_a_program_is_tried_once(engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answer = kernel_trial._PROCESS._asked

    def noted(request: kernel_trial.TrialRequest) -> bytes | None:
        asked.append(request.sources.files[0])
        return answer(request)

    monkeypatch.setattr(kernel_trial._PROCESS, "_asked", noted)
    assert stepped(engine, scene_with(SHIPPED)) == []
    assert asked == [], "the text of the shipped file needs no trial"
    assert stepped(engine, scene_with(HEAVIER)) == []
    count = len(asked)
    assert count >= 1
    assert stepped(engine, scene_with(SHIPPED)) == []
    assert stepped(engine, scene_with(HEAVIER)) == []
    assert len(asked) == count


def test_a_folder_of_binaries_remembers_programs(context: Context, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(kernel_trial, "_known", {})
    library = ShaderLibrary(context)
    context.keep_binaries(tmp_path)
    try:
        library.texts = {"timing/busy.frag": library.shipped("timing/busy.frag") + "\n// own\n"}
        library.program("viewport/fullscreen.vert", "timing/busy.frag")
        monkeypatch.setattr(kernel_trial, "_known", {})
        monkeypatch.setattr(kernel_trial._PROCESS, "_asked", lambda _: pytest.fail("it was tried again"))
        other = ShaderLibrary(context)
        other.texts = library.texts
        other.program("viewport/fullscreen.vert", "timing/busy.frag")
        other.release()
    finally:
        library.release()
        context.binaries = None


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), slow(signal.SIGTERM, 143)])
def test_a_signal_ends_a_trial_and_its_process(tmp_path: Path, number: signal.Signals, status: int) -> None:
    path, out = project_with(tmp_path, SLOW), tmp_path / "o.npz"
    process = started("-m", "sinew", "simulate", path, "--steps", "2", "--output", out, MESA_SHADER_CACHE_DISABLE="1")
    try:
        ends, trial = time.monotonic() + 120, None
        while trial is None and process.poll() is None and time.monotonic() < ends:
            children = psutil.Process(process.pid).children()
            trial = next((child for child in children if child.cpu_times().user > 1.0), None)
            time.sleep(0.05)
        assert trial is not None
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == status
    assert err.splitlines()[-1] == "sinew: interrupted"
    assert not trial.is_running()
    assert not out.exists()


def test_another_engine_waits_for_the_trial_and_keeps_its_kernels(context, monkeypatch) -> None:
    """In the window: steps and keys are those of the former kernels until a worker thread has tried the new ones."""
    monkeypatch.setattr(kernel_trial, "_known", {})
    engine = Engine(context, background=True)
    heaviest = HEAVIER.replace("2.0 * u_gravity", "4.0 * u_gravity")

    def used(scene: Scene) -> None:
        engine.apply(scene)
        ends = time.monotonic() + 120
        while engine.awaits_kernels and time.monotonic() < ends:
            time.sleep(0.01)
            engine.apply(scene)

    try:
        used(scene_with(HEAVIER))
        ends = time.monotonic() + 120
        while engine.simulation.is_preparing and time.monotonic() < ends:
            engine.simulation.prepare(time.monotonic() + 0.01)
            engine.apply(engine._source)
        stepped(engine, scene_with(HEAVIER))
        key = node_keys(engine.world)["sheet"]
        wanted = scene_with(heaviest)
        engine.apply(wanted)
        assert engine.awaits_kernels
        assert engine.library.texts == {FILE: HEAVIER}
        assert node_keys(engine.world)["sheet"] == key
        beside = Engine(context, engine.library, background=True)
        beside.apply(wanted)
        assert beside.awaits_kernels
        assert engine.library.texts == {FILE: HEAVIER}, "only the owner of the programs changes them"
        used(wanted)
        beside.apply(wanted)
        assert not beside.awaits_kernels
        assert engine.library.texts == {FILE: heaviest}
        assert node_keys(engine.world)["sheet"] != key
        engine.apply(scene_with(SHIPPED))
        used(Scene(nodes=(SHEET,)))
        assert engine.library.texts == {}
        beside.release()
    finally:
        engine.release()


def test_commands_and_python_leave_kernels_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sinew

    path, out = project_with(tmp_path, HEAVIER), tmp_path / "o.npz"
    command = ["simulate", str(path), "--steps", "5", "--output", str(out)]
    moved = []
    for words in ([], ["--no-kernels"]):
        assert main([*command, *words]) == 0
        with np.load(out) as arrays:
            moved.append(arrays["Sheet.positions"])
    assert f"sinew: {path}: warning: Kernel: is not used\n" in capsys.readouterr().err
    assert np.abs(moved[0] - moved[1]).max() > 1e-3
    with sinew.open(path, kernels=False) as project:
        assert project.record(5)["Sheet.positions"].tobytes() == moved[1].tobytes()
        project.nodes["Sheet"].density = 0.2
        project.save()
    assert load_project(path).scene.has("k"), "it is left out, not lost"
    with sinew.open(path, kernels=True) as project:
        project.nodes["Sheet"].density = SHEET.settings.density
        assert project.record(5)["Sheet.positions"].tobytes() == moved[0].tobytes()
    for name in ("render", "export", "sweep", "verify", "report"):
        assert main([name, "--help"]) == 0
        assert "--no-kernels" in capsys.readouterr().out


def test_bakes_without_kernels_are_not_those_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project_with(tmp_path, HEAVIER)
    words = ["--steps", "5", "--cache", "--output", str(tmp_path / "o.npz")]
    assert main(["simulate", str(path), *words, "--no-kernels"]) == 0
    assert main(["verify", str(path), "--no-kernels"]) == 0
    assert "bit-identical" in capsys.readouterr().out
    assert main(["verify", str(path)]) == 1
    assert "its bake is out of date" in capsys.readouterr().err


def test_limits_name_the_line_of_the_text(engine, survived, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source) -> None:
        raise TooLargeError(source.origins.index((FILE, 7)) + 1, "is too large")

    monkeypatch.setattr(kernel_trial, "check_limits", refuse)
    (line,) = stepped(engine, scene_with(HEAVIER))
    assert f"{FILE}:7: is too large" in line
    survived.clear()
