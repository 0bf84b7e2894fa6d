"""The water of `tests/plugins/ripple`: the example of a kind that is drawn and exported as a surface."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from acme_ripple.kind import RIPPLE, RippleSettings
from acme_ripple.system import RippleSystem
from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Grab, stop_reason, warning_of
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.particle_system import ParticleSystem
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gl.back_ends import ON_BOTH
from tests.plugins.packages import registered, ripple_lines

BALL = Node(id="b", name="Ball", transform=Transform(position=(0.3, 0.05, 0.1)), settings=ColliderSettings(radius=0.2))


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(RIPPLE):
        yield


def water(transform: Transform | None = None, **changes: object) -> Node:
    settings = RippleSettings(**{"columns": 33, "rows": 25, **changes})
    return Node(id="r", name="Water", transform=transform or Transform(), settings=settings)


def stepped(engine: Engine, scene: Scene, first: int, last: int, grab: Grab | None = None) -> ParticleSystem:
    engine.apply(scene)
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME, grab)
    system = engine.simulation.systems["r"]
    assert isinstance(system, ParticleSystem)
    return system


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    yield made
    made.release()


def test_the_example_is_small() -> None:
    assert ripple_lines() <= 250


@ON_BOTH
@pytest.mark.parametrize(
    ("transform", "substeps", "damping"),
    [
        (Transform(), 4, 0.0),
        (Transform(position=(3.0, -1.0, 2.0), rotation=(20.0, 40.0, 10.0), scale=(2.0, 2.0, 2.0)), 7, 1.5),
    ],
)
def test_waves_are_those_of_the_wave_equation(
    engine: Engine, transform: Transform, substeps: int, damping: float
) -> None:
    """Against the same scheme in double precision, and the standing wave of a rectangle."""
    node = water(transform, substeps=substeps, damping=damping, width=2.0, length=1.5)
    system = stepped(engine, Scene(nodes=(node,)), 0, 0)
    size = system.scale
    assert size == pytest.approx(transform.scale[0])
    columns, rows = 33, 25
    x, y = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    heights = 0.05 * np.sin(np.pi * x) * np.sin(2.0 * np.pi * y)
    first = heights.copy()
    records = system.particles.newest.read()
    records["position"][: columns * rows, 3] = heights.ravel()
    system.particles.write(records)
    stepped(engine, Scene(nodes=(node,)), 0, 60)
    dx, dy, dt, speed = 2.0 / 32, 1.5 / 24, STEP_TIME / substeps, 1.0 / size
    rates = np.zeros_like(heights)
    for _ in range(60 * substeps):
        bend = np.zeros_like(heights)
        bend[1:-1, 1:-1] = (heights[1:-1, :-2] - 2.0 * heights[1:-1, 1:-1] + heights[1:-1, 2:]) / dx**2
        bend[1:-1, 1:-1] += (heights[:-2, 1:-1] - 2.0 * heights[1:-1, 1:-1] + heights[2:, 1:-1]) / dy**2
        rates = rates * np.exp(-damping * dt) + dt * speed**2 * bend
        rates[[0, -1]] = rates[:, [0, -1]] = 0.0
        heights = heights + dt * rates
    found = system.particles.newest.read(count=columns * rows)["position"]
    np.testing.assert_allclose(found[:, 3].reshape(rows, columns), heights, atol=2e-6)
    placed = engine.views.places.world_from_node(node)
    local = (found[:, :3] - placed[:3, 3]) @ np.linalg.inv(placed[:3, :3]).T
    np.testing.assert_allclose(local[:, 1], found[:, 3], atol=2e-6)
    if not damping:
        turns = speed * np.hypot(np.pi / 2.0, 2.0 * np.pi / 1.5)
        np.testing.assert_allclose(heights, first * np.cos(turns * 1.0), atol=2e-3)


@ON_BOTH
def test_it_collides_is_dragged_feels_fields_and_keeps_its_edge(engine: Engine) -> None:
    system = stepped(engine, Scene(nodes=(BALL, water())), 0, 60)
    places = system.arrays()["positions"].read()
    assert np.linalg.norm(places - [0.3, 0.05, 0.1], axis=1).min() > 0.2
    assert places[:, 1].min() < -0.1
    grab = Grab("r", 12 * 33 + 8, (-0.5, 0.3, 0.0))
    stepped(engine, Scene(nodes=(water(),)), 60, 120, grab)
    height = system.arrays()["positions"].read()[12 * 33 + 8, 1]
    assert 0.15 < height < 0.35
    system.reset()
    push = Node(id="f", transform=Transform(position=(0.0, 0.3, 0.0)), settings=FieldSettings(strength=3.0))
    stepped(engine, Scene(nodes=(water(), push)), 120, 150)
    places = system.arrays()["positions"].read().reshape(25, 33, 3)
    assert abs(places[1:-1, 1:-1, 1]).max() > 1e-3
    assert not places[[0, -1], :, 1].any()
    assert not places[:, [0, -1], 1].any()


def test_positions_of_another_shape_are_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, survived: list[BaseException]
) -> None:
    monkeypatch.setattr(RippleSystem, "rest", lambda self: np.zeros((6, 2)))
    engine.apply(Scene(nodes=(water(),)))
    (problem,) = engine.simulation.take_problems()
    assert "RippleSystem.rest must return an array of shape (count, 3), not (6, 2)" in problem.text
    survived.clear()


def test_too_few_substeps_are_warned_of_and_an_explosion_is_reported(engine: Engine) -> None:
    system = stepped(engine, Scene(nodes=(BALL, water(speed=20.0, substeps=1))), 0, 1)
    needed = system.needed_substeps
    assert warning_of(system) == f"needs {needed} substeps to be stable, not 1"
    stepped(engine, Scene(nodes=(BALL, water(speed=20.0, substeps=1))), 1, 120)
    engine.simulation.check()
    assert stop_reason(system) == "became unstable: positions are no numbers, or farther than 1000 km"
    assert [problem.node for problem in engine.simulation.take_problems()] == ["r"]
    stable = Scene(nodes=(BALL, water(speed=20.0, substeps=needed)))
    engine.apply(stable)
    system.reset()
    stepped(engine, stable, 0, 120)
    engine.simulation.check()
    assert (stop_reason(system), warning_of(system)) == ("", "")
    assert set(system.measures()) == set(system.units)


def test_normals_are_the_cross_products_of_the_sheet(engine: Engine) -> None:
    system = stepped(engine, Scene(nodes=(BALL, water(Transform(position=(0.0, 0.0, 1.0))))), 0, 20)
    places = system.arrays()["positions"].read().astype(np.float64).reshape(25, 33, 3)
    wide = np.pad(places, ((1, 1), (1, 1), (0, 0)), mode="edge")
    areas = np.cross(wide[1:-1, 2:] - wide[1:-1, :-2], wide[2:, 1:-1] - wide[:-2, 1:-1])
    expected = (areas / np.linalg.norm(areas, axis=2, keepdims=True)).reshape(-1, 3)
    normals = system.arrays()["normals"].read()
    np.testing.assert_allclose(normals, expected, atol=2e-5)
    assert normals[:, 1].min() > 0.0
    triangles, flat = system.arrays()["triangles"].read(), places.reshape(-1, 3)
    corners = flat[triangles]
    upward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1]
    assert (len(triangles), upward.min() > 0.0) == (2 * 32 * 24, True)


def test_it_is_drawn_and_framed(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (160, 120), ("rgba8",), label="output")
    pictures = []
    for scene in (Scene(), Scene(nodes=(water(),))):
        engine.apply(scene)
        engine.refresh(0.0)
        engine.draw(output, Camera(target=(0.0, 0.0, 0.0), distance=3.0))
        pictures.append(output.read_pixels().astype(int))
    changed = np.abs(pictures[1] - pictures[0]).max(axis=2) > 40
    assert changed.mean() > 0.1
    blue = pictures[1][changed].mean(axis=0)
    assert blue[2] > blue[0] + 40
    assert (engine.views.counts().vertices, engine.views.counts().triangles) == (33 * 25, 2 * 32 * 24)
    bounds = engine.views.bounds("r")
    np.testing.assert_allclose([bounds.lo, bounds.hi], [[-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]])
    output.release()


def test_it_is_exported_with_its_normals(tmp_path: Path) -> None:
    save_project(tmp_path / "a.sinew", Scene(nodes=(BALL, water())), ViewState())
    assert main(["export", str(tmp_path / "a.sinew"), "--frames", "0:5", "--output", str(tmp_path / "a.glb")]) == 0
    data = (tmp_path / "a.glb").read_bytes()
    scene = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    (primitive,) = next(mesh for mesh in scene["meshes"])["primitives"]
    assert {"POSITION", "NORMAL", "TEXCOORD_0"} <= primitive["attributes"].keys()
    assert len(primitive["targets"]) == 5
    assert scene["accessors"][primitive["attributes"]["POSITION"]]["count"] == 33 * 25
    assert scene["materials"][0]["name"] == "Water"


def test_its_report_has_measures_with_units(tmp_path: Path) -> None:
    save_project(tmp_path / "a.sinew", Scene(nodes=(BALL, water(columns=9, rows=9))), ViewState())
    page = tmp_path / "a.html"
    assert main(["report", str(tmp_path / "a.sinew"), "--frames", "0:2", "--output", str(page)]) == 0
    text = page.read_text()
    assert "Measures at the end" in text
    assert "<td>Water</td><td>height</td>" in text
    assert "<td>m/s</td>" in text


def test_a_moved_node_carries_the_water(engine: Engine) -> None:
    stepped(engine, Scene(nodes=(water(),)), 0, 2)
    moved = msgspec.structs.replace(water(), transform=Transform(position=(0.0, 1.0, 0.0)))
    system = stepped(engine, Scene(nodes=(moved,)), 2, 3)
    places = system.arrays()["positions"].read()
    np.testing.assert_allclose(places[:, 1], 1.0, atol=1e-6)
