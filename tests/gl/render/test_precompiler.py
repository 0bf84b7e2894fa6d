import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.gl import program
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.kinds.cloth.settings import ClothLook, ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.run.engine import Engine
from sinew.sim.run.precompiler import Precompiler, PrecompileScene
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene

TIMEOUT = 300.0
CLOTH = ClothSettings(columns=8, rows=8, substeps=2)
BALL = Node(id="ball", settings=ColliderSettings())
SCENE = Scene(nodes=(BALL, Node(id="sheet", name="Sheet", settings=CLOTH)))


@pytest.fixture
def folder(context: Context, tmp_path: Path) -> Path:
    context.keep_binaries(tmp_path / "programs")
    if context.binaries is None:
        pytest.skip("this driver gives no program binaries")
    return tmp_path / "programs"


@pytest.fixture
def opened(folder: Path) -> list[Context]:
    return []


@pytest.fixture
def compiler(context: Context, folder: Path, opened: list[Context]) -> Iterator[Precompiler]:
    made = new_compiler(context, folder, opened)
    yield made
    made.release()
    assert all(one.released for one in opened)


def new_compiler(context: Context, folder: Path, opened: list[Context]) -> Precompiler:
    def open_context() -> Context:
        opened.append(Context.headless())
        opened[-1].keep_binaries(folder)
        return opened[-1]

    return Precompiler(open_context, context)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, str]]:
    found: list[tuple[bool, str]] = []
    build = program.build_program

    def noted(sources, **options):
        name = next(iter(sources.stages.values())).name
        found.append((threading.current_thread() is threading.main_thread(), name))
        return build(sources, **options)

    monkeypatch.setattr(program, "build_program", noted)
    return found


def contents(scene: Scene) -> PrecompileScene:
    return PrecompileScene(scene, {}, SceneAssets(), Camera(), 0.0, takes_texts=True)


def compile_it(compiler: Precompiler, scene: Scene) -> Scene:
    compiler.admit(scene)
    compiler.begin(contents(scene))
    ends = time.monotonic() + TIMEOUT
    while not compiler.is_due:
        assert time.monotonic() < ends
        time.sleep(0.01)
    return compiler.admit(scene)


def state_after(context: Context, scene: Scene, steps: int = 4) -> bytes:
    engine = Engine(context)
    engine.apply(scene)
    engine.restart(0.0)
    for step in range(steps):
        engine.step((step + 1) * STEP_TIME)
    found = engine.simulation.state()
    engine.release()
    return found


def with_cloth(scene: Scene, **changes: object) -> Scene:
    nodes = scene.nodes
    sheet = msgspec.structs.replace(nodes[1], settings=msgspec.structs.replace(nodes[1].settings, **changes))
    return msgspec.structs.replace(scene, nodes=(nodes[0], sheet, *nodes[2:]))


def test_new_nodes_wait_for_their_programs_and_give_the_same_bits(context, compiler, built):
    admitted = compiler.admit(SCENE)
    assert [node.id for node in admitted.nodes] == ["ball"]
    assert compiler.waiting == {"sheet"}
    assert compiler.admit(SCENE) is admitted, "the same scene is admitted at once"
    assert compile_it(compiler, SCENE) is SCENE
    assert compiler.waiting == frozenset()
    assert (False, "cloth/step.glsl") in built
    built.clear()
    loaded = state_after(context, SCENE)
    assert built == [], "the engine finds everything"
    context.binaries = None
    assert state_after(context, SCENE) == loaded
    assert (True, "cloth/step.glsl") in built


def test_numbers_change_at_once_and_variants_after_their_compilation(compiler: Precompiler) -> None:
    compile_it(compiler, SCENE)
    softer = with_cloth(SCENE, stretch_stiffness=123.0, substeps=7)
    assert compiler.admit(softer) is softer
    flat = with_cloth(softer, look=next(look for look in ClothLook if look is not CLOTH.look), self_collision=True)
    held = compiler.admit(flat)
    assert held.node("sheet").settings == softer.node("sheet").settings
    renamed = msgspec.structs.replace(
        flat, nodes=tuple(msgspec.structs.replace(node, name="Renamed") for node in flat.nodes)
    )
    held = compiler.admit(renamed)
    assert (held.node("sheet").name, held.node("sheet").settings) == ("Renamed", softer.node("sheet").settings)
    assert compile_it(compiler, flat) is flat


def test_without_a_second_context_everything_is_admitted(context: Context, folder: Path) -> None:
    def refuse() -> Context:
        raise GLError("no second one")

    compiler = Precompiler(refuse, context)
    assert compile_it(compiler, SCENE) is SCENE
    compiler.release()
    fresh = Precompiler(refuse, context)
    assert fresh.admit(SCENE) is not SCENE, "and it is not taken for compiled next time"
    fresh.release()


def test_it_can_be_released_while_compiling(compiler: Precompiler, opened: list[Context]) -> None:
    compiler.admit(SCENE)
    compiler.begin(contents(SCENE))
    compiler.release()
    assert all(one.released for one in opened)
