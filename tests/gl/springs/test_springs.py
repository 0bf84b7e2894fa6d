"""Spring bones: known answers, the text of the specification in double precision, skins, states and colliders."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.rig import Rig, Spring, SpringJoint
from sinew.sim.cache.keys import node_keys
from sinew.sim.cache.step_store import StepStore
from sinew.sim.characters import reference
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.field.settings import FieldSettings, FieldSource
from sinew.sim.kinds.springs import chain_pose
from sinew.sim.kinds.springs.settings import SUBSTEPS_MAX, SpringBoneSettings
from sinew.sim.kinds.springs.system import SpringSystem
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.params import params_of
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.gl.colliders.test_skin import ball, box
from tests.gl.springs.rig import NAMES, PARENTS, SPRINGS, tailed
from tests.model_samples import mesh_of, model_of
from tests.oracles.skin import signed_distances
from tests.oracles.springs import SpringOracle

Float64 = npt.NDArray[np.float64]
SETTINGS = ModelSettings(path="tailed")
CHARACTER = Node(id="c", name="Character", settings=SETTINGS)
OF_FILE = SpringBoneSettings(from_file=True, collide=False)
TAIL = SpringBoneSettings(roots="tail_1", gravity=0.3, radius=0.03, collide=False)


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    yield made
    made.release()


BODY = Node(
    id="d", settings=ModelSettings(path="ball"), attachment=Attachment(node="c", bone="body"),
    transform=Transform(position=(0.05, -0.25, -0.5)),
)  # fmt: skip
SKIN = Node(id="k", settings=ColliderSettings(shape=ColliderShape.SKIN), attachment=Attachment(node="d"))


def springs(settings: SpringBoneSettings = OF_FILE, name: str = "s", **changes: Any) -> Node:
    return Node(id=name, name="Springs", attachment=Attachment(node="c"), settings=settings, **changes)


def start(engine: Engine, model: CharacterModel, *nodes: Node, character: Node = CHARACTER) -> SpringSystem:
    engine.set_model("c", model, {})
    if BODY in nodes:
        engine.set_model("d", model_of(ball(0.15, 24)), {})
    engine.apply(Scene(nodes=(character, *(nodes or (springs(),)))))
    engine.restart(0.0)
    system = engine.simulation.systems["s"]
    assert isinstance(system, SpringSystem)
    return system


def run(engine: Engine, first: int, last: int) -> None:
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)


def problems(engine: Engine) -> list[str]:
    return [problem.text for problem in engine.simulation.take_problems()]


def lone(**values: Any) -> CharacterModel:
    """One joint with a tip 1 m along x."""
    model, flat = tailed(), np.tile(quaternion.IDENTITY, (len(PARENTS), 1))
    assert model.skeleton is not None
    positions = model.skeleton.bind_positions
    skeleton = build_skeleton(NAMES, PARENTS, positions, flat, np.ones((len(PARENTS), 3)))
    joint = SpringJoint(2, -1, tail_offset=(1.0, 0.0, 0.0), **values)
    return replace(model, skeleton=skeleton, clips=(), rig=Rig(springs=(Spring("one", (joint,)),)))


@ON_BOTH
def test_a_joint_falls_by_the_known_angles(context: Context, engine: Engine) -> None:
    system = start(engine, lone(stiffness=1.0, gravity=(0.0, -1.0, 0.0), drag=0.4))
    head = engine.views.characters["c"].joint_positions()[2]
    run(engine, 0, 1)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    assert math.degrees(math.atan2(-y, x)) == pytest.approx(0.939191, abs=1e-4)
    run(engine, 1, 400)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    assert math.degrees(math.atan2(-y, x)) == pytest.approx(45.0, abs=1e-3)


@pytest.mark.parametrize(
    ("context", "scale", "speed"),
    [("tf", 1.0, 0.0), slow("compute", 1.0, 0.0), slow("tf", 0.5, 0.0), slow("tf", 1.0, 7.0)],
    indirect=["context"],
)
def test_it_is_the_specification_in_double_precision(
    context: Context, engine: Engine, scale: float, speed: float
) -> None:
    """Branches, skipped joints, a centre, all forms of colliders, a clip that turns joints of the chains, and a run."""
    model = tailed(scale=scale)
    start(engine, model)
    character = engine.views.characters["c"]
    oracle = SpringOracle(PARENTS, SPRINGS, model.rig.colliders)
    for step in range(181):
        if speed:
            there = Transform(position=(100.0 + speed * step * STEP_TIME, 0.0, 50.0))
            engine.apply(Scene(nodes=(msgspec.structs.replace(CHARACTER, transform=there), springs())))
        if step:
            run(engine, step - 1, step)
        else:
            engine.restart(0.0)
        found, expected = character.joint_positions(), expected_joints(character, oracle)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * CHAIN * scale)
    assert oracle.touches > 100


CHAIN = 0.72
"""Length of the tail [m]."""


def expected_joints(character: Any, oracle: SpringOracle) -> Float64:
    local = character.animated_pose.local
    world = oracle.step(local.positions, local.orientations, local.scales, character.world_from_model)
    return np.array([one[:3, 3] for one in world])


@pytest.mark.parametrize("seed", [8, slow(16)])
def test_every_step_is_that_of_double_precision(context: Context, engine: Engine, seed: int) -> None:
    """Colliders that squeeze a tail enlarge any rounding a thousandfold in a few steps: each begins from the same."""
    system = start(engine, tailed(seed=seed))
    character, owners = engine.views.characters["c"], {one.joint: spring for spring in SPRINGS for one in spring.joints}
    oracle = SpringOracle(PARENTS, SPRINGS, character.model.rig.colliders)
    expected_joints(character, oracle)
    for step in range(120):
        records, tips = system.turns.state.newest.read(), system.arrays()["tips"].read().astype(np.float64)
        world = character.world_from_model @ character.animated_pose.model_from_joint
        for joint, tip, record in zip(system.turns.joints.tolist(), tips, records, strict=False):
            oracle.tips[joint] = oracle.to_center(owners[joint], world, tip)
            oracle.previous[joint] = oracle.to_center(owners[joint], world, tip - record["move"][:3])
        run(engine, step, step + 1)
        np.testing.assert_allclose(
            character.joint_positions(), expected_joints(character, oracle), rtol=0, atol=2e-6 * CHAIN
        )
    assert oracle.touches > 20


@pytest.mark.parametrize("substeps", [1, slow(4)])
def test_colliders_of_a_file_move_within_a_step(context: Context, engine: Engine, substeps: int) -> None:
    """The character slides, so that its pose between two steps is the mean; with the last pose tails are 0.03 m off."""
    model, count = tailed(turns=False), substeps
    start(engine, model, springs(msgspec.structs.replace(OF_FILE, substeps=count)))
    character = engine.views.characters["c"]
    oracle = SpringOracle(PARENTS, SPRINGS, model.rig.colliders, substeps=count)
    expected, before = expected_joints(character, oracle), character.animated_pose.local
    for step in range(60):
        run(engine, step, step + 1)
        now = character.animated_pose.local
        for substep in range(count):
            share = (substep + 1) / count
            places = (1.0 - share) * before.positions + share * now.positions
            world = oracle.step(places, now.orientations, now.scales, character.world_from_model)
        expected, before = np.array([one[:3, 3] for one in world]), now
        np.testing.assert_allclose(character.joint_positions(), expected, rtol=0, atol=3e-5 * CHAIN)
    assert oracle.touches > 30


def test_uneven_scales_are_computed_in_the_world_alike(
    context: Context, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for even in (chain_pose._EVEN, -1.0):
        monkeypatch.setattr(chain_pose, "_EVEN", even)
        start(engine, tailed(scale=0.7), springs(msgspec.structs.replace(OF_FILE, substeps=2)))
        run(engine, 0, 60)
        found.append(engine.views.characters["c"].joint_positions())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-5)
    assert found[0].tobytes() != found[1].tobytes()


def test_own_chains_have_the_settings_along_them(context: Context, engine: Engine) -> None:
    """Stops of a curve at k / (joints - 1) hold the values of the joints exactly."""
    stiffness = (0.9, 0.4, 0.1)
    stops = tuple((k / 2.0, value) for k, value in enumerate(stiffness))
    settings = msgspec.structs.replace(
        TAIL, roots="tail_1", end_bones="tail_4; fin_1", stiffness=1.0, stiffness_curve=stops, center="head",
    )  # fmt: skip
    model = replace(tailed(), rig=Rig())
    start(engine, model, springs(settings))
    joints = tuple(
        SpringJoint(number, number + 1, stiffness=value, gravity=(0.0, -0.3, 0.0), drag=0.4)
        for number, value in zip((2, 3, 4), stiffness, strict=True)
    )
    oracle = SpringOracle(PARENTS, (Spring("tail", joints, center=1),))
    character = engine.views.characters["c"]
    for step in range(61):
        if step:
            run(engine, step - 1, step)
        local = character.animated_pose.local
        world = oracle.step(local.positions, local.orientations, local.scales, character.world_from_model)
        np.testing.assert_allclose(character.joint_positions(), [one[:3, 3] for one in world], rtol=0, atol=5e-6)


@ON_BOTH
@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("placement", [Transform(), Transform(position=(3.0, 1.0, -2.0), rotation=(20.0, 70.0, -40.0),
                                                             scale=(0.01, 0.01, 0.01))])  # fmt: skip
def test_the_skin_is_turned_on_the_gpu_as_on_the_cpu(
    context: Context, engine: Engine, method: SkinningMethod, placement: Transform
) -> None:
    model = tailed(scale=1.3)
    settings = msgspec.structs.replace(SETTINGS, skinning=method, unit_scale=1.0)
    node = msgspec.structs.replace(CHARACTER, settings=settings, transform=placement)
    nodes = springs(TAIL), springs(msgspec.structs.replace(TAIL, roots="tail_3; hair_1"), "t")
    start(engine, model, *nodes, character=node)
    run(engine, 0, 20)
    character = engine.views.characters["c"]
    assert np.abs(character.pose.palette - character.animated_pose.palette).max() > 0.1
    pose, vertices = character.pose, character.primary.read()
    assert model.skin is not None
    expected = reference.skin(model.mesh, model.skin, pose.palette, method, pose.centres)
    np.testing.assert_allclose(vertices["position"][:, :3], expected.positions, rtol=0, atol=4e-6)
    np.testing.assert_allclose(vertices["normal"][:, :3], expected.normals, rtol=0, atol=2e-5)
    # What other programs read: local transforms make the same joints.
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    world: list[Float64] = []
    for number, parent in enumerate(PARENTS):
        world.append(local[number] if parent < 0 else world[parent] @ local[number])
    np.testing.assert_allclose(np.array(world), pose.model_from_joint, rtol=0, atol=1e-6)
    box = engine.views.bounds("c")
    assert box is not None
    points = vertices["position"][:, :3] @ character.world_from_model[:3, :3].T + character.world_from_model[:3, 3]
    if method is SkinningMethod.LBS:
        assert (points >= box.lo - 1e-5).all()
        assert (points <= box.hi + 1e-5).all()


DOWN = Transform(rotation=(180.0, 0.0, 0.0))
FIELDS = [
    (FieldSettings(type=FieldType.WIND, speed=2.5), 2.5 * 0.4),
    (FieldSettings(type=FieldType.ATTRACTOR, source=FieldSource.PLANE, strength=-60.0, power=0.0, core=1e-3), 1.0),
]
"""A field whose axis points down, and the tangent of the angle at which it holds the lone joint."""


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    ("field", "tangent", "drag"), [slow(*FIELDS[0], 0.0), (*FIELDS[0], 30.0), (*FIELDS[1], 0.0), slow(*FIELDS[1], 30.0)]
)
def test_fields_hold_a_joint_at_the_known_angle(
    context: Context, engine: Engine, field: FieldSettings, tangent: float, drag: float
) -> None:
    """Wind acts by the drag of the joint and of other fields, an acceleration of 60 m/s² as a gravity of 1."""
    down = Node(id="f", settings=field, transform=msgspec.structs.replace(DOWN, position=(0.0, 5.0, 0.0)))
    slow = Node(id="g", settings=FieldSettings(type=FieldType.DRAG, drag=drag))
    system = start(engine, lone(stiffness=1.0, gravity=(0.0, 0.0, 0.0), drag=0.4), springs(), down, slow)
    head = engine.views.characters["c"].joint_positions()[2]
    if field.type is FieldType.WIND:
        tangent = 2.5 * (1.0 - 0.6 * math.exp(-drag * STEP_TIME))
    run(engine, 0, 1)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    assert -y / x == pytest.approx(tangent / 61.0, rel=1e-5)
    run(engine, 1, 600)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    assert -y / x == pytest.approx(tangent, rel=1e-4)


@COMPUTE_IN_CAMPAIGN
def test_fields_act_on_chosen_bones_of_a_run_and_leave_others_alone(context: Context, engine: Engine) -> None:
    """Each at its tip, also far from the origin; a field that a turned bone carries is left out."""
    there, model = Transform(position=(1000.0, 0.0, 0.0)), replace(tailed(), clips=())
    character = msgspec.structs.replace(CHARACTER, transform=there)
    vortex = FieldSettings(type=FieldType.VORTEX, shape=FieldShape.SPHERE, radius=0.05, falloff=0.01)
    start(engine, model, springs(TAIL), character=character)
    run(engine, 0, 2)
    x, y, z = engine.simulation.systems["s"].arrays()["tips"].read()[3].tolist()
    results = {}
    for name, changes, fields in (
        ("none", {}, ()),
        ("weight", {"field_weight": 0.0}, ({},)),
        ("turned", {}, ({"attachment": Attachment(node="c", bone="tail_2"), "transform": Transform()},)),
        ("tip", {}, ({},)),
    ):
        nodes = [
            Node(**{"id": "f", "settings": vortex, "transform": Transform(position=(x, y, z))} | one) for one in fields
        ]
        system = start(engine, model, springs(msgspec.structs.replace(TAIL, **changes)), *nodes, character=character)
        run(engine, 0, 3)
        results[name] = system.turns.state.newest.read(count=len(system.turns.joints))
    assert results["none"].tobytes() == results["weight"].tobytes() == results["turned"].tobytes()
    moved = (results["tip"]["arm"] != results["none"]["arm"]).any(axis=1)
    assert moved.any()
    assert not moved[:2].any()


def test_fields_on_bones_change_the_keys_of_what_rides_on_them(context: Context, engine: Engine) -> None:
    rider = Node(id="q", settings=ClothSettings(), attachment=Attachment(node="c", bone="tail_4"))
    keys = []
    for more in ((), (Node(id="f", settings=FieldSettings(on_cloth=False)),),
                 (Node(id="f", settings=FieldSettings(on_cloth=False, on_others=False)),)):  # fmt: skip
        start(engine, tailed(), springs(TAIL), rider, *more)
        keys.append(node_keys(engine.world)["q"])
    assert keys[0] == keys[2] != keys[1]


BALL = Node(id="b", name="Ball", transform=Transform(position=(0.05, 0.75, -0.5)),
            settings=ColliderSettings(shape=ColliderShape.SPHERE, radius=0.15))  # fmt: skip
GUSTS = Node(id="w", settings=FieldSettings(type=FieldType.TURBULENCE), attachment=Attachment(node="c", bone="head"))
COLLIDING = msgspec.structs.replace(TAIL, collide=True, substeps=3, center="head")


def bits(context: Context, model: CharacterModel, nodes: tuple[Node, ...], steps: int) -> bytes:
    engine = Engine(context)
    start(engine, model, *nodes)
    run(engine, 0, steps)
    state = engine.simulation.states()["s"]
    vertices = engine.views.characters["c"].primary.read().tobytes()
    engine.release()
    return state + vertices


def test_both_back_ends_give_the_same_bits(context: Context) -> None:
    if not context.back_ends.has_compute:
        pytest.skip("no compute here")
    found = []
    for choice in (BackEndChoice.TF, BackEndChoice.COMPUTE):
        context.back_ends.choice = choice
        found.append(
            [
                bits(context, tailed(), nodes, 60)
                for nodes in ((springs(),), (springs(COLLIDING), BALL, GUSTS), (springs(COLLIDING), BODY, SKIN, BALL))
            ]
        )
    assert found[0] == found[1]


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    "nodes",
    [
        (springs(),),
        slow((springs(COLLIDING), BALL)),
        (springs(COLLIDING), BODY, SKIN),
        slow((springs(COLLIDING), springs(msgspec.structs.replace(TAIL, roots="tail_3"), "t"), BALL, GUSTS)),
    ],
)
def test_a_restored_state_gives_the_same_bits(context: Context, engine: Engine, nodes: tuple[Node, ...]) -> None:
    start(engine, tailed(), *nodes)
    run(engine, 0, 60)
    state = engine.simulation.state()
    character = engine.views.characters["c"]
    run(engine, 60, 120)
    expected = engine.simulation.state(), character.primary.read().tobytes(), character.pose.palette.tobytes()
    engine.restart(0.0)
    run(engine, 0, 7)
    assert engine.restore(state, 60 * STEP_TIME) == frozenset()
    assert engine.simulation.state() == state
    run(engine, 60, 120)
    assert (engine.simulation.state(), character.primary.read().tobytes(), character.pose.palette.tobytes()) == expected
    assert problems(engine) == []


def test_restoring_skins_what_it_restores(context: Context, engine: Engine) -> None:
    start(engine, tailed())
    run(engine, 0, 30)
    state, vertices = engine.simulation.state(), engine.views.characters["c"].primary.read().tobytes()
    run(engine, 30, 40)
    engine.restore(state, 30 * STEP_TIME)
    assert engine.views.characters["c"].primary.read().tobytes() == vertices
    engine.advance(30 * STEP_TIME)
    assert engine.views.characters["c"].primary.read().tobytes() == vertices


def test_chains_stay_connected_between_steps(context: Context, engine: Engine) -> None:
    start(engine, tailed())
    run(engine, 0, 30)
    character = engine.views.characters["c"]
    first = engine.simulation.states()["s"]
    lengths = bone_lengths(character)
    engine.advance(30.4 * STEP_TIME)
    np.testing.assert_allclose(bone_lengths(character), lengths, atol=1e-9)
    run(engine, 30, 31)
    system = engine.simulation.systems["s"]
    second = engine.simulation.states()["s"]
    system.restore(system.interpolate(first, second, 0.5), engine.world)
    np.testing.assert_allclose(bone_lengths(character), lengths, atol=1e-9)


def bone_lengths(character: Any) -> Float64:
    places = character.joint_positions()
    return np.linalg.norm(places[1:] - places[list(PARENTS[1:])], axis=1)


def test_colliders_of_the_scene_keep_the_tips_out(context: Context, engine: Engine) -> None:
    still = replace(tailed(), clips=())
    free = start(engine, still, springs(TAIL))
    run(engine, 0, 120)
    places = free.arrays()["tips"].read()
    middle = np.add(places[2], [0.0, -0.02, 0.0])
    ball = msgspec.structs.replace(BALL, transform=Transform(position=tuple(middle.tolist())))
    system = start(engine, still, springs(msgspec.structs.replace(TAIL, collide=True)), ball)
    run(engine, 0, 240)
    away = np.linalg.norm(system.arrays()["tips"].read() - middle, axis=1)
    assert np.linalg.norm(places - middle, axis=1).min() < 0.1
    assert away.min() > 0.15
    assert away.min() == pytest.approx(0.18, abs=5e-3)


def capsule(radius: float, **placed: Any) -> Node:
    settings = ColliderSettings(shape=ColliderShape.CAPSULE, radius=radius, length=4.0)
    return Node(id="b", settings=settings, transform=Transform(**placed))


def test_a_bone_rests_on_a_capsule_at_the_known_angle(context: Context, engine: Engine) -> None:
    """The axis is on the circle of the tip, 60° below x; the chord from there to the tip is the sum of the radii."""
    system = start(engine, lone(stiffness=0.0, gravity=(0.0, -1.0, 0.0), radius=0.05))
    head = engine.views.characters["c"].joint_positions()[2]
    x, y, z = np.add(head, [math.cos(math.radians(60.0)), -math.sin(math.radians(60.0)), 0.0]).tolist()
    pole = capsule(0.2, position=(x, y, z), rotation=(90.0, 0.0, 0.0))
    engine.apply(Scene(nodes=(CHARACTER, springs(SpringBoneSettings(from_file=True)), pole)))
    run(engine, 0, 200)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    expected = 60.0 - math.degrees(2.0 * math.asin(0.5 * 0.25))
    assert math.degrees(math.atan2(-y, x)) == pytest.approx(expected, abs=0.02)


@COMPUTE_IN_CAMPAIGN
def test_a_bone_rests_on_a_skin_at_the_known_angle(context: Context, engine: Engine) -> None:
    """As on the capsule; then the skin rises by 3 cm a step, and the bone goes with it."""
    system = start(engine, lone(stiffness=0.0, gravity=(0.0, -1.0, 0.0), radius=0.05))
    head = engine.views.characters["c"].joint_positions()[2]
    middle = np.add(head, [math.cos(math.radians(60.0)), -math.sin(math.radians(60.0)), 0.0])
    engine.set_model("d", model_of(ball(0.2, 48)), {})
    moved = (Key(3.0, float(middle[1]), KeyMode.LINEAR), Key(3.1, float(middle[1]) + 0.18))
    body = Node(
        id="d", settings=ModelSettings(path="ball"), transform=Transform(position=tuple(middle.tolist())),
        curves=(Curve(part="transform", field="position", component=1, keys=moved),),
    )  # fmt: skip
    engine.apply(Scene(nodes=(CHARACTER, springs(SpringBoneSettings(from_file=True)), body, SKIN)))
    run(engine, 0, 178)
    x, y, _ = system.arrays()["tips"].read()[0] - head
    expected = 60.0 - math.degrees(2.0 * math.asin(0.5 * 0.25))
    assert math.degrees(math.atan2(-y, x)) == pytest.approx(expected, abs=0.02)
    mesh = ball(0.2, 48)
    for step in range(178, 186):
        run(engine, step, step + 1)
        centre = engine.world.places.world_from_node(engine.world.scene.node("d"))[:3, 3]
        tips = system.arrays()["tips"].read().astype(float) - centre
        assert signed_distances(tips, mesh.positions[mesh.triangles].astype(float)).min() > 0.05 - 1e-3
    assert problems(engine) == []


def test_a_chain_meets_its_own_skin_but_not_what_it_moves(context: Context, engine: Engine) -> None:
    """The tail lies in a sleeve that it moves, above a floor that it does not move."""
    model = replace(tailed(turns=False), clips=(), rig=Rig())
    floor, sleeve = box((1.0, 0.05, 1.0), 8), box((0.1, 0.1, 0.1), 2)
    system = start(engine, model, springs(TAIL))
    run(engine, 0, 200)
    free = system.arrays()["tips"].read().astype(float)
    low = float(free[:, 1].min())
    below = np.array([0.0, low + 0.1, -0.4])
    places = np.concatenate([floor.positions + below, sleeve.positions + free[1]]).astype(np.float32)
    count = len(floor.positions)
    owner = np.where(np.arange(len(places)) < count, 0, NAMES.index("tail_2"))
    joints = np.stack([owner, np.zeros_like(owner), np.zeros_like(owner), np.zeros_like(owner)], axis=1)
    weights = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(places), 1))
    both = np.concatenate([floor.triangles, sleeve.triangles + count])
    model = replace(
        model,
        mesh=mesh_of(places, both, normals=np.concatenate([floor.normals, sleeve.normals])),
        skin=replace(model.skin, joints=joints.astype(model.skin.joints.dtype), weights=weights, influence_max=1),
    )
    own = msgspec.structs.replace(SKIN, attachment=Attachment(node="c"))
    system = start(engine, model, springs(msgspec.structs.replace(TAIL, collide=True)), own)
    run(engine, 0, 40)
    state = engine.simulation.state()
    run(engine, 40, 200)
    expected = engine.simulation.state()
    engine.restart(0.0)
    engine.restore(state, 40 * STEP_TIME)
    run(engine, 40, 200)
    assert engine.simulation.state() == expected
    np.testing.assert_array_equal(engine.views.characters["c"].turned_vertices(), owner > 0)
    tips = system.arrays()["tips"].read().astype(float)
    assert tips[:, 1].min() == pytest.approx(low + 0.15 + 0.03, abs=2e-3)
    assert problems(engine) == []


@pytest.mark.parametrize(("speed", "side"), [slow(1.5, 0.2), (7.0, 0.1)])
def test_a_tail_does_not_pass_through_a_pole_at_the_speed_of_a_run(
    context: Context, engine: Engine, speed: float, side: float
) -> None:
    """The character runs past the pole, whose diameter is half of the way of a step, and drags the tail around it."""
    model, middle, radius = replace(tailed(), clips=(), rig=Rig()), np.array([0.0, -side]), 0.03
    pole, nearest = capsule(radius, position=(0.0, 1.0, -side)), []
    for collide in (False, True):
        settings = msgspec.structs.replace(TAIL, collide=collide, gravity=0.0, stiffness=0.5)
        engine.set_model("c", model, {})
        ways = []
        for step in range(int(3.0 / speed / STEP_TIME)):
            there = Transform(position=(speed * step * STEP_TIME - 2.0, 0.0, 0.0))
            runner = msgspec.structs.replace(CHARACTER, transform=there)
            engine.apply(Scene(nodes=(runner, springs(settings), pole)))
            if step:
                run(engine, step - 1, step)
            else:
                engine.restart(0.0)
            ways.append(engine.simulation.systems["s"].arrays()["tips"].read().astype(float)[:, [0, 2]])
        before, after = np.array(ways[:-1]), np.array(ways[1:])
        path = after - before
        share = ((middle - before) * path).sum(axis=-1) / np.maximum((path**2).sum(axis=-1), 1e-12)
        apart = before + np.clip(share, 0.0, 1.0)[..., None] * path - middle
        nearest.append(np.linalg.norm(apart, axis=-1).min())
    assert nearest[0] < 0.5 * radius
    assert nearest[1] > 1.1 * radius


def test_a_collider_on_a_turned_bone_is_left_out(context: Context, engine: Engine) -> None:
    settings = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.3)
    on_tail = Node(id="b", settings=settings, attachment=Attachment(node="c", bone="tail_3"))
    start(engine, tailed(), springs(msgspec.structs.replace(TAIL, collide=True)), on_tail)
    run(engine, 0, 30)
    met = engine.simulation.states()["s"]
    start(engine, tailed(), springs(msgspec.structs.replace(TAIL, collide=True)))
    run(engine, 0, 30)
    assert engine.simulation.states()["s"] == met


def test_what_is_attached_to_a_turned_bone_follows_it(context: Context, engine: Engine) -> None:
    """A node, a collider, and another character with spring bones of its own."""
    child = Node(id="d", name="Rider", settings=SETTINGS, attachment=Attachment(node="c", bone="tail_4"))
    own = Node(id="e", attachment=Attachment(node="d"), settings=TAIL)
    ball = Node(id="b", settings=ColliderSettings(), attachment=Attachment(node="c", bone="tail_4"))
    engine.set_model("d", tailed(), {})
    states = []
    for nodes in ((springs(), child, ball, own), (own, child, ball, springs())):
        start(engine, tailed(), *nodes)
        run(engine, 0, 40)
        states.append(engine.simulation.states())
    assert states[0] == states[1]
    character, rider = engine.views.characters["c"], engine.views.characters["d"]
    frame = character.joint_frame("tail_4")
    assert frame is not None
    assert np.abs(frame[:3, 3] - character.world_from_model[:3, 3] - character.animated_pose.model_from_joint[5, :3, 3]
                  ).max() > 0.01  # fmt: skip
    np.testing.assert_allclose(rider.world_from_model[:3, 3], frame[:3, 3], atol=1e-9)
    np.testing.assert_allclose(engine.views.places.world_from_node(ball), frame, atol=1e-9)
    state = engine.simulation.state()
    run(engine, 40, 60)
    expected = engine.simulation.state()
    engine.restore(state, 40 * STEP_TIME)
    run(engine, 40, 60)
    assert engine.simulation.state() == expected
    assert problems(engine) == []


def test_a_jump_keeps_the_turns_and_makes_no_velocity(context: Context, engine: Engine) -> None:
    model = replace(tailed(), clips=())
    system = start(engine, model, springs(TAIL))
    run(engine, 0, 300)
    turns = system.arrays()["turns"].read()
    moved = msgspec.structs.replace(CHARACTER, transform=Transform(position=(100.0, 0.0, 50.0)))
    engine.apply(Scene(nodes=(moved, springs(TAIL))))
    engine.teleport(5.0)
    np.testing.assert_allclose(system.arrays()["turns"].read(), turns, atol=1e-6)
    run(engine, 300, 310)
    np.testing.assert_allclose(system.arrays()["turns"].read(), turns, atol=1e-4)


def test_a_cut_of_the_clip_is_a_jump(context: Context, engine: Engine) -> None:
    """The clip of 5 s does not end where it begins: the chains are carried over, and do not swing because of it."""
    system = start(engine, tailed(), springs(TAIL))
    character = engine.views.characters["c"]
    run(engine, 0, 299)
    changes, jumps = [], []
    for step in range(299, 302):
        turns, place = system.arrays()["turns"].read(), character.animated_pose.model_from_joint[0]
        run(engine, step, step + 1)
        changes.append(np.abs(system.arrays()["turns"].read() - turns).max())
        jumps.append(np.abs(character.animated_pose.model_from_joint[0] - place).max())
    assert max(jumps) > 0.5
    assert max(changes) < 0.15


def test_a_muted_node_leaves_the_bones_to_the_animation(context: Context, engine: Engine) -> None:
    start(engine, tailed())
    run(engine, 0, 20)
    character = engine.views.characters["c"]
    engine.apply(Scene(nodes=(CHARACTER, springs(muted=True))))
    run(engine, 20, 21)
    assert character.pose is character.animated_pose
    engine.apply(Scene(nodes=(CHARACTER, springs())))
    run(engine, 21, 30)
    assert np.abs(character.pose.palette - character.animated_pose.palette).max() > 0.01
    engine.apply(Scene(nodes=(CHARACTER,)))
    run(engine, 30, 31)
    assert character.pose is character.animated_pose
    assert problems(engine) == []


def test_infinite_values_stop_it(context: Context, engine: Engine) -> None:
    system = start(engine, tailed())
    run(engine, 0, 10)
    engine.simulation.check()
    records = system.turns.state.newest.read()
    records["arm"][1, 0] = np.nan
    system.turns.state.write(records)
    run(engine, 10, 11)
    engine.simulation.check()
    assert "s" in engine.simulation.stopped
    assert any("bounds" in text for text in problems(engine))
    assert np.isfinite(engine.views.characters["c"].pose.palette).all()
    system.resume()
    run(engine, 11, 20)
    engine.simulation.check()
    assert engine.simulation.stopped == {}


@pytest.mark.parametrize("number", range(8))
def test_every_allowed_value_is_simulated(context: Context, engine: Engine, number: int) -> None:
    """Bounds of all settings in random combinations: no error, no infinite value."""
    random = np.random.default_rng(number)
    values: dict[str, Any] = {"roots": "tail_1; hair_1; missing; tail_2", "end_bones": random.choice(["", "fin_1; x"])}
    for record in params_of(SpringBoneSettings):
        if record.type in (int, float):
            ends = record.declared.lo, record.declared.hi, record.default
            values[record.name] = record.type(ends[random.integers(3)])
        elif record.type is bool:
            values[record.name] = bool(random.integers(2))
    values["substeps"] = int(random.choice([1, 2, SUBSTEPS_MAX]))
    values["direction"] = tuple(random.choice([-1e6, 0.0, 1e6], 3).tolist())
    values["center"] = str(random.choice(["", "head", "tail_2", "missing"]))
    values["radius_curve"] = ((0.5, 100.0),)
    system = start(engine, tailed(), springs(SpringBoneSettings(**values)), BALL)
    run(engine, 0, 5)
    engine.simulation.check()
    assert engine.simulation.stopped == {}
    assert np.isfinite(system.arrays()["turns"].read()).all()
    assert all("no bone" in text for text in problems(engine))


def test_long_chains_swing_as_far_as_the_kernel_goes(context: Context, engine: Engine) -> None:
    model = tailed()
    names = tuple(f"b{number}" for number in range(80))
    flat = np.tile(quaternion.IDENTITY, (80, 1))
    skeleton = build_skeleton(names, range(-1, 79), np.tile([0.0, 0.0, 0.02], (80, 1)), flat, np.ones((80, 3)))
    model = replace(model, skeleton=skeleton, clips=(), rig=Rig())
    system = start(engine, model, springs(SpringBoneSettings(roots="b1", stiffness=0.0, gravity=1.0)))
    assert len(system.turns.joints) == 64
    run(engine, 0, 60)
    assert any("64" in text for text in problems(engine))
    places = engine.views.characters["c"].joint_positions()
    np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), 0.02, atol=1e-6)
    assert places[40, 1] < -0.1


def test_what_is_missing_is_said(context: Context, engine: Engine) -> None:
    engine.set_model("c", replace(tailed(), rig=Rig()), {})
    for node, text in (
        (springs(), "The file of the model has no spring bones."),
        (springs(SpringBoneSettings()), "Name the root bones."),
        (Node(id="s", settings=OF_FILE), "Choose the model whose bones swing, under Attachment."),
    ):
        engine.apply(Scene(nodes=(CHARACTER, node)))
        system = engine.simulation.systems["s"]
        assert isinstance(system, SpringSystem)
        assert not system.is_ready
        assert system.missing_text == text
        engine.restart(0.0)
        run(engine, 0, 2)
    assert problems(engine) == []


def test_cached_steps_do_not_depend_on_the_frame_rate(context: Context, engine: Engine) -> None:
    found = []
    for rate in (24.0, 60.0, 144.0):
        own = Engine(context)
        own.set_model("c", tailed(), {})
        runner = SimulationRunner(own, StepStore(1 << 26))
        own.apply(Scene(nodes=(CHARACTER, springs(COLLIDING), BALL, GUSTS)))
        runner.take(0.0)
        runner.reset()
        for frame in range(int(1.5 * rate)):
            time = frame / rate
            for step in range(runner.shown + 1, runner.step_of(time) + 1):
                assert runner.advance(step)
            own.advance(runner.show_between(time))
            own.refresh(time)
        runner.cache.flush()
        found.append([runner.state_at(step) for step in (1, 20, 40, 80)])
        runner.release()
        own.release()
    assert found[0] == found[1] == found[2]
    assert None not in found[0]


@pytest.mark.slow
def test_an_avatar_swings_as_specified(context: Context, engine: Engine, assets: Path) -> None:
    """A file of VRM 0.x, swung and turned by its node."""
    model = load_model(assets / "vrm" / "Godette_vrm_v4.vrm")
    assert model.skeleton is not None
    assert (model.skeleton.parents < np.arange(model.skeleton.joint_count)).all(), "the oracle needs parents first"
    start(engine, model)
    character = engine.views.characters["c"]
    oracle = SpringOracle(model.skeleton.parents.tolist(), model.rig.springs, model.rig.colliders)
    moved = 0.0
    for step in range(91):
        swing = math.sin(0.1 * step)
        transform = Transform(position=(0.4 * swing, 0.0, 0.0), rotation=(0.0, 60.0 * swing, 0.0))
        engine.apply(Scene(nodes=(msgspec.structs.replace(CHARACTER, transform=transform), springs())))
        if step:
            run(engine, step - 1, step)
        else:
            engine.restart(0.0)
        local = character.animated_pose.local
        world = oracle.step(local.positions, local.orientations, local.scales, character.world_from_model)
        np.testing.assert_allclose(character.joint_positions(), [one[:3, 3] for one in world], rtol=0, atol=3e-6)
        moved = max(moved, float(np.abs(character.pose.palette - character.animated_pose.palette).max()))
    assert moved > 0.05
