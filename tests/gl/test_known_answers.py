"""Closed forms away from the origin, at other scales and with other numbers of substeps, on both back ends.

`place` is the distance from the origin along each axis [m]; a scale multiplies all lengths, accelerations and speeds.
A float32 of 100 m has steps of 7.6e-6 m: where two of them are more than the stated error they are allowed instead.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.fields.pack import pack_fields
from sinew.sim.fields.state import Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSettings
from sinew.sim.kinds.field.place import placements
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.maths import quaternion
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.conftest import campaign, slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN
from tests.gl.colliders.probe import ANSWER, PROBE, run_kernel
from tests.gl.field.test_scene_fields import LINES, loose
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of
from tests.gl.particles.particle_cases import colliders, placed
from tests.gl.springs.test_springs import CHARACTER, lone, springs
from tests.gl.springs.test_springs import start as start_springs
from tests.oracles.hair import Strands

Float64 = npt.NDArray[np.float64]

PLACES = [(0.0, 0.0, 0.0), (10.0, 10.0, 10.0), (100.0, 100.0, 100.0)]
SCALES = (0.01, 1.0, 100.0)
SUBSTEPS = (1, 8, 64)


def everywhere(*substeps: float) -> Any:
    """Sets the argument `cases` to places, scales and substeps; a few with each of them once are the quick case."""
    every = [*itertools.product(PLACES, SCALES, substeps)]
    square = [(place, scale, n) for k, (place, scale, n) in enumerate(every) if (k // 9 + k // 3 + k) % 3 == 0]
    few = [every[number] for number in (5, 15, 19)]
    sets = pytest.param(few, id="few"), slow(square, id="square"), campaign(every, id="every")
    return pytest.mark.parametrize("cases", sets)


G, COUNT = 9.81, 1024


def unit_of(*values: float) -> float:
    return float(np.spacing(np.float32(max(abs(value) for value in values))))


@contextmanager
def fields(context: Context, place: Any, acting: Sequence[FieldSettings], index: int) -> Iterator[Fields | None]:
    """Fields at a place over a step."""
    if not acting:
        yield None
        return
    where = Transform(position=place)
    nodes = tuple(Node(id=f"f{number}", settings=one, transform=where) for number, one in enumerate(acting))
    at = placements(nodes, WorldTransforms(Scene(nodes=nodes), {}))
    records, ends = pack_fields([(one, one) for one in at.values()], index * STEP_TIME)
    texels = TexelBuffer(context, records.reshape(-1, 4), label="test fields")
    yield Fields(texels, ends)
    texels.release()


def particles(
    context: Context, library: ShaderLibrary, place: Any, scale: float, steps: int,
    states: tuple[ColliderState, ...] = (), rises: float = 0.0, aside: float = 0.0,
    acting: Sequence[FieldSettings] = (), **changes: Any,
) -> tuple[Float64, Float64]:  # fmt: skip
    """Mean place from `place`, where the fields are, and mean velocity, of particles that are born at once."""
    values: dict[str, Any] = {
        "mode": EmissionMode.BURST, "bursts": f"0:{COUNT}", "capacity": COUNT, "lifetime": 100.0, "drag": 0.0,
        "speed": 0.0, "speed_variance": 0.0, "lifetime_variance": 0.0, "gravity": (0.0, -G * scale, 0.0),
        "aim": EmissionAim.ANGLES, "yaw": -90.0, "yaw_spread": 0.0, "pitch": 0.0, "pitch_spread": 0.0,
        "clearance": 0.01 * scale,
    }  # fmt: skip
    emitter = Emitter(context, library, EmitterSettings(**(values | changes)))
    frame = placed(*np.add(place, [aside, rises, 0.0]))
    with colliders(context, states) as scenery:
        for index in range(steps):
            with fields(context, place, acting, index) as given:
                inputs, _ = scenery.inputs(index, world_from_start=frame, world_from_end=frame, fields=given)
                emitter.step(inputs)
        found = emitter.read()
    emitter.release()
    assert (found["position"][:COUNT, 3] >= 0.0).all()
    points, speeds = (found[name][:COUNT, :3].astype(np.float64) for name in ("position", "velocity"))
    return points.mean(axis=0) - place, speeds.mean(axis=0)


def floor_at(place: Any, shape: ColliderShape, scale: float, restitution: float, friction: float) -> ColliderState:
    """A collider whose top is at `place`."""
    size = scale * np.array([0.5, 0.5, 0.5])
    below = {ColliderShape.PLANE: 0.0, ColliderShape.CAPSULE: 1.0}.get(shape, 0.5) * scale
    matrix = placed(*np.subtract(place, [0.0, below, 0.0]))
    return ColliderState(shape, size, matrix, matrix, friction, restitution)


def fall(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """Free fall for a second: path, and speed."""
    path, velocity = particles(context, library, place, scale, 60, substeps=substeps)
    allowed = max(1e-3, 2.0 * unit_of(place[1]) / (0.5 * G * scale))
    return abs(path[1] / (-0.5 * G * scale) - 1.0) / allowed, abs(velocity[1] / (-G * scale) - 1.0) / 1e-3


def drift(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """0.02 m/s along x for a second."""
    path, velocity = particles(
        context, library, place, scale, 60, substeps=substeps, speed=0.02 * scale, gravity=(0.0, 0.0, 0.0)
    )
    allowed = max(5e-3, 2.0 * unit_of(place[0]) / (0.02 * scale))
    return abs(path[0] / (0.02 * scale) - 1.0) / allowed, abs(velocity[0] / (0.02 * scale) - 1.0) / 1e-3


def bounce(
    context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int,
    shape: ColliderShape = ColliderShape.PLANE,
) -> tuple[float, ...]:  # fmt: skip
    """Dropped by a metre with e = 0.5: energy after it, and height where that is largest, e² of the drop."""
    floor = (floor_at(place, shape, scale, 0.5, 0.0),)
    path, velocity = particles(context, library, place, scale, 41, floor, 1.01 * scale, substeps=substeps)
    height = path[1] - 0.01 * scale
    energy = G * scale * height + 0.5 * velocity[1] ** 2
    impact = math.sqrt(2.0 / G)
    late = 41 * STEP_TIME - impact
    expected = scale * (0.5 * G * impact * late - 0.5 * G * late**2)
    allowed = max(5e-3, 4.0 * unit_of(place[1], place[1] + scale) / (0.25 * scale))
    return abs(energy / (0.25 * G * scale**2) - 1.0) / allowed, abs(height / expected - 1.0) / allowed


def bounce_on_sphere(*args: Any) -> tuple[float, ...]:
    return bounce(*args, ColliderShape.SPHERE)


def bounce_on_box(*args: Any) -> tuple[float, ...]:
    return bounce(*args, ColliderShape.BOX)


def slide(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """A metre a second along a floor with a friction of 0.3: it stops after v² / (2 µ g)."""
    floor = (floor_at(place, ColliderShape.PLANE, scale, 0.5, 0.3),)
    path, velocity = particles(context, library, place, scale, 60, floor, 0.01 * scale, substeps=substeps, speed=scale)
    stop = scale / (2.0 * 0.3 * G)
    allowed = max(0.01, 4.0 * unit_of(place[0]) / stop)
    rest = 4.0 * unit_of(place[1], place[1] + 0.01 * scale)
    return (
        abs(path[0] / stop - 1.0) / allowed,
        abs(path[1] - 0.01 * scale) / rest,
        float(np.abs(velocity).max()) / (1e-3 * scale + 60.0 * unit_of(place[1])),
    )


@COMPUTE_IN_CAMPAIGN
@everywhere(*SUBSTEPS)
@pytest.mark.parametrize("answer", [fall, drift, bounce, bounce_on_sphere, bounce_on_box, slide])
def test_particles(context: Context, library: ShaderLibrary, answer: Any, cases: Sequence[Any]) -> None:
    wrong = {}
    for case in cases:
        errors = answer(context, library, *case)
        if max(errors) > 1.0:
            wrong[case] = errors
    assert not wrong


def hung(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int, steps: int) -> Float64:
    """Tips of rods from horizontal, as parts of their lengths."""
    lengths = scale * np.array([0.05, 0.1, 0.2])
    settings = settings_of(
        knots=16, bending_length=0.05 * scale, drag=6.0 / math.sqrt(scale), substeps=substeps, gravity=(0.0, -G, 0.0),
        exact_rest=True,
    )  # fmt: skip
    groom = groom_of(settings, [(1.0, 0.0, 0.0)] * 3, lengths=lengths)
    turns = quaternion.from_matrix(groom.frames)
    strands = GpuStrands(context, library, Strands(settings, groom, lambda _: (np.tile(place, (3, 1)), turns)))
    for _ in range(steps):
        strands.step()
    tips = strands.knots()[:, -1] / lengths[:, None]
    strands.release()
    return tips


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("counts", [(4,), slow((2, 4, 16))], ids=str)
def test_strands_hang_as_the_elastica_everywhere(
    context: Context, library: ShaderLibrary, counts: tuple[int, ...]
) -> None:
    """Drop and reach over the length. The state counts from the root, so that the place changes no bit.

    Gravity stays that of the earth, which the bending length is of: at scale 0.01 and two substeps it moves a free knot
    by up to twenty segments in one.
    """
    expected = [[0.99125, -0.12347], [0.72442, -0.64063], [0.20920, -0.92011]]
    for scale, substeps in itertools.product(SCALES, counts):
        found = hung(context, library, (0.0, 0.0, 0.0), scale, substeps, 1500 if scale > 1.0 else 500)
        np.testing.assert_allclose(found[:, :2], expected, atol=0.01, err_msg=f"{scale}, {substeps}")
        for place in PLACES[1:]:
            moved = hung(context, library, place, scale, substeps, 30)
            np.testing.assert_array_equal(moved, hung(context, library, (0.0, 0.0, 0.0), scale, substeps, 30))


def lean(engine: Engine, place: Any, scale: float, substeps: int, pole: bool, **values: float) -> float:
    """Degrees below the horizontal at which a bone of a metre times `scale` stays."""
    character = msgspec.structs.replace(CHARACTER, transform=Transform(position=place, scale=(scale,) * 3))
    settings = SpringBoneSettings(from_file=True, collide=pole, substeps=substeps)
    model = lone(gravity=(0.0, -scale, 0.0), **values)
    system = start_springs(engine, model, springs(settings), character=character)
    head = np.array(engine.views.characters["c"].joint_positions()[2])
    if pole:
        at = head + scale * np.array([0.5, -math.sqrt(0.75), 0.0])
        shape = ColliderSettings(shape=ColliderShape.CAPSULE, radius=0.2 * scale, length=4.0 * scale)
        turned = Transform(position=tuple(at.tolist()), rotation=(90.0, 0.0, 0.0))
        engine.apply(Scene(nodes=(character, springs(settings), Node(id="b", settings=shape, transform=turned))))
    for step in range(400):
        engine.step((step + 1) * STEP_TIME)
    x, y, _ = system.arrays()["tips"].read()[0].astype(np.float64) - head
    return math.degrees(math.atan2(-y, x))


@COMPUTE_IN_CAMPAIGN
@everywhere(1, 4, 16)
def test_bones_hang_and_rest_at_the_known_angles(context: Context, engine: Engine, cases: Sequence[Any]) -> None:
    """Between stiffness and gravity, and on a capsule: chords of the circle of the tip."""
    for place, scale, substeps in cases:
        rounding = math.degrees(2.0 * unit_of(*place, scale) / scale)
        hangs = lean(engine, place, scale, substeps, False, stiffness=scale, drag=0.4)
        assert hangs == pytest.approx(45.0, abs=max(0.02, rounding)), (place, scale, substeps)
        rests = lean(engine, place, scale, substeps, True, stiffness=0.0, radius=0.05)
        expected = 60.0 - math.degrees(2.0 * math.asin(0.125))
        assert rests == pytest.approx(expected, abs=max(0.02, rounding)), (place, scale, substeps)


DISTANCES = {
    ColliderShape.PLANE: ((0.0, 0.0, 0.0), (3.0, 0.4, -2.0), 0.4),
    ColliderShape.SPHERE: ((0.5, 0.0, 0.0), (0.6, 0.0, 0.8), 0.5),
    ColliderShape.CAPSULE: ((0.3, 0.8, 0.0), (0.3, 1.2, 0.0), 0.2),
    ColliderShape.BOX: ((0.9, 0.2, 0.5), (1.2, 0.6, 0.1), 0.5),
    ColliderShape.ELLIPSOID: ((1.3, 0.4, 0.7), (0.0, 0.55, 0.0), 0.15),
}
"""Size, a point and its distance from the surface."""


@COMPUTE_IN_CAMPAIGN
@everywhere(1.0 / 60.0, 1.0 / 600.0, 1.0 / 3840.0)
@pytest.mark.parametrize("shape", DISTANCES)
def test_distances_and_impacts_are_known(
    context: Context, tmp_path: Path, shape: ColliderShape, cases: Sequence[Any]
) -> None:
    size, point, distance = DISTANCES[shape]
    for place, scale, substep in cases:
        matrix = placed(*place)
        state = ColliderState(shape, scale * np.array(size), matrix, matrix, 0.0, 0.5)
        data = PROBE.zeros(1)
        data["point"], data["thickness"] = np.add(place, scale * np.array(point)), distance * scale * 1.5
        data["velocity"] = (0.0, -100.0 * scale, 0.0)
        found = run_kernel(
            context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, [state], {"PRESSING": G * scale}, u_substep=substep
        )[0]
        allowed = max(1e-4 * scale, 2.0 * unit_of(*place, 3.0 * scale))
        assert abs(found["distance"] - distance * scale) < allowed, (place, scale)
        normal = found["normal"].astype(np.float64)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-5)
        along = float(found["velocity"] @ normal)
        assert along == pytest.approx(50.0 * scale * normal[1], rel=2e-3, abs=0.1 * scale), (place, scale, substep)


@COMPUTE_IN_CAMPAIGN
@everywhere(4, 16, 64)
@pytest.mark.parametrize("solver", [{}, LINES | {"bend_stiffness": 0.0}], ids=["springs", "lines"])
def test_cloth_bounces(context: Context, library: ShaderLibrary, solver: dict[str, Any], cases: Sequence[Any]) -> None:
    """Particles that nothing holds together, dropped by a metre times `scale` with e = 0.5, and then at rest.

    A substep, which answers contacts at its end, changes the speed at a contact by up to g h.  What rests falls up to a
    unit in the last place before its position is another one.
    """
    for place, scale, substeps in cases:
        settings = loose(**solver, substeps=substeps, gravity=(0.0, -G * scale, 0.0))
        cloth, clearance = Cloth(context, library, settings), float(constants_of(settings).clearance)
        cloth.write(np.tile(np.add(place, (0.0, clearance + scale, 0.0)), (4, 1)), np.zeros((4, 3)))
        heights = []
        floor = (floor_at(place, ColliderShape.PLANE, scale, 0.5, 0.0),)
        with colliders(context, floor) as scenery:
            for index in range(180):
                assert cloth.step(ClothInputs(colliders=scenery.inputs(index)[0].colliders))
                state = cloth._state.newest.read()
                heights.append(float(state["position"][0, 1]) - place[1] - clearance)
        speed = float(np.abs(state["velocity"][:4, :3]).max())
        cloth.release()
        gained = G * STEP_TIME / substeps / math.sqrt(2.0 * G)
        allowed = 0.25 * (0.01 + 3.0 * gained) * scale + 4.0 * unit_of(place[1], place[1] + scale)
        assert max(heights[30:60]) == pytest.approx(0.25 * scale, abs=allowed), (place, scale, substeps)
        assert abs(heights[-1]) <= 4.0 * unit_of(place[1], place[1] + clearance), (place, scale, substeps)
        fall = math.sqrt(2.0 * G * scale * unit_of(place[1], place[1] + clearance))
        assert speed <= 2.0 * G * scale * STEP_TIME / substeps + fall, (place, scale, substeps)
