"""Chains of bones for a skirt, a tail or a sheet: coordinates, weights, files and refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from sinew.app.cli.main import main
from sinew.app.failure.errors import CommandError
from sinew.app.jobs.chains import ChainForm, chained_model, leg_colliders, nodes_of
from sinew.app.project.project_file import load_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import BonePose, ModelSettings, SkinningMethod
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.skin.weights.chains import ChainOptions, generated_chains, hanging_surface
from sinew.sim.skin.weights.sparse import WeightsError
from tests.gltf_samples import Sample
from tests.vrm_samples import vrm

HIPS = np.array([0.0, 1.0, 0.0])
Grid = tuple[np.ndarray, np.ndarray]


def tube(columns: int = 48, rows: int = 21, *, slope: float = 0.0, tip: bool = False) -> Grid:
    """A skirt of 0.6 m that hangs from the hips; with a tip it is closed below, as a tail is."""
    turns = np.arange(columns) / columns * 2.0 * np.pi
    heights = np.linspace(0.0, 0.6, rows)
    points = [[(0.2 + slope * h) * np.sin(t), 1.0 - h, (0.2 + slope * h) * np.cos(t)] for h in heights for t in turns]
    quads = [
        (r * columns + c, r * columns + (c + 1) % columns, (r + 1) * columns + c, (r + 1) * columns + (c + 1) % columns)
        for r in range(rows - 1)
        for c in range(columns)
    ]
    triangles = [part for a, b, c, d in quads for part in ((a, c, b), (b, c, d))]
    if tip:
        points.append([0.0, 0.3, 0.0])
        last = (rows - 1) * columns
        triangles += [(last + c, len(points) - 1, last + (c + 1) % columns) for c in range(columns)]
    return np.array(points), np.array(triangles)


def sheet(columns: int = 9, rows: int = 13) -> Grid:
    points = [[x, 1.0 - y, -0.2] for y in np.linspace(0.0, 0.6, rows) for x in np.linspace(-0.2, 0.2, columns)]
    triangles = []
    for r in range(rows - 1):
        for c in range(columns - 1):
            a, b, d, e = r * columns + c, r * columns + c + 1, (r + 1) * columns + c, (r + 1) * columns + c + 1
            triangles += [(a, d, b), (b, d, e)]
    return np.array(points), np.array(triangles)


def dressed(*grids: Grid, sample: Sample | None = None) -> Sample:
    """A person whose skirt is bound to the hips; several grids are parts of one section."""
    sample = vrm() if sample is None else sample
    points = np.concatenate([grid[0] for grid in grids])
    starts = np.cumsum([0, *(len(grid[0]) for grid in grids[:-1])])
    triangles = np.concatenate([grid[1] + start for grid, start in zip(grids, starts, strict=True)])
    count = len(points)
    material = sample.put("materials", {"name": "skirt"})
    joints = sample.add(np.zeros((count, 4)), np.uint8)
    weights = sample.add(np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)))
    binds = np.tile(np.eye(4).ravel(), (2, 1))
    binds[:, 13] = -1.0
    binds[1, 13] = -1.1
    number = sample.put("skins", {"joints": [0, 1], "inverseBindMatrices": sample.add(binds)})
    sample.mesh(points, node={"skin": number, "name": "skirt"}, material=material,
                indices=sample.add(triangles.ravel(), np.uint16),
                attributes={"JOINTS_0": joints, "WEIGHTS_0": weights})  # fmt: skip
    return sample


def loaded(sample: Sample, folder: Path) -> CharacterModel:
    path = folder / "Ada.vrm"
    path.write_bytes(sample.data())
    return load_model(path)


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_coordinates_of_a_ring_are_its_height_and_angle(slope: float, tmp_path: Path) -> None:
    model = loaded(dressed(tube(slope=slope)), tmp_path)
    part = next(part for part in model.mesh.sections if part.name == "skirt")
    triangles = model.mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count]
    surface, place_of = hanging_surface(model.mesh, triangles, HIPS)
    rows = np.unique(triangles)
    points, places = model.mesh.positions[rows].astype(float), place_of[rows]
    if slope == 0.0:
        np.testing.assert_allclose(surface.u[places], (1.0 - points[:, 1]) / 0.6, atol=1e-4)
    radius = 0.2 + slope * (1.0 - points[:, 1])
    if slope:  # u is harmonic on a cone: the logarithm of the radius
        np.testing.assert_allclose(surface.u[places], np.log(radius / 0.2) / np.log(2.5), atol=2e-3)
    apart = surface.v[places] - np.arctan2(points[:, 0], points[:, 2]) / (2.0 * np.pi)
    np.testing.assert_allclose((apart + 0.5) % 1.0 - 0.5, 0.0, atol=1e-4)
    assert surface.is_ring
    assert not surface.is_closed


def test_joints_of_a_ring_lie_on_it_and_weights_sum_to_1(tmp_path: Path) -> None:
    model = loaded(dressed(tube()), tmp_path)
    made = generated_chains(model, "skirt", 0, ChainOptions(chains=8, joints=4))
    assert made.places.shape == (8, 5, 3)
    turns = np.arange(8)[:, None] / 8.0 * 2.0 * np.pi
    expected = np.stack(np.broadcast_arrays(
        0.2 * np.sin(turns), 1.0 - 0.6 * np.arange(5)[None] / 4.0, 0.2 * np.cos(turns)), axis=-1)  # fmt: skip
    np.testing.assert_allclose(made.places, expected, atol=1e-4)
    weights, joints = made.influences.weights, made.influences.joints
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    u = (1.0 - model.mesh.positions[made.rows, 1]) / 0.6
    assert ((weights > 1e-9).sum(axis=1)[u > 0.1] <= 4).all()
    old = np.where(joints < model.skeleton.joint_count, weights, 0.0).sum(axis=1)  # type: ignore[union-attr]
    np.testing.assert_allclose(old, np.clip(1.0 - u / 0.1, 0.0, 1.0), atol=1e-4)
    assert made.spacing == pytest.approx(2.0 * np.pi * 0.2 / 8.0, rel=0.01)


def test_sheets_and_tails_have_chains_too(tmp_path: Path) -> None:
    model = loaded(dressed(sheet()), tmp_path)
    made = generated_chains(model, "skirt", 0, ChainOptions(chains=3, joints=3))
    x, y = np.meshgrid([-0.2, 0.0, 0.2], 1.0 - 0.6 * np.arange(4) / 3.0, indexing="ij")
    found = made.places[np.argsort(made.places[:, 0, 0])]
    np.testing.assert_allclose(found[..., :2], np.stack([x, y], axis=-1), atol=1e-4)
    tail = generated_chains(loaded(dressed(tube(16, 9, tip=True)), tmp_path), "skirt", 0, ChainOptions(joints=4))
    assert tail.places.shape == (1, 5, 3)
    np.testing.assert_allclose(tail.places[0, :, [0, 2]], 0.0, atol=0.02)
    assert (np.diff(tail.places[0, :, 1]) < 0.0).all()


def test_unsuitable_sections_are_refused(tmp_path: Path) -> None:
    far = (tube(8, 3)[0] + (2.0, 0.0, 0.0), tube(8, 3)[1])
    box = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    closed = box, np.array([part for a, b, c, d in faces for part in ((a, b, c), (a, c, d))])
    for grids, reason in (((tube(8, 3), far), "2 pieces"), ((closed,), "no open edge")):
        model = loaded(dressed(*grids), tmp_path)
        with pytest.raises(WeightsError, match=reason):
            generated_chains(model, "skirt", 0, ChainOptions())
    with pytest.raises(WeightsError, match="no section 'gone'"):
        generated_chains(model, "gone", 0, ChainOptions())


def at_rest(model: CharacterModel) -> np.ndarray:
    pose = evaluate_pose(model, None, 0.0)
    return skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions


def members(data: bytes) -> dict[str, Any]:
    from sinew.sim.assets.gltf.file import split_file

    found: dict[str, Any] = json.loads(split_file(data)[0])
    return found


def test_a_vrm_gets_chains_and_keeps_everything_else(tmp_path: Path) -> None:
    model = loaded(dressed(tube(24, 9)), tmp_path)
    settings = ModelSettings(path=str(model.path))
    made = chained_model(settings, "skirt", "hips", ChainForm(chains=6, joints=3, colliders=False))
    before, after = members(model.path.read_bytes()), members(made.data)
    for name in ("materials", "textures", "images", "extensions", "asset"):
        assert after.get(name) == before.get(name), name
    assert after["meshes"][0] == before["meshes"][0]
    assert after["nodes"][1 : len(before["nodes"]) - 1] == before["nodes"][1:-1]
    assert not made.is_converted
    target = tmp_path / "new.vrm"
    target.write_bytes(made.data)
    again = load_model(target)
    assert again.skeleton is not None
    assert again.skeleton.names[-24:] == tuple(f"skirt_{c}_{j}" for c in range(1, 7) for j in range(1, 5))
    assert made.roots == tuple(f"skirt_{c}_1" for c in range(1, 7))
    assert made.ends == tuple(f"skirt_{c}_4" for c in range(1, 7))
    assert [spring.name for spring in again.rig.springs] == [spring.name for spring in model.rig.springs]
    np.testing.assert_allclose(at_rest(again), at_rest(model), atol=1e-6)


def test_a_vertex_at_a_joint_follows_it(tmp_path: Path) -> None:
    model = loaded(dressed(tube(24, 9)), tmp_path)
    made = chained_model(
        ModelSettings(path=str(model.path)), "skirt", "hips", ChainForm(chains=6, joints=4, colliders=False)
    )
    target = tmp_path / "new.vrm"
    target.write_bytes(made.data)
    again = load_model(target)
    skeleton = again.skeleton
    assert skeleton is not None
    below = skeleton.index("skirt_2_3")
    vertex = int(np.linalg.norm(again.mesh.positions - skeleton.model_from_bind[below, :3, 3], axis=1).argmin())
    turn = BonePose(bone="skirt_2_2", rotation=(0.0, 0.0, 40.0))
    pose = evaluate_pose(again, None, 0.0, offsets=[turn])
    points = skin(again.mesh, again.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
    place = pose.model_from_joint[below, :3, 3]
    assert np.linalg.norm(place - skeleton.model_from_bind[below, :3, 3]) > 0.05
    np.testing.assert_allclose(points[vertex], place, atol=2e-4)


def test_colliders_are_capsules_as_thick_as_half_the_spacing(tmp_path: Path) -> None:
    model = loaded(dressed(tube(12, 5)), tmp_path)
    for spacing, least in ((0.0, 0.15), (0.9, 0.45)):
        (hips,) = leg_colliders(model, "gone", ["hips"], 1.0, spacing)
        assert hips.settings.shape is ColliderShape.CAPSULE
        assert hips.settings.radius >= least
    assert leg_colliders(model, "skirt", ["hips"], 1.0, 0.0) == []


def test_the_new_nodes_swing_the_chains(tmp_path: Path) -> None:
    model = loaded(dressed(tube(24, 9)), tmp_path)
    made = chained_model(
        ModelSettings(path=str(model.path)), "skirt", "hips", ChainForm(chains=4, joints=2, colliders=False)
    )
    (springs,) = nodes_of(made, "m", "skirt")
    assert isinstance(springs.settings, SpringBoneSettings)
    assert springs.settings.roots == "skirt_1_1; skirt_2_1; skirt_3_1; skirt_4_1"
    assert springs.settings.end_bones == "skirt_1_3; skirt_2_3; skirt_3_3; skirt_4_3"
    with pytest.raises(ModelError, match="no bone 'gone'"):
        chained_model(ModelSettings(path=str(model.path)), "skirt", "gone", ChainForm())


def test_the_command_and_python_write_the_same_chains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = loaded(dressed(tube(24, 9)), tmp_path)
    project, target = tmp_path / "a.sinew", tmp_path / "own.vrm"
    words = [
        "chains",
        str(model.path),
        "--section",
        "skirt",
        "--chains",
        "4",
        "--joints",
        "2",
        "--output",
        str(project),
    ]
    assert main(words) == 0
    assert "a.vrm with chains for skirt" in capsys.readouterr().out
    scene = load_project(project).scene
    assert Path(scene.nodes[0].settings.path).name == "a.vrm"  # type: ignore[attr-defined]
    springs = [node.settings for node in scene.nodes if node.name == "skirt springs"]
    assert [one.roots for one in springs] == ["skirt_1_1; skirt_2_1; skirt_3_1; skirt_4_1"]
    with sinew.open(model.path) as python:
        (man, *_) = before = [*python.nodes]
        made = man.add_chains("skirt", target, chains=4, joints=2)
        assert made[0].roots == springs[0].roots
        assert Path(man.path) == target
        assert target.read_bytes() == (tmp_path / "a.vrm").read_bytes()
        python.undo()
        assert [*python.nodes] == before
        assert Path(man.path) == model.path
        target.unlink()
        for section, bone, values, reason in (
            ("gone", "", {}, "no section 'gone'"), ("skirt", "gone", {}, "no bone 'gone'"),
            ("skirt", "", {"joints": 99}, "joints"),
        ):  # fmt: skip
            with pytest.raises((ModelError, ValueError), match=reason):
                man.add_chains(section, target, bone, **values)
        with pytest.raises(CommandError, match=r"saved as NAME\.vrm"):
            man.add_chains("skirt", tmp_path / "own.glb")
        with pytest.raises(CommandError, match="choose another name"):
            man.add_chains("skirt", model.path)
    assert not target.exists()
    for extra, reason in ((["--node", "Bob"], "no character 'Bob'"), (["--bone", "gone"], "no bone 'gone'")):
        assert main([*words, *extra]) == 1
        error = capsys.readouterr().err
        assert reason in error
        assert error.count("\n") == 1
