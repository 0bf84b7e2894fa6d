"""Tests that every type of object must pass, for the packages of plug-ins; pytest collects them from a file that has

    import pytest
    from sinew.app.kind_tests import *

    @pytest.fixture
    def kind():
        return installed_kind("acme.rope")

They need OpenGL, no display.
"""

import enum
import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from sinew.app.headless.run import headless
from sinew.app.plugins import plugins
from sinew.app.plugins.plugin_loading import load
from sinew.app.project.project_file import PROJECT_SUFFIX, load_project, save_project
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Added, AddPlace, Adds, ColliderSource, Draggable, Grab, Kind, System
from sinew.sim.kinds.differences import difference_text, differing, state_fields
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Param, params_of, validated
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState

__all__ = [
    "installed_kind",
    "test_equal_steps_give_equal_bits",
    "test_it_is_drawn",
    "test_it_is_saved_and_loaded",
    "test_no_allowed_value_raises",
]
STEPS = 120


def installed_kind(name: str) -> Kind:
    """Loads the plug-ins of the environment as the program does; raises LookupError if the kind is not there."""
    load({})
    if name not in KINDS:
        reasons = [f"{plugin.name}: {reason}" for plugin in plugins.PLUGINS for reason in plugin.reasons]
        raise LookupError(f"there is no kind {name}; {'; '.join(reasons) or 'no plug-in failed'}")
    return KINDS[name]


def _nodes(kind: Kind) -> tuple[Node, ...]:
    """Returns a node with the defaults, and one of each Add entry."""
    made, place = [kind.new_node()], AddPlace(Scene(), ViewState())
    for entry in kind.part(Adds).entries:
        if entry.reason is None or not entry.reason(place):
            made += Added.of(entry.make(place)).nodes
    return tuple(msgspec.structs.replace(node, id=f"n{i}", name=f"{kind.label} {i}") for i, node in enumerate(made))


def _run(
    engine: Engine, scene: Scene, first: int, last: int, grab: Grab | None = None,
    stepped: Callable[[int], None] = lambda _: None,
) -> None:  # fmt: skip
    engine.apply(scene)
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME, grab)
        stepped(step + 1)
    errors = [problem.text for problem in engine.simulation.take_problems() if "disabled after error" in problem.text]
    assert not errors, errors


def test_it_is_saved_and_loaded(kind: Kind, tmp_path: Path) -> None:
    scene = Scene(nodes=_nodes(kind))
    project = tmp_path / f"a{PROJECT_SUFFIX}"
    save_project(project, scene, ViewState())
    loaded = load_project(project)
    assert (loaded.scene, loaded.warnings) == (scene, ())


def _extremes(record: Param) -> Iterator[Any]:
    declared = record.declared
    if issubclass(record.type, enum.Enum):
        yield from record.type
    elif record.type is bool:
        yield from (False, True)
    elif record.type in (int, float):
        yield from (record.type(limit) for limit in (declared.lo, declared.hi) if limit is not None)


def test_no_allowed_value_raises(kind: Kind) -> None:
    with headless() as context:
        engine = Engine(context)
        for node in _nodes(kind):
            for record in params_of(kind.settings):
                for value in _extremes(record):
                    changed = msgspec.structs.replace(node, settings=validated(node.settings, **{record.name: value}))
                    _run(engine, Scene(nodes=(changed,)), 0, 2)
        engine.release()


def _collider() -> Node:
    """Returns a collider with the default settings, below the moved nodes."""
    kind = next(kind for kind in KINDS.values() if ColliderSource in kind.declared)
    return Node(id="c", settings=kind.settings(), transform=Transform(position=(0.3, -0.3, 0.05)))


def _grab(engine: Engine, nodes: tuple[Node, ...]) -> Grab | None:
    """Returns a drag of the second particle of the first node that has particles."""
    for node in nodes:
        system = engine.simulation.systems.get(node.id)
        if not isinstance(system, Draggable) or not isinstance(system, System) or not system.is_ready:
            continue
        if (place := system.particle_position(1)) is not None:
            return Grab(node.id, 1, (place[0] + 0.3, place[1] + 0.2, place[2] + 0.1))
    return None


def test_equal_steps_give_equal_bits(kind: Kind) -> None:
    """Of two runs with a collider and a drag, of a run after a restored state, and of both back ends; at every step."""
    at_start, place = _nodes(kind), Transform(position=(0.3, 0.1, 0.0))
    moved = tuple(msgspec.structs.replace(node, transform=place) for node in at_start)
    scene, first, lines = Scene(nodes=(*moved, _collider())), dict[tuple[str, int], bytes](), dict[str, list[str]]()

    def compare(engine: Engine, title: str, step: int) -> None:
        for node, packed in engine.simulation.states().items():
            found = _differences(f"{node}, {title}, step {step}", packed, first.setdefault((node, step), packed))
            if found:
                lines.setdefault(f"{node}, {title}", found)  # the first step says most

    for choice in (BackEndChoice.TF, BackEndChoice.COMPUTE):
        with headless(choice) as context:
            engine = Engine(context)
            stepped = functools.partial(compare, engine, choice.value)
            _run(engine, Scene(nodes=at_start), 0, 2, stepped=stepped)
            _run(engine, scene, 2, STEPS // 4, stepped=stepped)
            _run(engine, scene, STEPS // 4, STEPS // 2, _grab(engine, at_start), stepped)
            state = engine.simulation.state()
            _run(engine, scene, STEPS // 2, STEPS, stepped=stepped)
            engine.restore(state, STEPS // 2 * STEP_TIME)
            again = functools.partial(compare, engine, f"{choice.value} after a restored state")
            _run(engine, scene, STEPS // 2, STEPS, stepped=again)
            engine.release()
    assert not lines, "\n".join(["different states:", *itertools.chain.from_iterable(lines.values())])


def _differences(title: str, packed: bytes, other: bytes) -> list[str]:
    if packed == other:
        return []
    here, there = state_fields(packed), state_fields(other)
    lines = [f"  {title}: {difference_text(name, here[name], there.get(name))}" for name in differing(here, there)]
    return lines or [f"  {title}: other fields"]


def test_it_is_drawn(kind: Kind) -> None:
    with headless() as context:
        engine, output = Engine(context), Framebuffer(context, (160, 120), ("rgba8",), label="output")
        _run(engine, Scene(nodes=_nodes(kind)), 0, 1)
        engine.refresh(STEP_TIME)
        engine.draw(output, Camera())
        engine.views.bounds(), engine.views.counts(), engine.views.marks()
        _run(engine, Scene(nodes=_nodes(kind)), 1, 2)
        output.release()
        engine.release()
