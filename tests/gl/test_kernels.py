"""Kernels of a project replace shipped shader files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import shaders
from sinew.app.cli.main import main
from sinew.app.document.document import Document
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.cache.keys import node_keys
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, PinPreset
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.kernel.kind import KernelSettings
from sinew.sim.kinds.oracle import HasOracle
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gl.back_ends import ON_BOTH

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
SHEET = Node(id="sheet", name="Sheet", settings=ClothSettings(columns=8, rows=8, substeps=64, pins=PinPreset.NONE))


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    yield made
    made.release()


CAUGHT = (Node(id="ball", name="Ball", settings=ColliderSettings(radius=0.4)),)


def kernel(text: str, base: str = SHIPPED, **changes: Any) -> Node:
    return Node(id="k", name="Kernel", settings=KernelSettings(file=FILE, base=base, text=text), **changes)


def fall(engine: Engine, *nodes: Node, steps: int = 10) -> float:
    """Distance that the sheet falls [m]."""
    engine.apply(Scene(nodes=(SHEET, *nodes)))
    engine.restart(0.0)
    before = engine.simulation.systems["sheet"].arrays()["positions"].read().copy()
    for step in range(steps):
        engine.step((step + 1) * STEP_TIME)
    after = engine.simulation.systems["sheet"].arrays()["positions"].read()
    return float(np.mean(before[:, 1] - after[:, 1]))


def problems(engine: Engine) -> list[str]:
    return [problem.text for problem in engine.simulation.take_problems()]


HEAVIER = SHIPPED.replace("acceleration = u_gravity", "acceleration = 2.0 * u_gravity")


def test_a_changed_kernel_acts_and_is_undone_by_mute(engine: Engine) -> None:
    plain = fall(engine)
    assert fall(engine, kernel(HEAVIER)) == pytest.approx(2.0 * plain, rel=0.02)
    assert fall(engine, kernel(HEAVIER, muted=True)) == plain
    assert fall(engine, kernel(f"{SHIPPED}\n// a comment\n")) == plain, "the same bits"
    engine.library.takes_texts = False
    assert fall(engine, kernel(HEAVIER)) == plain
    assert problems(engine) == []


def test_faults_are_reported_at_file_and_line_and_the_last_program_runs(engine: Engine) -> None:
    plain = fall(engine)
    lines = SHIPPED.splitlines()
    at = next(number for number, line in enumerate(lines) if "u_gravity" in line and "uniform" not in line)
    lines[at] = lines[at].replace(";", " + no_such_name;", 1)
    assert fall(engine, kernel("\n".join(lines))) == plain
    (text,) = problems(engine)
    assert text.startswith(f"{FILE}:{at + 1}: ")
    assert "no_such_name" in text


def test_new_programs_have_the_last_text_that_compiled(engine: Engine) -> None:
    twice = fall(engine, kernel(HEAVIER))
    broken = kernel(HEAVIER.replace("void run", "void ran"))
    engine.apply(Scene(nodes=(SHEET, broken)))
    sheet = msgspec.structs.replace(SHEET, id="other")
    far = msgspec.structs.replace(CAUGHT[0], transform=Transform(position=(0.0, -50.0, 0.0)))
    engine.apply(Scene(nodes=(sheet, broken, far)))  # colliders need another program
    engine.restart(0.0)
    before = engine.simulation.systems["other"].arrays()["positions"].read().copy()
    for step in range(10):
        engine.step((step + 1) * STEP_TIME)
    after = engine.simulation.systems["other"].arrays()["positions"].read()
    assert float(np.mean(before[:, 1] - after[:, 1])) == pytest.approx(twice, rel=0.01)
    assert engine.library.messages


def test_another_shipped_file_disables_the_kernel(engine: Engine) -> None:
    plain = fall(engine)
    assert fall(engine, kernel(HEAVIER, base="void run(int id) {}")) == plain
    assert problems(engine) == [f"{FILE} is another one now; it is not used"]
    other = msgspec.structs.replace(kernel(HEAVIER), settings=KernelSettings(file="../app/main.py", text="x"))
    assert fall(engine, other) == plain


def test_kernels_change_the_keys_of_cached_steps(engine: Engine) -> None:
    keys = []
    for nodes in ((), (kernel(HEAVIER),), (kernel(SHIPPED + "\n"),), (kernel(HEAVIER, muted=True),)):
        engine.apply(Scene(nodes=(SHEET, *nodes)))
        keys.append(node_keys(engine.world)["sheet"])
    assert keys[0] == keys[3]
    assert len(set(keys)) == 3


def test_kernels_survive_files_and_undo(tmp_path: Path) -> None:
    document = Document(Scene(nodes=(SHEET, kernel(HEAVIER))))
    document.set_value(ParamRef("k", "kernel", "text"), SHIPPED)
    document.undo_stack.undo()
    save_project(tmp_path / "a.sinew", document.scene, document.view_state)
    loaded = load_project(tmp_path / "a.sinew")
    assert loaded.scene.node("k").settings == kernel(HEAVIER).settings


def test_commands_use_kernels_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "a.sinew", tmp_path / "a.npz"
    moved = []
    for nodes in ((), (kernel(HEAVIER),)):
        save_project(path, Scene(nodes=(SHEET, *nodes)), ViewState())
        assert main(["simulate", str(path), "--steps", "5", "--backend", "tf", "--output", str(out)]) == 0
        with np.load(out) as arrays:
            positions = next(arrays[name] for name in arrays if name.endswith("positions"))
        moved.append(float(np.mean(positions[0, :, 1] - positions[-1, :, 1])))
    assert moved[1] == pytest.approx(2.0 * moved[0], rel=0.05)
    assert f"warning: {FILE} is replaced by the project" in capsys.readouterr().err


@ON_BOTH
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_steps_are_those_of_double_precision(engine: Engine, solver: ClothSolving) -> None:
    changed = {"solver": solver, "placement": ClothPlacement.FLAT, "substeps": 8, "pin_list": "0"}
    sheet = msgspec.structs.replace(SHEET, settings=msgspec.structs.replace(SHEET.settings, **changed))
    engine.apply(Scene(nodes=(sheet, *CAUGHT)))
    engine.restart(0.0)
    system = engine.simulation.systems["sheet"]
    assert isinstance(system, HasOracle)
    for step in range(20):
        system.is_recorded = step in (0, 19)
        engine.step((step + 1) * STEP_TIME)
        if system.is_recorded:
            assert system.oracle()() < 3e-6
    with pytest.raises(SettingsError, match="no step"):
        system.oracle()


def test_the_oracle_shows_a_thousandth_of_gravity(engine: Engine) -> None:
    distances = []
    for factor in ("1.0", "1.001"):
        text = SHIPPED.replace("acceleration = u_gravity", f"acceleration = {factor} * u_gravity")
        engine.apply(Scene(nodes=(SHEET, kernel(text))))
        engine.restart(0.0)
        system = engine.simulation.systems["sheet"]
        assert isinstance(system, HasOracle)
        system.is_recorded = True
        engine.step(STEP_TIME)
        distances.append(system.oracle()())
    assert distances[0] < 5e-7
    assert distances[1] == pytest.approx(1.4e-6, rel=0.4)


def test_the_oracle_names_what_it_does_not_cover(engine: Engine) -> None:
    field = Node(id="field", settings=FieldSettings())
    engine.apply(Scene(nodes=(SHEET, field)))
    engine.restart(0.0)
    system = engine.simulation.systems["sheet"]
    assert isinstance(system, HasOracle)
    system.is_recorded = True
    engine.step(STEP_TIME)
    with pytest.raises(SettingsError, match="force fields"):
        system.oracle()
