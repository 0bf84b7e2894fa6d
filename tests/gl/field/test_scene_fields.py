"""Force fields on the GPU: samples, and what solvers make of them."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.fields.pack import pack_fields
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import FieldPlacement, Fields, FieldShape, FieldType
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, ClothSolving, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import EmitterInputs
from sinew.sim.kinds.emitter.settings import CollisionResponse, EmissionMode, EmitterSettings
from sinew.sim.kinds.field.place import placements
from sinew.sim.kinds.field.settings import FieldSettings, FieldSource, VortexProfile
from sinew.sim.kinds.hair.settings import HairSettings, HairSolver, HairSource
from sinew.sim.kinds.particle_system import PARTICLE
from sinew.sim.maths.arrays import Float64
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import check, params_of
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.oracles.fields import fields_at

TYPE, SHAPE, SOURCE = FieldType, FieldShape, FieldSource
FIELD = FieldSettings
TWELVE = (
    FIELD(type=TYPE.WIND, speed=3.0, gusts=0.5, scale=1.0),
    FIELD(type=TYPE.WIND, speed=-2.0, shape=SHAPE.BOX, half_sizes=(0.5, 0.25, 0.75)),
    FIELD(type=TYPE.ATTRACTOR, strength=3.0, core=0.5),
    FIELD(type=TYPE.ATTRACTOR, strength=-2.0, source=SOURCE.LINE, power=1.0, core=0.5, shape=SHAPE.CAPSULE),
    FIELD(type=TYPE.ATTRACTOR, strength=4.0, source=SOURCE.PLANE, power=0.0, core=0.25, shape=SHAPE.SPHERE),
    FIELD(type=TYPE.VORTEX, profile=VortexProfile.RANKINE),
    FIELD(type=TYPE.VORTEX, circulation=-2.0, shape=SHAPE.SPHERE, falloff=1.0),
    FIELD(type=TYPE.DRAG, shape=SHAPE.CAPSULE, radius=0.25, falloff=0.5),
    FIELD(type=TYPE.PULSE, strength=5.0, speed=1.0, scale=0.5, start=0.0),
    FIELD(type=TYPE.PULSE, strength=5.0, speed=1.0, scale=0.5, start=0.0, source=SOURCE.PLANE),
    FIELD(type=TYPE.TURBULENCE, speed=1.0, scale=1.0, seed=2**31 - 1),
    FIELD(type=TYPE.TURBULENCE, speed=2.0, scale=2.0, shape=SHAPE.BOX, falloff=0.5),
)
TIME = 0.75


def placed(node: Node) -> FieldPlacement:
    return placements((node,), WorldTransforms(Scene(nodes=(node,)), {}))[node.id]


def node(settings: FieldSettings, **changes: object) -> Node:
    return Node(**{"id": "f", "name": "Field", "settings": settings} | changes)


def fields_of(context: Context, chosen: Sequence[FieldSettings], time: float = TIME) -> Fields:
    """At places that have few digits, so that rounding them is no error."""
    at = [placed(node(settings, transform=place(index))) for index, settings in enumerate(chosen)]
    records, ends = pack_fields([(one, one) for one in at], time)
    return Fields(TexelBuffer(context, records.reshape(-1, 4), label="test fields"), ends)


def place(index: int) -> Transform:
    return Transform(position=(0.25 * (index % 3) - 0.25, 0.125 * (index % 2), 0.0))


def reference(chosen: Sequence[FieldSettings], points: Float64, time: float = TIME) -> Float64:
    """Acceleration, drag and air, shape (N, 7)."""
    at = [(one, placed(node(one, transform=place(i))).world_from_field) for i, one in enumerate(chosen)]
    found = fields_at(at, points, time)
    return np.concatenate([found.acceleration, found.drag[:, None], found.air], axis=1)


def sampled(library: ShaderLibrary, fields: Fields, points: Float64) -> Float64:
    records = PARTICLE.zeros(len(points))
    records["position"][:, :3] = points
    places = TexelBuffer(library.context, records, label="test places")
    sampler = FieldSampler(library, len(points))
    found = sampler.sample(fields, places).buffer.read()
    for owned in (sampler, places):
        owned.release()
    return np.concatenate([found["push"], found["air"][:, :3]], axis=1)


@ON_BOTH
def test_the_samples_are_those_of_float64(context: Context, library: ShaderLibrary) -> None:
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (4096, 3)).astype(np.float32).astype(np.float64)
    for settings in TWELVE:
        fields = fields_of(context, [settings])
        found, expected = sampled(library, fields, points), reference([settings], points)
        limit = 2e-6 if settings.type is TYPE.TURBULENCE else 1e-6
        assert np.abs(found - expected).max() <= limit * np.abs(expected).max(), settings
        fields.texture.release()
    fields = fields_of(context, TWELVE)
    found, expected = sampled(library, fields, points), reference(TWELVE, points)
    assert np.abs(found - expected).max() <= 2e-6 * np.abs(expected).max()
    fields.texture.release()


@COMPUTE_IN_CAMPAIGN
def test_places_of_strands_are_those_of_single_particles(context: Context, library: ShaderLibrary) -> None:
    random, knots, count = np.random.default_rng(2), 5, 6
    roots = np.zeros((count, 4, 4), np.float32)
    roots[:, 0, :3] = random.uniform(-0.5, 0.5, (count, 3))
    offsets = np.zeros((count, knots, 4), np.float32)
    offsets[..., :3] = random.uniform(-0.5, 0.5, (count, knots, 3))
    owned = [TexelBuffer(context, one.reshape(-1, 4), label="test strands") for one in (roots, offsets)]
    fields, sampler = fields_of(context, TWELVE), FieldSampler(library, count * knots, knots)
    found = sampler.sample(fields, owned[1], roots=owned[0]).buffer.read()
    offsets[:, 0] = 0.0
    points = (roots[:, :1, :3] + offsets[..., :3]).reshape(-1, 3)
    expected = sampled(library, fields, points.astype(np.float64))
    found = np.concatenate([found["push"], found["air"][:, :3]], axis=1)
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
    assert not sampler.sample(None, owned[1], roots=owned[0]).buffer.read()["push"].any()
    for one in (*owned, sampler, fields.texture):
        one.release()


def loose(**changes: object) -> ClothSettings:
    """Particles that nothing holds together."""
    values = {
        "columns": 2, "rows": 2, "width": 1e-3, "height": 1e-3, "placement": ClothPlacement.FREE,
        "mode": ClothMode.SPRINGS, "structural_stiffness": 0.0, "shear_stiffness_spring": 0.0,
        "bend_stiffness_spring": 0.0, "structural_damping": 0.0, "shear_damping": 0.0, "bend_damping": 0.0,
        "gravity": (0.0, 0.0, 0.0), "air_drag": 0.0, "normal_drag": 0.0, "tangent_drag": 0.0, "pins": PinPreset.NONE,
        "substeps": 40, "stretch_limit": 1000.0,
    }  # fmt: skip
    return ClothSettings(**(values | changes))


ORBIT = FIELD(type=TYPE.ATTRACTOR, strength=1.0, power=2.0, core=0.25)


LINES = {"solver": ClothSolving.LINES, "mode": ClothMode.MATERIAL, "stretch_stiffness": 0.0, "shear_stiffness": 0.0}


@pytest.mark.parametrize("context", ["tf"], indirect=True)
@pytest.mark.parametrize("solver", [pytest.param({}, id="springs"), slow(LINES | {"bend_stiffness": 0.0}, id="lines")])
def test_an_orbit_of_cloth_keeps_its_energy(context: Context, library: ShaderLibrary, solver: dict) -> None:
    """The kick of each step is semi-implicit Euler; an acceleration held over the substeps would drift by 18 %."""
    cloth = Cloth(context, library, loose(**solver))
    start, speed = np.tile([1.0, 0.0, 0.0], (4, 1)), np.tile([0.0, 0.9, 0.0], (4, 1))
    cloth.write(start, speed)
    at = placed(node(ORBIT))
    records, ends = pack_fields([(at, at)], 0.0)
    fields = Fields(TexelBuffer(context, records.reshape(-1, 4), label="test fields"), ends)
    energies = []
    for _ in range(1000):
        assert cloth.step(ClothInputs(fields=fields))
        state = cloth._state.newest.read()
        place, velocity = (state[name][0, :3].astype(float) for name in ("position", "velocity"))
        energies.append(0.5 * velocity @ velocity - 1.0 / np.sqrt(place @ place + 0.0625))
    first = 0.5 * 0.81 - 1.0 / np.sqrt(1.0625)
    assert np.abs(np.array(energies) / first - 1.0).max() == pytest.approx(1.9e-3, abs=6e-4)
    for one in (cloth, fields.texture):
        one.release()


def stepped(engine: Engine, scene: Scene, count: int, first: int = 0) -> None:
    engine.apply(scene)
    for step in range(first, first + count):
        engine.step((step + 1) * STEP_TIME)
    assert engine.simulation.take_problems() == []


SHEET = Node(
    id="c", name="Sheet",
    settings=ClothSettings(columns=12, rows=12, width=0.6, height=0.6, substeps=64, pins=PinPreset.TOP),
)  # fmt: skip
BALL = Node(
    id="h", name="Ball",
    settings=HairSettings(source=HairSource.ELLIPSOID, radii=(0.1, 0.1, 0.1), guides=40, children=40, length=0.3),
)  # fmt: skip
SPARKS = Node(id="e", name="Sparks", settings=EmitterSettings(rate=2000.0, capacity=1000, lifetime=0.4, substeps=2))
ALL = (SHEET, BALL, SPARKS)
VORTEX = FIELD(type=TYPE.VORTEX, circulation=8.0, core=0.3)


def states(engine: Engine) -> dict[str, bytes]:
    return engine.simulation.states()


@COMPUTE_IN_CAMPAIGN
def test_fields_change_the_bits_of_the_nodes_that_they_act_on_and_no_others(context: Context) -> None:
    results = {}
    for name, fields in {
        "none": (),
        "muted": (node(VORTEX, muted=True),),
        "cloth": (node(msgspec.structs.replace(VORTEX, objects=("c",))),),
        "all": (node(VORTEX),),
    }.items():
        engine = Engine(context)
        stepped(engine, Scene(nodes=(*ALL, *fields)), 8)
        results[name] = states(engine)
        engine.release()
    assert results["muted"] == results["none"]
    assert {one for one in "che" if results["cloth"][one] != results["none"][one]} == {"c"}
    assert results["cloth"]["c"] == results["all"]["c"]
    assert all(results["all"][one] != results["none"][one] for one in "che")


@pytest.mark.parametrize(
    "settings",
    [one if number in (0, 2, 5, 7) else slow(one) for number, one in enumerate(TWELVE)],
    ids=lambda one: one.type.value,
)
def test_both_back_ends_give_the_same_bits(settings: FieldSettings, context: Context) -> None:
    results = []
    for choice in ("tf", "compute"):
        if choice == "compute" and not context.back_ends.has_compute:
            pytest.skip("no compute here")
        context.back_ends.choice = type(context.back_ends.choice)(choice)
        engine = Engine(context)
        stepped(engine, Scene(nodes=(*ALL, node(settings))), 5)
        results.append(states(engine))
        engine.release()
    assert results[0] == results[1]


@COMPUTE_IN_CAMPAIGN
def test_a_restored_step_continues_with_the_same_bits(context: Context) -> None:
    carrier = Node(id="p", transform=Transform(position=(0.2, 0.0, 0.0)), settings=EmitterSettings(rate=0.0))
    fields = [
        node(one, id=f"f{index}", transform=place(index), attachment=Attachment(node="p"))
        for index, one in enumerate(TWELVE)
    ]
    scene, engine = Scene(nodes=(*ALL, carrier, *fields)), Engine(context)
    stepped(engine, scene, 6)
    state = engine.simulation.state()
    stepped(engine, scene, 6, 6)
    assert not any(system.stopped for system in engine.simulation.systems.values())
    expected = states(engine)
    engine.simulation.reset()
    engine.restore(state, 6 * STEP_TIME)
    stepped(engine, scene, 6, 6)
    assert states(engine) == expected
    engine.release()


@pytest.mark.parametrize(
    ("solver", "exact"),
    [(HairSolver.ROD, False), slow(HairSolver.SPRINGS, False), (HairSolver.LAYERS, False), slow(HairSolver.ROD, True)],
)
def test_a_uniform_wind_blows_like_the_wind_of_the_node(context: Context, solver: HairSolver, exact: bool) -> None:
    """Cloth, hair and particles, from the moment of their birth on."""
    up, own = Transform(rotation=(0.0, 0.0, -90.0)), {"wind": (2.0, 0.0, 0.0)}
    solved = msgspec.structs.replace(
        BALL, settings=msgspec.structs.replace(BALL.settings, solver=solver, knot_drag=0.1, exact_rest=exact)
    )
    kept = {"capacity": 200, "drag": 2.0, "substeps": 2}
    burst = EmitterSettings(mode=EmissionMode.BURST, bursts="0:200", **kept)
    full = EmitterSettings(mode=EmissionMode.FULL, lifetime=0.3, collision=CollisionResponse.BOUNCE, **kept)
    plain = [SHEET, solved, msgspec.structs.replace(SPARKS, settings=burst), Node(id="n", settings=full)]
    floor = Node(id="p", settings=ColliderSettings(shape=ColliderShape.PLANE), transform=Transform(position=(0, -9, 0)))
    blown = [msgspec.structs.replace(one, settings=msgspec.structs.replace(one.settings, **own)) for one in plain]
    found = []
    for nodes in ((*plain, floor, node(FIELD(speed=2.0), transform=up)), (*blown, floor)):
        engine = Engine(context)
        stepped(engine, Scene(nodes=nodes), 8 if solver is HairSolver.LAYERS else 30)  # layers are chaotic
        found.append({one: engine.simulation.systems[one].arrays()["positions"].read() for one in "chen"})
        engine.release()
    for one in "chen":
        np.testing.assert_allclose(found[0][one], found[1][one], atol=1e-4)


def test_a_weight_scales_and_drag_never_overshoots(context: Context, library: ShaderLibrary) -> None:
    drag = FIELD(type=TYPE.DRAG, drag=1e4)
    for weight, falls in ((0.0, True), (1.0, False)):
        nodes = [
            msgspec.structs.replace(one, settings=msgspec.structs.replace(one.settings, field_weight=weight))
            for one in (msgspec.structs.replace(SHEET, settings=loose(columns=4, rows=4, gravity=(0.0, -9.81, 0.0))),
                        SPARKS)
        ]  # fmt: skip
        engine = Engine(context, library)
        stepped(engine, Scene(nodes=(*nodes, node(drag))), 20)
        speed = np.abs(engine.simulation.systems["c"].arrays()["velocities"].read()).max()
        assert (speed > 1.0) == falls
        engine.release()


def test_particles_take_the_velocity_of_the_air_in_a_moving_field(context: Context, library: ShaderLibrary) -> None:
    """Emitters sample every substep, along the way of the field."""
    attractor = FIELD(type=TYPE.DRAG, drag=1e4, shape=SHAPE.SPHERE, radius=0.1, falloff=0.0)
    start, end = (placed(node(attractor, transform=Transform(position=(x, 0.0, 0.0)))) for x in (0, 1))
    records, ends = pack_fields([(start, end)], 0.0)
    fields = Fields(TexelBuffer(context, records.reshape(-1, 4), label="test fields"), ends)
    settings = EmitterSettings(mode=EmissionMode.BURST, bursts="0:3", capacity=3, speed=1.0, speed_variance=0.0,
                               gravity=(0.0, 0.0, 0.0), cone_angle=0.0, drag=0.0, substeps=4)  # fmt: skip
    speeds = []
    for x in (0.5, 5.0):
        emitter = Emitter(context, library, settings)
        frame = np.eye(4)
        frame[0, 3] = x
        emitter.step(EmitterInputs(frame, frame))
        emitter.step(EmitterInputs(frame, frame, fields=fields))
        speeds.append(float(np.linalg.norm(emitter.read()["velocity"][0, :3])))
        emitter.release()
    assert speeds == pytest.approx([0.0, 1.0], abs=1e-3)
    fields.texture.release()


def test_an_emitter_without_state_refuses_fields_with_a_message(context: Context) -> None:
    still = Node(id="e", name="Rain", settings=EmitterSettings(stateless=True, capacity=100))
    engine = Engine(context)
    engine.apply(Scene(nodes=(still, node(VORTEX))))
    problems = engine.simulation.take_problems()
    assert [problem.text for problem in problems] == [
        "Rain: computes positions from the time alone, so force fields do not act on it"
    ]
    engine.apply(Scene(nodes=(still, node(VORTEX, muted=True))))
    engine.apply(Scene(nodes=(still, node(msgspec.structs.replace(VORTEX, on_particles=False)))))
    assert engine.simulation.take_problems() == []
    engine.release()


def random_settings(random: np.random.Generator) -> FieldSettings:
    values = {}
    for record in params_of(FieldSettings):
        declared = record.declared
        if record.type in (float, int):
            values[record.name] = record.type(random.choice([declared.lo, declared.hi, record.default]))
        elif record.name == "half_sizes":
            values[record.name] = tuple(random.choice([1e-3, 0.5, 1e4], 3).tolist())
        elif record.name not in ("objects",) and record.type is not bool:
            values[record.name] = random.choice(list(record.type))
    return FIELD(**{name: check(FIELD, name, value) for name, value in values.items()})


def test_no_settings_raise_or_give_a_number_that_is_none(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(5)
    points = np.concatenate([random.normal(size=(60, 3)), np.zeros((3, 3)), 1e7 * np.ones((3, 3))])
    for _ in range(120):
        settings = random_settings(random)
        fields = fields_of(context, [settings], float(random.choice([0.0, 1e3, 1e6])))
        assert np.isfinite(sampled(library, fields, points)).all(), settings
        fields.texture.release()
    engine = Engine(context)
    for index in range(5):
        nodes = [
            node(random_settings(random), id=f"f{i}", transform=Transform(scale=(0.0, -2.0, 1e3))) for i in range(3)
        ]
        engine.apply(Scene(nodes=(*ALL, *nodes)))
        engine.step((index + 1) * STEP_TIME)
        engine.refresh(0.0)
    assert all("Error" not in problem.text for problem in engine.simulation.take_problems())
    engine.release()


def test_fields_are_drawn_as_arrows_unless_they_are_hidden(context: Context) -> None:
    engine, output = Engine(context), Framebuffer(context, (320, 240), ("rgba8",), label="output")
    pictures = []
    for fields, view in (
        ((), ViewSettings()),
        ((node(VORTEX),), ViewSettings()),
        ((node(VORTEX),), ViewSettings(fields=False)),
        ((node(FIELD(type=TYPE.DRAG, shape=SHAPE.BOX)),), ViewSettings()),
    ):
        engine.apply(Scene(nodes=fields, view=view))
        engine.step(STEP_TIME)
        engine.refresh(0.0)
        engine.draw(output, Camera(distance=3.0))
        pictures.append(output.read_pixels().astype(int))
    changed = [(np.abs(picture - pictures[0]).max(axis=2) > 40).sum() for picture in pictures]
    assert changed[1] > 300
    assert changed[2] == 0
    assert changed[3] > 300
    output.release()
    engine.release()
