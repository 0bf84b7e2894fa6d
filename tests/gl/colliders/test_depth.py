"""Depth of points in skins, against known answers and float64 over all triangles."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Mesh, Section
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.characters.skinning import rest_records
from sinew.sim.colliders.skin import SkinPlacement
from sinew.sim.colliders.skin_mesh import skin_corners
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.task import finish
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, PinPreset
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.maths.arrays import Float64
from sinew.sim.owner import Owner
from sinew.sim.run.engine import Engine
from sinew.sim.run.penetration import UNITS, is_measured, measured_sections, measures_of, penetration, units_of
from sinew.sim.scene.params import ParamError, validated
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from sinew.sim.skin.depth import DEPTH_REACH, SkinDepth
from tests.conftest import slow
from tests.gl.back_ends import ON_BOTH
from tests.gl.colliders.test_skin import ball, box, moved, sections
from tests.model_samples import mesh_of, model_of
from tests.oracles.skin import depths, winding_numbers

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
FAR = np.array([31.0, -7.0, 12.0])


class Body(Owner):
    """Skins of meshes, placed one by one, and their depths."""

    def __init__(self, context: Context, library: ShaderLibrary, *meshes: Mesh, world: Float64 | None = None) -> None:
        place = np.eye(4) if world is None else world
        self.depth = self.owns(SkinDepth(context, library))
        self.placed = {}
        for number, mesh in enumerate(meshes):
            vertices = self.owns(Buffer(context, rest_records(mesh), usage="copy", label="test skin"))
            self.placed[str(number)] = SkinPlacement(skin_corners(mesh, ()), vertices, place, 0.0, 0.0)
        tables = [(one.corners, mesh) for one, mesh in zip(self.placed.values(), meshes, strict=True)]
        corners = np.concatenate([mesh.positions[table[:, :3]].astype(np.float64) for table, mesh in tables])
        self.triangles = corners @ place[:3, :3].T + place[:3, 3]
        if np.linalg.det(place[:3, :3]) < 0.0:
            self.triangles = self.triangles[:, ::-1]

    def depths(self, points: Any) -> Float64:
        return finish(self.depth.measured(self.placed, np.asarray(points, np.float64)))

    def windings(self, points: Float64) -> Float64:
        skin, work = self.depth._skins.advance(self.placed), Owner()
        inputs = self.depth._inputs(skin, work)
        found = finish(self.depth._values(self.depth._winding, points, work, **inputs))
        work.release()
        return found[:, 0]


@pytest.fixture
def bodies(context: Context, library: ShaderLibrary) -> Iterator[Any]:
    made = Owner()

    def make(*meshes: Mesh, **options: Any) -> Body:
        return made.owns(Body(context, library, *meshes, **options))

    yield make
    made.release()


def joined(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    faces = [mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]
    return mesh_of(
        np.concatenate([mesh.positions for mesh in meshes]), np.concatenate(faces),
        normals=np.concatenate([mesh.normals for mesh in meshes]),
    )  # fmt: skip


def sheet(height: float, half: float = 0.3, count: int = 9) -> Float64:
    across = np.linspace(-half, half, count)
    x, z = (one.ravel() for one in np.meshgrid(across, across))
    return np.stack([x, np.full_like(x, height), z], axis=1)


@ON_BOTH
@pytest.mark.parametrize("cells", [1, 6])
def test_a_sheet_below_the_top_of_a_box_is_as_deep_as_it_lies(bodies: Any, cells: int) -> None:
    body = bodies(box((0.5, 0.5, 0.5), cells))
    np.testing.assert_allclose(body.depths(sheet(0.495)), 0.005, atol=1e-6)
    np.testing.assert_array_equal(body.depths(sheet(0.505)), 0.0)
    np.testing.assert_allclose(body.depths([[0.1, 0.05, -0.1]]), DEPTH_REACH, err_msg="deeper than the reach")
    found = body.depths([[0.0, 0.495, 0.0], [np.nan, 0.0, 0.0]])
    assert found[0] == pytest.approx(0.005, abs=1e-6)
    assert np.isnan(found[1])
    assert len(body.depths(np.zeros((0, 3)))) == 0


@ON_BOTH
def test_below_nested_layers_the_outer_one_counts(bodies: Any) -> None:
    inner, outer = box((0.4, 0.4, 0.4), 8), box((0.5, 0.5, 0.5), 3)
    for body in (bodies(joined([inner, outer])), bodies(inner, outer)):
        np.testing.assert_allclose(body.depths(sheet(0.39)), 0.11, atol=1e-5)
        np.testing.assert_allclose(body.depths(sheet(0.41)), 0.09, atol=1e-5)
        assert body.windings(sheet(0.39))[0] == pytest.approx(2.0, abs=0.02)


@ON_BOTH
@pytest.mark.parametrize(("scale", "place"), [(1.0, np.zeros(3)), (0.1, FAR), (3.0, -FAR)])
def test_depths_in_a_sphere_are_within_its_chord_error(bodies: Any, scale: float, place: Float64) -> None:
    rings = 21
    body = bodies(moved(ball(0.2, rings), place / scale, np.ones(3)), world=np.diag([scale, scale, scale, 1.0]))
    random = np.random.default_rng(2)
    ways = random.normal(size=(400, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    radii = random.uniform(0.05, 0.35, 400)
    chord = 0.2 * (1.0 - np.cos(np.pi / (rings - 1) / 2.0) ** 2)
    found = body.depths(place + scale * radii[:, None] * ways)
    known = np.abs(radii - 0.2) > chord
    expected = np.minimum(np.maximum(0.2 - radii, 0.0) * scale, DEPTH_REACH)
    np.testing.assert_allclose(found[known], expected[known], atol=scale * chord + 1e-5)


@ON_BOTH
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_the_rim_of_an_open_hemisphere_has_the_right_side(bodies: Any, is_mirrored: bool) -> None:
    whole = ball(0.2, 31)
    bowl = replace(whole, triangles=whole.triangles[(whole.positions[whole.triangles][..., 1] > -1e-6).all(axis=1)])
    body = bodies(bowl, world=np.diag([-1.0 if is_mirrored else 1.0, 1.0, 1.0, 1.0]))
    turns = np.linspace(0.0, 2.0 * np.pi, 24)
    ring = np.stack([np.cos(turns), np.zeros_like(turns), np.sin(turns)], axis=1)
    up = np.array([0.0, 0.01, 0.0])
    assert (body.windings(0.19 * ring + up) > 0.5).all(), "1 cm from the rim, inside"
    assert (body.windings(0.21 * ring + up) < 0.5).all()
    assert (body.windings(0.19 * ring - up) < 0.5).all(), "below the opening"
    np.testing.assert_allclose(body.depths(0.19 * ring + up), 0.01, atol=2e-3)


@pytest.mark.parametrize("context", ["tf", slow("compute")], indirect=True)
def test_kernels_agree_with_the_reference(bodies: Any) -> None:
    random = np.random.default_rng(5)
    shapes = (
        ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), ((0.25, 0.1, 0.0), (1.2, 0.7, 0.9)), ((0.0, 0.0, 0.0), (0.7, 0.7, 0.7)),
    )  # fmt: skip
    parts = [moved(ball(0.2, 13), np.array(offset), np.array(stretch)) for offset, stretch in shapes]
    turn = np.eye(4)
    turn[:3, :3] = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn[:3, 3] = FAR
    body = bodies(joined(parts), world=turn)
    points = random.uniform(-0.4, 0.5, (300, 3)) @ turn[:3, :3].T + FAR
    exact = winding_numbers(points, body.triangles)
    assert np.abs(exact - np.round(exact)).max() < 1e-9
    assert set(np.round(exact)) >= {0.0, 1.0, 2.0}
    assert np.abs(body.windings(points) - exact).max() < 0.02
    expected = depths(points, body.triangles)
    np.testing.assert_allclose(body.depths(points), expected, atol=2e-5)
    assert (expected > 0.0).sum() > 10


@pytest.mark.slow
@ON_BOTH
def test_winding_numbers_of_the_humanoid_are_right_where_the_nearest_triangle_is_not(bodies: Any) -> None:
    mesh = load_model(HUMANOID).mesh
    body, random = bodies(mesh), np.random.default_rng(0)
    points = mesh.positions[random.integers(mesh.vertex_count, size=160)] + random.normal(size=(160, 3)) * 0.03
    exact = winding_numbers(points, body.triangles)
    found = body.windings(points)
    assert np.abs(found - exact).max() < 0.02
    assert ((found > 0.5) == (exact > 0.5)).all()
    assert ((body.depths(points) > 0.0) == (exact > 0.5)).all()


# --- scenes ---------------------------------------------------------------------------------------------------------


def scene_of(engine: Engine, model: CharacterModel, *nodes: Node, **settings: Any) -> None:
    body = Node(id="body", name="Body", settings=ModelSettings(**settings))
    engine.set_model("body", model, {})
    engine.apply(Scene(nodes=(body, *nodes)))
    engine.restart(0.0)


def cloth(height: float, parent: str = "body", **settings: Any) -> Node:
    made = ClothSettings(columns=5, rows=5, width=0.4, height=0.4, placement=ClothPlacement.FLAT, **settings)
    return Node(
        id="cloth", name="Cloth", settings=made, attachment=Attachment(node=parent),
        transform=Transform(position=(0.0, height, 0.0)),
    )  # fmt: skip


def test_cloth_is_measured_in_the_skin_of_its_character(engine: Engine) -> None:
    scene_of(engine, model_of(box((0.5, 0.5, 0.5), 2)), cloth(0.49))
    system = engine.simulation.systems["cloth"]
    found = measures_of(system)
    assert found["inside"] == 25
    assert found["depth"] == pytest.approx(10.0, abs=1e-2)
    assert found["depth_mean"] == pytest.approx(10.0, abs=1e-2)
    assert found.keys() >= {"strain", *UNITS}
    assert units_of(system).keys() >= found.keys()
    assert not UNITS.keys() & measures_of(system, ["strain"]).keys(), "nobody asks for it"
    assert UNITS.keys() <= measures_of(system, ["strain", "depth"]).keys()


def test_tolerance_and_sections_are_those_of_the_character(engine: Engine) -> None:
    inner, outer = box((0.4, 0.4, 0.4), 2), box((0.5, 0.5, 0.5), 2)
    layers = sections(joined([inner, outer]), inner=len(inner.triangles), outer=len(outer.triangles))
    values = {}
    for name, settings in (
        ("all", {}), ("inner", {"depth_sections": ("inner",)}), ("drawn", {"hidden_sections": "outer"}),
        ("tolerant", {"depth_sections": ("inner",), "depth_tolerance": 10.0}), ("none", {"depth_sections": ("x",)}),
    ):  # fmt: skip
        scene_of(engine, model_of(layers), cloth(0.395), **settings)
        values[name] = measures_of(engine.simulation.systems["cloth"])["depth"]
    assert values["all"] == pytest.approx(105.0, abs=0.1)
    assert values["inner"] == values["drawn"] == pytest.approx(5.0, abs=1e-2)
    assert values["tolerant"] == values["none"] == 0.0
    with pytest.raises(ParamError):
        validated(ModelSettings(), depth_tolerance=10.5)


def test_open_sheets_are_measured_only_where_nothing_else_is(engine: Engine) -> None:
    flat = box((0.5, 0.5, 0.5), 2)
    parts = (Section("body", -1, 0, 40), Section("cape", -1, 40, 8, is_open=True))
    scene_of(engine, model_of(replace(flat, sections=parts)), cloth(0.49))
    assert measured_sections(engine.world, "body") == ("body",)
    scene_of(engine, model_of(replace(flat, sections=(replace(parts[1], triangle_count=48, first_triangle=0),))))
    assert measured_sections(engine.world, "body") == ()


def test_nodes_without_a_skin_are_not_measured(engine: Engine) -> None:
    scene_of(engine, model_of(box((0.5, 0.5, 0.5), 2)), cloth(0.49, parent=""))
    system = engine.simulation.systems["cloth"]
    assert not is_measured(system)
    assert finish(penetration(system)) is None
    assert not UNITS.keys() & measures_of(system).keys()


def test_roots_of_strands_are_outside_and_knots_in_the_skin_are_counted(engine: Engine) -> None:
    inner, outer = ball(0.3, 17), ball(0.35, 33)
    layers = sections(joined([inner, outer]), inner=len(inner.triangles), outer=len(outer.triangles))
    settings = HairSettings(source=HairSource.FACES, guides=80, knots=6, length=0.1)
    hair = Node(id="hair", name="Hair", settings=settings, attachment=Attachment(node="body"))
    scene_of(engine, model_of(layers), hair, depth_sections=("outer",))
    system = engine.simulation.systems["hair"]
    found = finish(penetration(system))
    assert found is not None
    radii = np.linalg.norm(found.points, axis=1)
    is_knot = np.arange(len(radii)) % 6 > 0
    assert (found.depths[~is_knot] == 0.0).all()
    clear = is_knot & (np.abs(radii - 0.35) > 2e-3)
    np.testing.assert_allclose(found.depths[clear], np.maximum(0.35 - radii, 0.0)[clear], atol=2e-3)
    assert measures_of(system)["inside"] == (found.depths > 0.0).sum() > 40


def test_a_report_lists_depths_in_skins(tmp_path: Path) -> None:
    mesh = box((0.5, 0.5, 0.5), 2)
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.positions] + [f"f {a} {b} {c}" for a, b, c in mesh.triangles + 1]
    (tmp_path / "box.obj").write_text("\n".join(lines), encoding="utf-8")
    project, output = tmp_path / "a.sinew", tmp_path / "a.html"
    flat = ClothSettings(
        columns=5, rows=5, width=0.4, height=0.4, placement=ClothPlacement.FLAT, pins=PinPreset.CORNERS, substeps=8,
        gravity=(0.0, 0.0, 0.0), wind=(0.0, 0.0, 0.0), air_drag=0.0,
    )  # fmt: skip
    nodes = (
        Node(id="b", name="Box", settings=ModelSettings(path=str(tmp_path / "box.obj"))),
        Node(id="s", name="Sheet", settings=flat, attachment=Attachment(node="b"),
             transform=Transform(position=(0.0, 0.49, 0.0))),
    )  # fmt: skip
    save_project(project, Scene(nodes=nodes), ViewState())
    assert main(["report", str(project), "--output", str(output), "--frames", "0:2"]) == 0
    text = output.read_text(encoding="utf-8")
    part = text[text.index("Depth in skins") :]
    (row,) = [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", part)[1:2]]
    assert row == ["Sheet", "25", "10", "0", "10", "mm"]
    table = tmp_path / "a.csv"
    assert main(["sweep", str(project), "--set", "Sheet.substeps=8", "--steps", "2", "--output", str(table)]) == 0
    (found,) = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    assert (found["inside"], found["inside max"]) == ("25", "25")
    assert float(found["depth"]) == pytest.approx(10.0, abs=0.01) == float(found["depth_mean"])
    assert main(["sweep", str(project), "--set", "Sheet.substeps=8", "--steps", "2", "--measure", "strain,depth",
                 "--output", str(table)]) == 0  # fmt: skip
    assert table.read_text(encoding="utf-8").splitlines()[0].split(",")[1:5] == [
        "strain", "strain max", "depth", "depth max",
    ]  # fmt: skip
    with sinew.open(project) as python:
        python.simulate(1)
        assert python.nodes["Sheet"].measures()["inside"] == 25


@pytest.mark.slow
def test_python_and_sweeps_have_the_slides_of_feet(tmp_path: Path) -> None:
    with sinew.open(resources.path("models") / "humanoid" / "humanoid.ezm") as python:
        node = python.nodes[0]
        node.clip = "wave"
        left, right = node.foot_slides(0.0, 1.0)
        assert (left["side"], right["side"], left["contacts"]) == ("left", "right", 1)
        assert left["longest_way"] < 1e-3
        with pytest.raises(ValueError, match="no span"):
            node.foot_slides(1.0, 0.0)
        python.add("emitter")
        python.save(tmp_path / "a.sinew")
    words = ["sweep", str(tmp_path / "a.sinew"), "--steps=60", "--allow-outside", f"--output={tmp_path / 'a.csv'}"]
    assert main([*words, "--set", "humanoid.unit_scale=1,2"]) == 0
    small, large = csv.DictReader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines())
    assert float(small["foot_slide"]) == pytest.approx(1e3 * max(left["longest_way"], right["longest_way"]), rel=1e-4)
    for name in ("foot_slide", "foot_speed"):
        assert float(large[name]) == pytest.approx(2.0 * float(small[name]), rel=1e-4)
    assert main([*words, "--set", "humanoid.unit_scale=1", "--measure", "foot_speed"]) == 0
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[0].split(",")[1:3] == ["foot_speed", "steps"]
    with sinew.open(resources.path("models") / "arm" / "arm.ezm") as python:
        assert [foot for node in python.nodes for foot in node.foot_slides(0.0, 1.0)] == []
