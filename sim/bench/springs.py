"""Cost of a step of spring bones, and of their turns in the skin, against skinning alone."""

import itertools
from functools import partial

import msgspec
import numpy as np

from sinew.sim.animation.evaluate import assembled, bind_pose
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.model import CharacterModel, Skin
from sinew.sim.bench.pose import synthetic_character
from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.bench.skinning import INFLUENCES, synthetic_mesh
from sinew.sim.characters.joint_turns import JointTurns
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.kinds.contract import StepInputs
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.kinds.springs.system import SpringSystem
from sinew.sim.maths import quaternion
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene

CHAINS, LENGTH = 100, 8


def chained_character(vertex_count: int) -> CharacterModel:
    """Makes a body with 100 chains of 8 joints, which move random vertices."""
    random = np.random.default_rng(1)
    names, parents = ["body"], [-1]
    for chain in range(CHAINS):
        for number in range(LENGTH):
            names.append(f"chain {chain} {number}")
            parents.append(len(names) - 2 if number else 0)
    count = len(names)
    positions = np.tile([0.0, -0.02, -0.05], (count, 1))
    positions[1::LENGTH] = random.normal(scale=0.3, size=(CHAINS, 3))
    skeleton = build_skeleton(names, parents, positions, np.tile(quaternion.IDENTITY, (count, 1)), np.ones((count, 3)))
    weights = np.sort(random.dirichlet(np.ones(INFLUENCES), vertex_count), axis=1)[:, ::-1].astype(np.float32)
    joints = random.integers(0, count, (vertex_count, INFLUENCES)).astype(np.uint16)
    skin = Skin(joints, np.ascontiguousarray(weights), INFLUENCES)
    plain, mesh = synthetic_character(1), synthetic_mesh(vertex_count, random)
    return CharacterModel(
        plain.path, plain.format, None, "", mesh, skeleton, skin, (), (), "Y", "top", (),
    )  # fmt: skip


def springs_rows(bench: GpuBench, size: int) -> list[Row]:
    """Measures 100 chains of 8 joints on a character with this many vertices; the first row is skinning alone."""
    engine = bench.owns(Engine(bench.context, bench.library))
    engine.set_model("c", chained_character(size), {})
    roots = "; ".join(f"chain {chain} 0" for chain in range(CHAINS))
    settings = SpringBoneSettings(roots=roots, gravity=0.2)
    character = Node(id="c", settings=ModelSettings())
    nodes = [
        Node(id=f"s{count}", attachment=Attachment(node="c"), muted=count > 1,
             settings=msgspec.structs.replace(settings, substeps=count))
        for count in (1, 4)
    ]  # fmt: skip
    engine.apply(Scene(nodes=(character, *nodes)))
    engine.restart(0.0)
    posed = engine.views.characters["c"]
    local = bind_pose(posed.model).local
    poses = []
    for angle in (-0.1, 0.1):
        orientations = local.orientations.copy()
        orientations[0] = quaternion.from_axis_angle([0.0, 1.0, 0.0], angle)
        poses.append(assembled(posed.model, msgspec.structs.replace(local, orientations=orientations)))
    endless = itertools.cycle(poses)
    one, four = (engine.simulation.systems[node.id] for node in nodes)
    assert isinstance(one, SpringSystem)
    assert isinstance(four, SpringSystem)
    assert one.turns is not None
    turned: tuple[JointTurns, ...] = (one.turns,)
    posed.set_turns(nodes[0].id, None)  # The other node would read them back, to swing on top of them.
    inputs = StepInputs(engine.world, engine.simulation.colliders.now, 1, STEP_TIME)

    def skin(turns: tuple[JointTurns, ...]) -> None:
        posed.primary.skin(next(endless), SkinningMethod.LBS, turns)

    def step(system: SpringSystem) -> None:
        posed.animated_pose = next(endless)
        system.step(inputs)

    steps = {
        "skinning alone": partial(skin, ()),
        "skinning with turns": partial(skin, turned),
        "a step": partial(step, one),
        "a step of 4 substeps": partial(step, four),
    }
    return bench.rows(steps, system="springs", size=size, unit="vertices", steps=5)
