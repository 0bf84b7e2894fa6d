"""Python calls of one step and of one edit of the cape; work is proportional to what changed."""

import os
import sys
from collections.abc import Callable

import msgspec
import pytest

from sinew import resources
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import opened
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import CharacterSource
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import step_end
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from tests.permissions import OWN

ROOT = os.path.dirname(os.path.abspath(resources.__file__)).removesuffix("resources")
STEP_CALLS, STEP_FILES, APPLY_CALLS, SAME_CALLS = 314, 47, 146, 22
NODES = 50
CALLS_OF_NODES = {"cloth": 8210, "emitter": 2570, "model": 1800}


def calls_of(work: Callable[[], object]) -> list[str]:
    """Files of all calls of Python functions of the product; wrappers that only tests install are left out."""
    files: list[str] = []

    def count(frame: object, event: str, _argument: object) -> None:
        if event == "call":
            file = frame.f_code.co_filename  # type: ignore[attr-defined]
            if file.startswith(ROOT) and ".venv" not in file and not file.startswith(f"{ROOT}tests"):
                files.append(file)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


@pytest.fixture(scope="module")
def cape() -> object:
    return opened(resources.path("projects") / "cape.sinew", OWN)


def test_a_step_and_an_edit_of_the_cape_take_few_calls(context: Context, cape: object) -> None:
    run = SceneRun(context, cape)  # type: ignore[arg-type]
    scene, engine = run.engine.views.scene, run.engine
    run.advance_to(19)
    step = calls_of(lambda: engine.step(run.runner.time_of(20)))
    assert len(step) <= STEP_CALLS
    assert len(set(step)) <= STEP_FILES
    cloth = next(node for node in scene.nodes if node.kind == "cloth")
    edited = with_value(scene, ParamRef(cloth.id, "cloth", "internal_damping"), 0.0123)
    assert len(calls_of(lambda: engine.apply(edited))) <= APPLY_CALLS
    assert len(calls_of(lambda: engine.apply(edited))) <= SAME_CALLS
    run.release()


@pytest.mark.parametrize("kind", list(CALLS_OF_NODES))
def test_a_step_of_many_nodes_takes_few_calls(context: Context, kind: str) -> None:
    context.back_ends.choice = BackEndChoice.TF
    engine = Engine(context)
    settings, model = KINDS[kind].settings(), None
    if kind == "cloth":
        settings = msgspec.structs.replace(settings, columns=4, rows=4)
    if KINDS[kind].part(CharacterSource).view:
        opened_scene = opened(resources.path("projects") / "humanoid.sinew", OWN)
        node_id, model = next(iter(opened_scene.models.items()))
        settings = opened_scene.scene.node(node_id).settings
    nodes = tuple(Node(id=f"{kind}-{number}", settings=settings) for number in range(NODES))
    for node in nodes:
        if model is not None:
            engine.set_model(node.id, model, {})
    engine.apply(Scene(nodes=nodes))
    engine.teleport(0.0)
    for step in range(1, 6):
        engine.step(step_end(0.0, step))
    assert len(calls_of(lambda: engine.step(step_end(0.0, 6)))) <= CALLS_OF_NODES[kind]
    engine.release()
