import random
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from sinew.app.project.project_file import load_project, save_project
from sinew.sim.assets.load import load_model
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds import KINDS
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import Role, params_of
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow

CHEAP = {
    "columns": (2, 9), "rows": (2, 9), "substeps": (1, 3), "capacity": (1, 64), "samples": (0, 4), "guides": (1, 64),
    "children": (0, 64), "groom": ((),), "maps": ((),), "weights": ((),), "avatar": ((),),
}  # fmt: skip
"""Counts whose upper ends would take too long; packed data; and `avatar`, which has one entry at most."""
SIZE = (48, 32)
TINY = 1e-30


def values(kind: inspect.Type, chosen: random.Random) -> Any:
    match kind:
        case inspect.Metadata(type=inner):
            return values(inner, chosen)
        case inspect.UnionType(types=kinds):
            return values(chosen.choice(kinds), chosen)
        case inspect.TupleType(item_types=items):
            return tuple(values(item, chosen) for item in items)
        case inspect.VarTupleType(item_type=inspect.UnionType() | inspect.StructType() as item):
            return tuple(values(item, chosen) for _ in range(chosen.choice((0, 1, 3))))
        case inspect.StructType(cls=cls):
            return extreme(cls, chosen)
        case inspect.VarTupleType(item_type=item):  # stops, in the order of their places
            return tuple(sorted(values(item, chosen) for _ in range(chosen.choice((1, 2, 32)))))
        case inspect.FloatType(ge=lo, le=hi):
            assert lo is not None
            assert hi is not None
            return chosen.choice([lo, hi, *(small for small in (0.0, TINY, -TINY) if lo <= small <= hi)])
        case inspect.IntType(ge=lo, le=hi):
            return chosen.choice([lo, hi])
        case inspect.EnumType(cls=cls):
            return chosen.choice(list(cls))
        case inspect.BoolType():
            return chosen.random() < 0.5
        case inspect.NoneType():
            return None
        case inspect.StrType():
            return ""
    raise TypeError(f"no values for {kind}")


def extreme(cls: type[msgspec.Struct], chosen: random.Random, share: float = 0.5) -> Any:
    """Settings of which a share stands at the ends, the rest as it is by default."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found = {}
    for record in params_of(cls):
        if record.name in CHEAP:
            found[record.name] = chosen.choice(CHEAP[record.name])
        elif record.declared.role is not Role.PATH and chosen.random() < share:
            found[record.name] = values(inspect.type_info(hints[record.name]), chosen)
    return cls(**found)


def extreme_scene(seed: int, model: Path) -> tuple[Scene, ViewState]:
    chosen = random.Random(seed)
    nodes: list[Node] = []
    for index, kind in enumerate([*KINDS, *chosen.choices(list(KINDS), k=2)]):
        settings = extreme(KINDS[kind].settings, chosen)
        if settings.is_character:
            settings = msgspec.structs.replace(settings, path=str(model))
        parent = chosen.choice(["", *(node.id for node in nodes)])
        transform = extreme(Transform, chosen)
        attachment = Attachment(node=parent, bone=chosen.choice(["", "root"]) if parent else "")
        nodes.append(Node(id=f"{kind}-{index}", name=f"{kind} {index}", settings=settings, transform=transform,
                          attachment=attachment, muted=chosen.random() < 0.1))  # fmt: skip
    scene = Scene(nodes=tuple(nodes), playback=extreme(PlaybackSettings, chosen), view=extreme(ViewSettings, chosen))
    return scene, ViewState(camera=extreme(Camera, chosen))


@pytest.fixture(scope="module")
def model(repo_root: Path) -> Path:
    return repo_root / "resources" / "models" / "tiny" / "tiny.ezm"


@pytest.mark.parametrize("seeds", [3, slow(8)])
def test_values_at_the_ends_of_all_ranges(
    context: Context, engine: Engine, model: Path, tmp_path: Path, seeds: int
) -> None:
    loaded, output, saved = load_model(model), Framebuffer(context, SIZE), tmp_path / "extreme.sinew"
    for seed in range(seeds):
        scene, state = extreme_scene(seed, model)
        engine.apply(Scene())
        engine.apply(scene)
        for node in scene.characters:
            engine.set_model(node.id, loaded, {})
        engine.simulation.reset()
        engine.teleport(0.0)
        for step in range(3):
            engine.step(step / 60)
        engine.refresh(0.0)
        engine.draw(output, state.camera)
        for box in [engine.views.bounds(), *(engine.views.bounds(node.id) for node in scene.nodes)]:
            if box is not None:
                engine.draw(output, state.camera.framed(box.lo, box.hi, SIZE[0] / SIZE[1]))
        assert engine.views.counts().vertices >= 0
        assert len(engine.views.marks()) <= len(scene.nodes)
        engine.pick(state.camera, SIZE, 20.0, 10.0)
        engine.simulation.check()
        assert [reported for reported in engine.simulation.take_problems() if "after error" in reported.text] == []
        save_project(saved, scene, state)
        project = load_project(saved)
        assert (project.scene, project.view_state) == (scene, state)
        assert project.warnings == ()
    output.release()
