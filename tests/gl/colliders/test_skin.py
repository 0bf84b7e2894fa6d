"""Skins of characters as colliders, against float64 over all triangles."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.shaders import ROOT
from sinew.sim.assets.model import Mesh, Section
from sinew.sim.cache.keys import node_keys
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.characters.skinning import rest_records
from sinew.sim.colliders.skin import NearTriangles, SceneSkins, SkinPlacement, SkinSurface, parts_of
from sinew.sim.colliders.skin_mesh import covered_shares, skin_corners
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, PinPreset
from sinew.sim.kinds.collider import place
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import CollisionResponse, EmissionMode, EmitterSettings
from sinew.sim.kinds.hair.settings import HairSettings, HairSolver, HairSource
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.kinds.particle_system import PARTICLE
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.gl.shader_files import make_library
from tests.model_samples import mesh_of, model_of
from tests.oracles.skin import signed_distances, winding_numbers

ANSWER = record("SkinAnswer", normal=(4, "f4"), surface=(4, "f4"))
FILES = (
    "common/collide.glsl", "common/quaternion.glsl", "skin/contact.glsl", "skin/triangle.glsl", "skin/near.glsl",
    "skin/corners.glsl", "skin/box.glsl",
)  # fmt: skip
FAR = 1e8


def box(half: tuple[float, float, float], cells: int = 1) -> Mesh:
    """A closed box whose faces have vertices of their own, with so many cells along each edge."""
    positions, normals, triangles = [], [], []
    share = np.linspace(-1.0, 1.0, cells + 1)
    u, v = (one.ravel() for one in np.meshgrid(share, share, indexing="ij"))
    first = np.array([i * (cells + 1) + j for i in range(cells) for j in range(cells)])
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.empty((len(u), 3))
            face[:, axis], face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = side, u * side, v
            start = first + len(u) * len(positions)
            a, b, c, d = start, start + cells + 1, start + cells + 2, start + 1
            triangles += [np.stack([a, b, c], 1), np.stack([a, c, d], 1)]
            positions.append(face * half)
            normals.append(np.tile(np.eye(3)[axis] * side, (len(u), 1)))
    return mesh_of(np.concatenate(positions), np.concatenate(triangles), normals=np.concatenate(normals))


def ball(radius: float, rings: int) -> Mesh:
    up, around = np.meshgrid(np.linspace(0.0, np.pi, rings), np.linspace(0.0, 2.0 * np.pi, 2 * rings), indexing="ij")
    places = np.stack([np.sin(up) * np.cos(around), np.cos(up), np.sin(up) * np.sin(around)], axis=-1).reshape(-1, 3)
    width = 2 * rings
    a = np.array([i * width + j for i in range(rings - 1) for j in range(width - 1)])
    faces = np.concatenate([np.stack([a, a + 1, a + width], 1), np.stack([a + 1, a + width + 1, a + width], 1)])
    return mesh_of(radius * places, faces, normals=places)


def sections(mesh: Mesh, **counts: int) -> Mesh:
    first, parts = 0, []
    for name, count in counts.items():
        parts.append(Section(name, -1, first, count))
        first += count
    return replace(mesh, sections=tuple(parts))


def moved(mesh: Mesh, offset: Float64, stretch: Float64) -> Mesh:
    return replace(mesh, positions=(mesh.positions * stretch + offset).astype(np.float32))


class Surface:
    """One mesh as a skin, which goes from one shape to another within a step."""

    def __init__(self, context: Context, library: ShaderLibrary, first: Mesh, last: Mesh, **surface: float) -> None:
        self.vertices = Buffer(context, rest_records(first), usage="copy", label="test vertices")
        self.skins, corners = SceneSkins(context, library), skin_corners(first, ())
        values = {"friction": 0.3, "restitution": 0.0} | surface
        self.now: SkinSurface | None = None
        for mesh in (first, last):
            self.vertices.write(rest_records(mesh))
            self.now = self.skins.advance({"s": SkinPlacement(corners, self.vertices, np.eye(4), **values)})
        ends = [mesh.positions[corners[:, :3]].astype(np.float64) for mesh in (first, last)]
        self.first, self.last = ends

    def contacts(self, library: ShaderLibrary, points: Float64, velocities: Any, when: tuple[float, float, float]):
        records = PARTICLE.zeros(len(points))
        records["position"][:, :3], records["velocity"][:, :3] = points, velocities
        places = TexelBuffer(library.context, records, label="test places")
        near = NearTriangles(library, len(points), is_fast=True)
        target = Buffer(library.context, ANSWER.zeros(len(points)))
        kernel = Kernel(library, "skin.glsl", ANSWER)
        uniforms = near.find(self.now, places, when[:2], 0.01)
        kernel.run(None, target, len(points), u_places=places, u_when=when, **uniforms)
        found = target.read()
        for owned in (places, near, target):
            owned.release()
        return found

    def release(self) -> None:
        self.skins.release()
        self.vertices.release()


def probes(context: Context, folder: Path) -> ShaderLibrary:
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}
    text = (Path(__file__).parent / "skin.glsl").read_text(encoding="utf-8")
    return make_library(context, folder, files | {"skin.glsl": text})


@pytest.mark.parametrize("context", ["tf", slow("compute")], indirect=True)
@pytest.mark.parametrize("mesh", [slow(box((0.3, 0.2, 0.1), 5), id="flat"), pytest.param(ball(0.25, 24), id="curved")])
def test_distances_are_those_of_all_triangles(context: Context, tmp_path: Path, mesh: Mesh) -> None:
    library, random = probes(context, tmp_path), np.random.default_rng(1)
    surface = Surface(context, library, mesh, moved(mesh, np.array([0.01, 0.02, -0.01]), np.array([1.02, 1.0, 0.98])))
    for fraction in (0.0, 0.25, 1.0):
        triangles = surface.first + fraction * (surface.last - surface.first)
        picked = triangles[random.integers(0, len(triangles), 600)]
        points = np.einsum("pc,pcx->px", random.dirichlet(np.ones(3), 600), picked)
        points = (points + random.uniform(-0.012, 0.012, points.shape)).astype(np.float32).astype(np.float64)
        expected = signed_distances(points, triangles)
        found = surface.contacts(library, points, 0.0, (fraction, fraction, 1e-3))["normal"]
        np.testing.assert_allclose(found[:, 3], expected, atol=2e-6)
        foot = signed_distances(points - expected[:, None] * found[:, :3], triangles)
        assert np.abs(foot).max() < 2e-5, "the normal points away from the nearest point"
    surface.release()
    library.release()


@ON_BOTH
def test_a_path_through_a_thin_box_touches_its_front(context: Context, tmp_path: Path) -> None:
    library, thin = probes(context, tmp_path), box((0.5, 0.5, 0.005), 4)
    surface = Surface(context, library, thin, moved(thin, np.array([0.0, 0.0, 0.02]), np.ones(3)), friction=0.7)
    random = np.random.default_rng(2)
    points = np.concatenate([random.uniform(-0.4, 0.4, (200, 2)), np.full((200, 1), 0.04)], axis=1)
    found = surface.contacts(library, points, (0.0, 0.0, -6.0), (0.0, 1.0, STEP_TIME))
    np.testing.assert_allclose(found["normal"][:, :3], np.tile([0.0, 0.0, 1.0], (200, 1)), atol=1e-6)
    np.testing.assert_allclose(found["normal"][:, 3], 0.04 - 0.1 - 0.025, atol=1e-5)
    np.testing.assert_allclose(found["surface"][:, 2], 0.02 / STEP_TIME, rtol=1e-4)
    np.testing.assert_allclose(found["surface"][:, 3], 0.7, rtol=1e-6)
    beside = surface.contacts(library, points + np.array([2.0, 0.0, 0.0]), (0.0, 0.0, -6.0), (0.0, 1.0, STEP_TIME))
    assert (beside["normal"][:, 3] > FAR).all()
    surface.release()
    library.release()


def test_openings_and_deep_points_touch_nothing_and_sheets_have_two_sides(context: Context, tmp_path: Path) -> None:
    library = probes(context, tmp_path)
    solid = box((0.2, 0.2, 0.2), 4)
    opened = replace(solid, triangles=np.delete(solid.triangles, np.s_[-32:], axis=0))
    opened = sections(opened, all=len(opened.triangles))
    surface = Surface(context, library, opened, opened)
    near_rim = np.array([[0.19, 0.0, 0.205], [0.195, 0.0, 0.18], [0.1, 0.0, 0.19]])
    found = surface.contacts(library, near_rim, 0.0, (1.0, 1.0, 1e-3))["normal"][:, 3]
    assert found[0] > FAR
    assert found[1] == pytest.approx(-0.005, abs=1e-6)
    assert found[2] > FAR
    surface.release()
    sheet = replace(opened, sections=(replace(opened.sections[0], is_open=True),))
    surface = Surface(context, library, sheet, sheet)
    found = surface.contacts(library, near_rim[1:2], 0.0, (1.0, 1.0, 1e-3))["normal"]
    np.testing.assert_allclose(found[0], [-1.0, 0.0, 0.0, 0.005], atol=1e-6)
    through = surface.contacts(library, near_rim[1:2], (20.0, 0.0, 0.0), (0.0, 1.0, 1e-3))["normal"]
    np.testing.assert_allclose(through[0], [-1.0, 0.0, 0.0, -0.015], atol=1e-6)
    surface.release()
    library.release()


def test_degenerate_and_many_sided_triangles_give_finite_contacts(context: Context, tmp_path: Path) -> None:
    library, solid = probes(context, tmp_path), ball(0.2, 12)
    more = np.array([[0, 0, 0], [1, 1, 2], [30, 60, 90], [30, 90, 60]], np.uint32)
    bad = replace(solid, triangles=np.concatenate([solid.triangles, more]))
    flat = moved(bad, np.zeros(3), np.array([1.0, 0.0, 1.0]))
    for last in (bad, flat, moved(bad, np.zeros(3), np.zeros(3))):
        surface = Surface(context, library, bad, last)
        points = np.random.default_rng(3).uniform(-0.25, 0.25, (300, 3))
        found = surface.contacts(library, points, 1.0, (0.5, 1.0, STEP_TIME / 2.0))
        assert all(np.isfinite(found[name]).all() for name in ("normal", "surface"))
        np.testing.assert_allclose(np.linalg.norm(found["normal"][:, :3], axis=1), 1.0, atol=2.0)
        surface.release()
    library.release()


# --- scenes ---------------------------------------------------------------------------------------------------------


def made(
    context: Context,
    mesh: Mesh,
    *nodes: Node,
    place: Transform | None = None,
    background: bool = False,
    **collider: Any,
) -> Engine:
    engine = Engine(context, background=background)
    settings = ColliderSettings(**{"shape": ColliderShape.SKIN} | collider)
    scene = Scene(
        nodes=(
            Node(id="body", name="Body", transform=place or Transform(), settings=ModelSettings()),
            Node(id="skin", name="Skin", attachment=Attachment(node="body"), settings=settings),
            *nodes,
        )
    )
    engine.set_model("body", model_of(mesh), {})
    engine.apply(scene)
    engine.restart(0.0)
    return engine


def steps(engine: Engine, first: int, last: int) -> list[str]:
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)
    return [problem.text for problem in engine.simulation.take_problems()]


def positions(engine: Engine, node: str) -> Float64:
    found = engine.simulation.systems[node].arrays()["positions"].read()
    return found[np.isfinite(found).all(axis=-1)].reshape(-1, 3).astype(np.float64)


def shower(**settings: Any) -> Node:
    values = {
        "mode": EmissionMode.RATE, "rate": 200.0, "capacity": 400, "lifetime": 2.0, "gravity": (0.0, 0.0, 0.0),
        "speed": 3.0, "substeps": 1, "collision": CollisionResponse.BOUNCE, "clearance": 0.002, "drag": 0.0,
    }  # fmt: skip
    return Node(
        id="e", name="Shower", transform=Transform(position=(0.0, 0.5, 0.0), rotation=(180.0, 0.0, 0.0)),
        settings=EmitterSettings(**values | settings),
    )  # fmt: skip


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("response", [CollisionResponse.BOUNCE, CollisionResponse.DIE, CollisionResponse.STICK])
def test_no_particle_passes_a_thin_box(context: Context, response: CollisionResponse) -> None:
    engine = made(context, box((2.0, 0.005, 2.0), 8), shower(collision=response, cone_angle=40.0))
    assert steps(engine, 0, 40) == []
    found = positions(engine, "e")
    assert len(found) > 10
    assert found[:, 1].min() > 0.005
    if response is CollisionResponse.STICK:
        assert (np.abs(found[:, 1] - 0.007) < 1e-3).sum() > 20
    engine.release()


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("mode", [EmissionMode.RATE, EmissionMode.FULL])
def test_newborn_particles_meet_the_skin_in_their_first_step(context: Context, mode: EmissionMode) -> None:
    """They are born above a plate, or in it, and would be below it at the end of the step."""
    plate = box((2.0, 0.02, 2.0), 8)
    for height, speed in ((0.05, 30.0), (0.015, 0.0)):
        near = shower(mode=mode, speed=speed, rate=6000.0, lifetime=0.2, lifetime_variance=0.9)
        near = msgspec.structs.replace(near, transform=msgspec.structs.replace(near.transform, position=(0, height, 0)))
        engine = made(context, plate, near, restitution=0.5)
        for step in range(20):
            assert steps(engine, step, step + 1) == []
            found = positions(engine, "e")
            assert not step or len(found) > 10
            assert found[:, 1].min(initial=1.0) > 0.022 - 1e-5, step
        engine.release()


@COMPUTE_IN_CAMPAIGN
def test_a_particle_bounces_off_a_skin_as_in_double_precision(context: Context) -> None:
    """It falls on a tilted plate; flight, moment of the impact, restitution and friction are known."""
    angle, friction, restitution = 0.3, 0.1, 0.6
    tilt = Transform(rotation=(0.0, 0.0, float(np.degrees(angle))))
    drop = shower(
        mode=EmissionMode.BURST, bursts="0:1", speed=2.0, speed_variance=0.0, cone_angle=0.0, lifetime=9.0,
        lifetime_variance=0.0, substeps=1,
    )  # fmt: skip
    engine = made(context, box((2.0, 0.05, 2.0), 6), drop, place=tilt, friction=friction, restitution=restitution)
    steps(engine, 0, 1)
    place, found = positions(engine, "e")[0], []
    velocity, normal = np.array([0.0, -2.0, 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
    for step in range(1, 25):
        steps(engine, step, step + 1)
        approach, gap = -velocity @ normal, place @ normal - 0.05 - 0.002
        before = gap / approach if 0.0 < gap < STEP_TIME * approach else STEP_TIME
        place = place + before * velocity
        if before < STEP_TIME:
            across = velocity + approach * normal
            impulse = (1.0 + restitution) * approach
            velocity = velocity + impulse * normal - friction * impulse * across / np.linalg.norm(across)
            place = place + (STEP_TIME - before) * velocity
            found.append(step)
        np.testing.assert_allclose(positions(engine, "e")[0], place, atol=2e-5)
    assert len(found) == 1
    engine.release()


def sheet(**settings: Any) -> Node:
    values = {
        "columns": 5, "rows": 5, "width": 0.2, "height": 0.2, "placement": ClothPlacement.FLAT, "air_drag": 0.0,
        "pins": PinPreset.NONE, "normal_drag": 0.0, "tangent_drag": 0.0, "substeps": 24, "thickness": 0.01,
    }  # fmt: skip
    return Node(
        id="c", name="Sheet", transform=settings.pop("place", Transform(position=(0.0, 0.011, 0.0))),
        settings=ClothSettings(**values | settings),
    )  # fmt: skip


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("solver", list(ClothSolving))
@pytest.mark.parametrize("friction", [0.2, slow(0.8)])
def test_friction_on_a_slope(context: Context, friction: float, solver: ClothSolving) -> None:
    angle = np.arctan(0.5)
    tilt = Transform(rotation=(0.0, 0.0, float(np.degrees(angle))))
    top = Transform(position=(-0.055 * float(np.sin(angle)), 0.055 * float(np.cos(angle)), 0.0), rotation=tilt.rotation)
    engine = made(context, box((3.0, 0.05, 1.0), 7), sheet(place=top, solver=solver), place=tilt, friction=friction)
    steps(engine, 0, 30)
    start = positions(engine, "c").mean(axis=0)
    before = positions(engine, "c").mean(axis=0)
    steps(engine, 30, 60)
    after = positions(engine, "c").mean(axis=0)
    if friction > 0.5:
        assert np.linalg.norm(after - start) < 1e-5
    else:
        rate = 9.81 * (np.sin(angle) - friction * np.cos(angle))
        expected = 0.5 * rate * (1.0**2 - 0.5**2)
        assert np.linalg.norm(after - before) == pytest.approx(expected, rel=0.03)
    engine.release()


def test_only_chosen_sections_collide_and_wrong_ones_are_reported(context: Context) -> None:
    mesh = sections(box((1.0, 0.05, 1.0), 4), lower=96, upper=96)
    for names, rests in ((("upper",), True), (("lower", "upper"), True), ((), True), (("lower",), False)):
        engine = made(context, mesh, sheet(place=Transform(position=(0.0, 0.06, 0.0))), sections=names)
        assert steps(engine, 0, 20) == []
        assert (positions(engine, "c")[:, 1].min() > 0.05) == rests, names
        engine.release()
    for wrong, settings in ((mesh, {"sections": ("hat",)}), (mesh_of([(0.0, 0.0, 0.0)]), {})):
        engine = made(context, wrong, sheet(), **settings)
        assert [text.split(" in ")[0] for text in steps(engine, 0, 3)] == ["the model has no triangles"]
        assert positions(engine, "c")[:, 1].min() < 0.011, "the cloth goes on"
        engine.release()


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("solver", list(HairSolver))
def test_hair_stays_outside(context: Context, solver: HairSolver) -> None:
    hair = Node(
        id="h", name="Hair", transform=Transform(position=(0.0, 0.25, 0.0)),
        settings=HairSettings(
            source=HairSource.ELLIPSOID, radii=(0.3, 0.05, 0.3), solver=solver, guides=24, knots=6, length=0.3,
            hold=0.0, carried=0.0, substeps=4,
        ),
    )  # fmt: skip
    mesh = box((1.0, 0.05, 1.0), 6)
    engine = made(context, mesh, hair)
    assert steps(engine, 0, 40) == []
    triangles = mesh.positions[mesh.triangles].astype(np.float64)
    found = positions(engine, "h")
    assert signed_distances(found[np.abs(found[:, 1]) < 0.2], triangles).min() > -1e-3
    engine.release()


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("solver", list(HairSolver))
def test_hair_on_a_plate_is_as_on_a_plane(context: Context, solver: HairSolver) -> None:
    """The plane is that of the double precision tests of hair; distances from the plate are those of float64."""
    hair = Node(
        id="h", name="Hair", transform=Transform(position=(0.0, 0.12, 0.0)),
        settings=HairSettings(
            source=HairSource.ELLIPSOID, radii=(0.2, 0.05, 0.2), solver=solver, guides=24, knots=6, length=0.3,
            hold=0.0, carried=0.0, substeps=4, clearance=0.01,
        ),
    )  # fmt: skip
    mesh, ends = box((2.0, 0.05, 2.0), 9), []
    engine = made(context, mesh, hair)
    assert steps(engine, 0, 40) == []
    ends.append(positions(engine, "h"))
    engine.release()
    plane = ColliderSettings(shape=ColliderShape.PLANE)
    floor = Node(id="f", settings=plane, transform=Transform(position=(0.0, 0.05, 0.0)))
    engine = Engine(context)
    engine.apply(Scene(nodes=(floor, hair)))
    engine.restart(0.0)
    assert steps(engine, 0, 40) == []
    ends.append(positions(engine, "h"))
    engine.release()
    apart = np.abs(ends[0] - ends[1]).max(axis=1)
    assert np.median(apart) < 1e-6
    assert (apart < 1e-3).mean() > 0.95, "a strand that stands on its tip buckles to any side"
    away = signed_distances(ends[0], mesh.positions[mesh.triangles].astype(np.float64))
    assert (away < 0.0101).sum() > 4
    assert away.min() > 0.01 - 1e-5


@pytest.mark.parametrize("solver", [ClothSolving.SPRINGS, slow(ClothSolving.LINES)])
def test_scrubbing_and_both_back_ends_give_the_same_bits(context: Context, solver: ClothSolving) -> None:
    choices = [BackEndChoice.TF] + ([BackEndChoice.COMPUTE] if context.back_ends.has_compute else [])
    mesh = ball(0.3, 16)
    high = Transform(position=(0.02, 0.31, 0.01))
    emitter = shower(cone_angle=20.0, substeps=2)
    states: dict[BackEndChoice, bytes] = {}
    for choice in choices:
        context.back_ends.choice = choice
        fabric = sheet(columns=9, rows=9, width=0.5, height=0.5, place=high, solver=solver)
        engine = made(context, mesh, fabric, emitter)
        steps(engine, 0, 8)
        middle = engine.simulation.state()
        steps(engine, 8, 16)
        states[choice] = end = engine.simulation.state()
        engine.restore(middle, 8 * STEP_TIME)
        steps(engine, 8, 16)
        assert engine.simulation.state() == end
        engine.restart(0.0)
        steps(engine, 0, 16)
        assert engine.simulation.state() == end
        found = positions(engine, "c")
        triangles = mesh.positions[mesh.triangles].astype(np.float64)
        assert signed_distances(found, triangles).min() > 0.004
        assert np.abs(winding_numbers(found[:5], triangles)).max() < 1e-6
        engine.release()
    assert len(set(states.values())) == 1


def test_the_key_of_cached_steps_holds_the_settings_of_the_skin(context: Context) -> None:
    engine = made(context, sections(box((1.0, 0.05, 1.0)), upper=6, lower=6), sheet())
    scene, key = engine.world.scene, node_keys(engine.world)["c"]
    light = Node(id="l", name="Light", settings=LightSettings())
    engine.apply(msgspec.structs.replace(scene, nodes=(*scene.nodes, light)))
    assert node_keys(engine.world)["c"] == key
    keys = {key}
    for changes in ({"sections": ("upper",)}, {"sections": ("lower",)}, {"friction": 0.9}, {"restitution": 0.5}):
        skin = scene.node("skin")
        changed = msgspec.structs.replace(skin, settings=msgspec.structs.replace(skin.settings, **changes))
        engine.apply(
            msgspec.structs.replace(scene, nodes=tuple(changed if one is skin else one for one in scene.nodes))
        )
        keys.add(node_keys(engine.world)["c"])
    assert len(keys) == 5
    engine.release()


def test_the_simulation_waits_for_tables_that_a_worker_thread_makes(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh, gate, threads = ball(0.3, 16), threading.Event(), list[threading.Thread]()
    high = sheet(place=Transform(position=(0.02, 0.31, 0.01)))
    engine = made(context, mesh, high)
    steps(engine, 0, 8)
    expected, key = engine.simulation.state(), node_keys(engine.world)["c"]
    engine.release()

    def slow_corners(mesh: Mesh, names: Sequence[str]) -> UInt32:
        threads.append(threading.current_thread())
        assert gate.wait(60.0)
        return skin_corners(mesh, names)

    monkeypatch.setattr(place, "skin_corners", slow_corners)
    engine = made(context, replace(mesh), high, background=True)
    simulation, scene = engine.simulation, engine.world.scene
    assert (simulation.is_waiting, simulation.is_active, simulation.progress) == (True, False, {"skin": 0.0})
    engine.step(STEP_TIME)
    assert node_keys(engine.world)["c"] != key, "steps without the skin are not taken for steps with it"
    skin = scene.node("skin")
    engine.apply(with_value(scene, ParamRef("skin", "collider", "friction"), 0.9))
    engine.apply(scene)
    assert len(threads) == 1
    gate.set()
    while not simulation.is_due:
        time.sleep(0.01)
    engine.apply(scene)
    assert (simulation.is_waiting, simulation.is_due, simulation.is_active) == (False, False, True)
    assert threads[0] is not threading.main_thread()
    assert node_keys(engine.world)["c"] == key
    engine.restart(0.0)
    assert steps(engine, 0, 8) == []
    assert simulation.state() == expected
    engine.apply(structs.replace(scene, nodes=tuple(one for one in scene.nodes if one is not skin)))
    assert not simulation.is_waiting
    engine.release()


def test_a_bake_of_a_cloth_on_a_skin_is_verified(
    context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "a.sinew"
    humanoid = ModelSettings(path=str(resources.path("models") / "humanoid" / "humanoid.ezm"), clip="walk")
    scene = Scene(
        nodes=(
            Node(id="m", name="Figure", settings=humanoid),
            Node(
                id="s", name="Skin", attachment=Attachment(node="m"),
                settings=ColliderSettings(shape=ColliderShape.SKIN, sections=("hair", "skin")),
            ),
            sheet(place=Transform(position=(0.0, 1.81, 0.0))),
        )
    )  # fmt: skip
    save_project(project, scene, ViewState())
    command = ["simulate", str(project), "--allow-outside", "--steps", "8", "--cache"]
    assert main([*command, "--output", str(tmp_path / "a.npz")]) == 0
    for back_end in ["tf"] + (["compute"] if context.back_ends.has_compute else []):
        assert main(["verify", str(project), "--allow-outside", "--backend", back_end]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "1 node, 8 steps, bit-identical"
    save_project(project, with_value(scene, ParamRef("s", "collider", "sections"), ("trousers",)), ViewState())
    assert main(["verify", str(project), "--allow-outside"]) == 1


# --- without OpenGL -------------------------------------------------------------------------------------------------


def test_corners_are_those_of_chosen_sections_with_open_edges() -> None:
    mesh = sections(box((1.0, 1.0, 1.0)), some=10, last=2)
    assert skin_corners(mesh, ()).shape == (12, 4)
    assert (skin_corners(mesh, ())[:, 3] == 0).all()
    assert (skin_corners(mesh, ("last",))[:, 3] == 7).all()
    assert skin_corners(mesh, ("hat",)).shape == (0, 4)


def test_outer_sections_come_first() -> None:
    inner, outer = ball(0.29, 24), ball(0.3, 24)
    both = mesh_of(
        np.concatenate([inner.positions, outer.positions]),
        np.concatenate([inner.triangles, outer.triangles + inner.vertex_count]),
        normals=np.concatenate([inner.normals, outer.normals]),
    )
    shares = covered_shares(sections(both, skin=len(inner.triangles), coat=len(outer.triangles)))
    assert list(shares) == ["coat", "skin"]
    assert shares["coat"] < 0.1 < 0.9 < shares["skin"]
    assert covered_shares(mesh_of([])) == {}


@pytest.mark.parametrize("substeps", [1, 2, 3, 40])
def test_parts_of_a_step_cover_all_substeps(substeps: int) -> None:
    parts = parts_of(substeps)
    assert [one for first, end in parts for one in range(first, end)] == list(range(substeps))
