import re
from pathlib import Path

import numpy as np
import pytest

from sinew.shaders import ROOT
from sinew.sim.characters.skinning import SKINNED
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.kinds.emitter.births import schedule_of
from sinew.sim.kinds.emitter.block import FIELDS, SEGMENT_MAX
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import EmitterInputs, SurfaceInput
from sinew.sim.kinds.emitter.settings import (
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
)
from sinew.sim.kinds.emitter.system import shown_particles
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, pcg4d
from sinew.sim.maths.transform import compose
from sinew.sim.skin.surface_table import face_table, vertex_table
from tests.conftest import slow
from tests.gl.back_ends import ON_BOTH
from tests.gl.particles.particle_cases import changed, colliders, floor, placed, run_both
from tests.gl.shader_files import make_library
from tests.oracles import particles as reference

STEPS = 150
BOUND = 1e-4  # largest distance from the reference [m]; paths are up to 30 m long
SMALL = EmitterSettings(capacity=70, rate=30.0, lifetime=1.0)

CASES = {
    "ballistic": {"drag": 0.0},
    "drag": {"drag": 1.5, "wind": (1.0, 0.2, 0.0)},
    "little drag": {"drag": 0.01},
    "bursts and a stream": {"bursts": "0.1:10 0.5:20", "burst_period": 1.0, "source": EmitterSource.SPHERE,
                            "aim": EmissionAim.OUTWARD},
    "bursts alone": {"mode": EmissionMode.BURST, "bursts": "0:8 0.123:9 0.9:30 2.1:12", "cone_angle": 180.0},
    "always full": {"mode": EmissionMode.FULL, "source": EmitterSource.BOX},
    "always full in substeps": {"mode": EmissionMode.FULL, "substeps": 4, "lifetime": 0.3},
    "angles from a disc in substeps": {"substeps": 3, "aim": EmissionAim.ANGLES, "source": EmitterSource.DISC,
                                       "source_hollow": 0.5},
    "turbulences, attractor and vortex": {"turbulence": 2.0, "drag": 1.0, "attraction": 5.0, "vortex": 3.0,
                                     "vortex_axis": (1.0, 2.0, 0.5), "source": EmitterSource.LINE,
                                     "gravity": (0.0, 0.0, 0.0), "wind": (0.3, 0.0, 0.1)},
    "too many for the slots": {"capacity": 23},
    "more in a step than slots": {"capacity": 5, "rate": 1000.0},
    "inherited velocity": {"inherited_velocity": 0.8, "speed": 0.5},
}  # fmt: skip
QUICK = ("bursts and a stream", "always full", "turbulences, attractor and vortex", "inherited velocity")


def moving(index: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(
        compose(
            np.array([np.sin(0.05 * i), 1.0 + 0.2 * np.cos(0.03 * i), 0.0]),
            np.array([0.0, 0.0, np.sin(0.02 * i), np.cos(0.02 * i)]),
            np.full(3, 1.5),
        )
        for i in (index, index + 1)
    )


@ON_BOTH
@pytest.mark.parametrize("name", [*QUICK, *(slow(name) for name in CASES if name not in QUICK)])
def test_particles_move_as_the_reference(context: Context, library: ShaderLibrary, name: str) -> None:
    system = Emitter(context, library, changed(SMALL, **CASES[name]))
    both = run_both(system, STEPS, lambda index: (EmitterInputs(*moving(index)), []))
    both.assert_same_lives()
    assert np.count_nonzero(both.alive) >= 5
    assert both.errors().max() < BOUND
    velocity = both.found["velocity"][both.alive, :3]
    np.testing.assert_allclose(velocity, both.expected.velocities[: len(both.found)][both.alive], atol=1e-3)
    system.release()


def scenery(index: int) -> list[ColliderState]:
    swing = [placed(0.4 * np.sin(0.1 * i), 0.3, 0.2) for i in (index, index + 1)]
    turn = [
        compose(np.array([-0.6, 0.4, 0.0]), np.array([0.0, np.sin(0.02 * i), 0.0, np.cos(0.02 * i)]), np.ones(3))
        for i in (index, index + 1)
    ]
    return [
        ColliderState(ColliderShape.SPHERE, np.array([0.3, 0.0, 0.0]), *swing, 0.2, 0.5),
        ColliderState(ColliderShape.ELLIPSOID, np.array([0.4, 0.2, 0.3]), *turn, 0.4, 0.3),
        ColliderState(
            ColliderShape.CAPSULE, np.array([0.1, 0.3, 0.0]), placed(0, 0.2, -0.6), placed(0, 0.2, -0.6), 0.1
        ),
        ColliderState(ColliderShape.BOX, np.array([0.2, 0.1, 0.2]), placed(0.7, 0.1, 0.5), placed(0.7, 0.1, 0.5), 0.5),
        floor(0.6, 0.3),
    ]


@pytest.mark.parametrize(
    ("response", "count", "knows_shapes"),
    [
        (CollisionResponse.BOUNCE, 2, False),
        slow(CollisionResponse.BOUNCE, 5, True),
        (CollisionResponse.DIE, 5, True),
        slow(CollisionResponse.STICK, 5, True),
    ],
)
def test_collisions_are_those_of_the_reference(context, library, response, count, knows_shapes):
    settings = changed(SMALL, collision=response, cone_angle=60.0, speed=2.0, drag=0.3, lifetime=1.5, clearance=0.02)
    system = Emitter(context, library, settings)

    def states_at(index: int) -> list[ColliderState]:
        states = scenery(index)
        return [states[0], states[-1]] if count == 2 else states

    with colliders(context, states_at) as scene:
        scene.knows_shapes = knows_shapes
        both = run_both(
            system, 90, lambda index: scene.inputs(index, world_from_start=placed(0.1, 1.2, 0.0),
                                                      world_from_end=placed(0.1, 1.2, 0.0))
        )  # fmt: skip
    # A graze that one side sees and the other does not sends a particle elsewhere; all but a few agree.
    lives = both.found["position"][:, 3] >= 0.0
    assert np.count_nonzero(lives != (both.expected.lives[: len(lives)] >= 0.0)) <= 1
    errors = both.errors()
    assert len(errors) >= 15
    assert np.quantile(errors, 0.9) < BOUND
    floor_gap = both.found["position"][both.alive, 1].min()
    assert floor_gap > 0.02 - 1e-4
    system.release()


@pytest.mark.parametrize("drag", [0.0, 0.8])
def test_stateless_particles_are_those_of_the_reference(context: Context, library: ShaderLibrary, drag: float) -> None:
    settings = changed(SMALL, stateless=True, drag=drag, wind=(1.0, 0.0, 0.0), bursts="0.2:10", burst_period=1.5)
    system = Emitter(context, library, settings)
    place = placed(0.5, 1.0, -0.5)
    for step in (300, 10, 77, 0, 1, 40_000):
        system.show(step, EmitterInputs(world_from_end=place))
        slots = reference.stateless(
            settings, schedule_of(settings), reference.Actions(world_from_end=place), step
        )  # fmt: skip
        found = system.read()
        lives = found["position"][:, 3] >= 0.0
        np.testing.assert_array_equal(lives, slots.lives[: len(found)] >= 0.0)
        apart = (found["position"][:, :3] - slots.positions[: len(found)])[lives]
        assert np.abs(apart).max(initial=0.0) < BOUND
    system.release()


@pytest.mark.parametrize(
    ("source", "aim"), [(EmitterSource.FACES, EmissionAim.OUTWARD), (EmitterSource.VERTICES, EmissionAim.AXIS)]
)
def test_a_moving_surface_emits_as_in_the_reference(context, library, source, aim):
    random = np.random.default_rng(3)
    points = random.normal(size=(20, 3))
    later = points + 0.02 * random.normal(size=(20, 3))
    normals = random.normal(size=(20, 3))
    triangles = random.integers(0, 20, (30, 3))
    density = random.uniform(0.0, 1.0, 20)
    table = face_table(points, triangles, density) if source is EmitterSource.FACES else vertex_table(20, density)
    settings = changed(SMALL, source=source, aim=aim, inherited_velocity=1.0, capacity=300, rate=200.0)
    system = Emitter(context, library, settings, faces=table)
    buffers = []
    for values in (points, later):
        records = SKINNED.zeros(20)
        records["position"][:, :3], records["normal"][:, :3] = values, normals
        buffers.append(Buffer(context, records))
    before, after = (BufferTexture(context, buffer, "rgba32f") for buffer in buffers)
    surface = SurfaceInput(after, before, 2)
    single = [values.astype(np.float32).astype(np.float64) for values in (later, normals, points, normals)]
    both = run_both(
        system,
        60,
        lambda index: (EmitterInputs(*moving(index), surface=surface, world_from_aim=moving(3 * index)[0]), []),
        reference.Surface(table, *single),
    )
    both.assert_same_lives()
    assert both.errors().max() < BOUND
    system.release()


COUNT = 3000
PROBE = record("Probe", bits=(4, "u4"), numbers=(4, "f4"))
SHOWN = record("Shown", first=(4, "f4"), second=(4, "f4"))


def probed(context: Context, tmp_path: Path, file: str, output: Record, count: int, **uniforms: object) -> np.ndarray:
    names = ("common/hash.glsl", "emitter/shown.glsl")
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    files[file] = (Path(__file__).parent / file).read_text(encoding="utf-8")
    kernel = Kernel(make_library(context, tmp_path, files), file, output)
    target = Buffer(context, output.zeros(count))
    kernel.run(VertexArray(context), target, count, **uniforms)
    return target.read()


@pytest.mark.parametrize(
    ("seed", "first", "group"), [(0, 0, RandomStream.LIFE), (2**31 - 1, 2**32 - 2000, RandomStream.LOOK)]
)
def test_random_numbers_are_those_of_numpy_bit_for_bit(context, tmp_path, seed, first, group):
    found = probed(context, tmp_path, "hash_probe.glsl", PROBE, COUNT, u_seed=seed, u_group=int(group), u_first=first)
    numbers = ((first + np.arange(COUNT)) % 2**32).astype(np.uint32)
    np.testing.assert_array_equal(found["bits"][:, :3], birth_bits(seed, numbers, group))
    four = np.stack([numbers, *(np.full(COUNT, value, np.uint32) for value in (seed, group, 5))], axis=1)
    np.testing.assert_array_equal(found["bits"][:, 3], pcg4d(four)[:, 3])
    np.testing.assert_array_equal(found["numbers"][:, :3].astype(np.float64), birth_numbers(seed, numbers, group))


def test_drawn_particles_depend_only_on_the_state(context: Context, library: ShaderLibrary, tmp_path: Path) -> None:
    settings = EmitterSettings(capacity=450, rate=150.0, lifetime_variance=0.4, size=0.3, size_variance=0.5, seed=12)
    system = Emitter(context, library, settings)
    for _ in range(250):
        system.step()
    state = system.read()
    found = probed(
        context,
        tmp_path,
        "shown_probe.glsl",
        SHOWN,
        system.slot_count,
        u_state=system.side.texture,
        **system.look_uniforms,
    )
    expected = shown_particles(settings, state["position"][:, 3].astype(np.float64), state["velocity"][:, 3])
    np.testing.assert_array_equal(found["first"][:, 0] == 1.0, expected.lives)
    assert 0 < np.count_nonzero(expected.lives) < system.slot_count
    np.testing.assert_allclose(found["first"][:, 1], expected.share, atol=1e-6)
    np.testing.assert_allclose(found["first"][:, 2], expected.size, rtol=1e-6)
    np.testing.assert_array_equal(found["second"][:, :3].astype(np.float64), expected.random)
    assert expected.share[expected.lives].min() < 0.05
    assert expected.share[expected.lives].max() > 0.95


def test_the_block_has_the_layout_of_the_shader() -> None:
    text = (ROOT / "emitter/emitter.glsl").read_text(encoding="utf-8")
    assert f"#define SEGMENT_MAX {SEGMENT_MAX}\n" in text
    block = re.search(r"layout\(std140\) uniform Emitter \{(.*?)\} emitter;", text, re.DOTALL)
    assert block is not None
    members = re.findall(r"^\s*(\w+) (\w+)(\[SEGMENT_MAX\])?;", block[1], re.MULTILINE)
    declared = {name: (kind, SEGMENT_MAX) if array else kind for kind, name, array in members}
    assert list(declared.items()) == list(FIELDS.items())
