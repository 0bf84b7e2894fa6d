"""`sinew export`: what other programs read out of the files, against the steps and the reference skinning."""

import itertools
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.files.project_file import save_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.export.formats import SCENE_FORMATS
from sinew.sim.export.scene import points_file, writing
from sinew.sim.export.scene.glb import GlbFrames
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.maths.srgb import light_of
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gltf_rules import Checked

TINY = resources.path("models") / "tiny" / "tiny.ezm"
FRAMES = 24
PLACE = (0.5, 0.0, -0.25)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet, particles and a character by dual quaternions."""
    sheet = ClothSettings(columns=8, rows=6, substeps=8)
    sparks = EmitterSettings(capacity=40, rate=90.0, lifetime=0.3, lifetime_variance=0.2, size=0.02)
    tiny = ModelSettings(path=str(TINY), skinning=SkinningMethod.DQS)
    nodes = (
        Node(id="s", name="Sheet", transform=Transform(position=(0.0, 2.0, 0.0)), settings=sheet),
        Node(id="e", name="Sparks / hot", settings=sparks),
        Node(id="t", name="Tiny", transform=Transform(position=PLACE), settings=tiny),
    )
    path = tmp_path_factory.mktemp("export") / "scene.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    return path


@pytest.fixture(scope="module")
def steps(project: Path) -> dict[str, np.ndarray]:
    """The arrays of the same steps, by the command that writes those."""
    output = project.with_suffix(".npz")
    command = ["simulate", str(project), "--allow-outside", "--steps", str(FRAMES), "--output", str(output)]
    assert main(command) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def exported(project: Path, path: Path, *options: str) -> Path:
    frames = [] if "--frames" in options else ["--frames", f"0:{FRAMES}"]
    assert main(["export", str(project), "--allow-outside", "--output", str(path), *frames, *options]) == 0
    return path


def character(frame: int, rate: float = 60.0) -> np.ndarray:
    """The character in the world by the double-precision reference."""
    model = load_model(TINY)
    clip = model.clips[0]
    pose = evaluate_pose(model, clip, frame / rate % clip.duration, interpolation=Interpolation.LINEAR)
    assert model.skin is not None
    positions = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS, pose.centres).positions
    return positions + PLACE


# --- formats ------------------------------------------------------------------------------------------


def test_point_caches_hold_the_steps(project: Path, steps: dict[str, np.ndarray], tmp_path: Path) -> None:
    wanted = steps["Sheet.positions"]
    data = exported(project, tmp_path / "a.pc2", "--node", "Sheet").read_bytes()
    mark, version, points, start, step, frames = struct.unpack_from("<12siiffi", data)
    assert (mark, version, points, start, step, frames) == (b"POINTCACHE2\0", 1, 48, 0.0, 1.0, FRAMES + 1)
    assert len(data) == 32 + frames * points * 12
    np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32).reshape(frames, points, 3), wanted)
    data = exported(project, tmp_path / "b.mdd", "--node", "Sheet", "--rate", "30", "--frames", "2:6").read_bytes()
    frames, points = struct.unpack_from(">ii", data)
    assert len(data) == 8 + 4 * frames + 12 * frames * points
    np.testing.assert_allclose(np.frombuffer(data, ">f4", frames, 8), np.arange(2, 7) / 30.0)
    found = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3)
    np.testing.assert_array_equal(found, wanted[4:13:2])
    obj = [line.split() for line in (tmp_path / "a.obj").read_text().splitlines()]
    np.testing.assert_array_equal(np.array([line[1:] for line in obj if line[0] == "v"], np.float32), wanted[0])
    faces = [[int(corner.split("/")[0]) - 1 for corner in line[1:]] for line in obj if line[0] == "f"]
    np.testing.assert_array_equal(faces, steps["Sheet.triangles"])


def test_a_format_of_one_object_takes_a_file_for_each_and_tells_what_it_leaves_out(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(project, tmp_path / "all.mdd", "--frames", "0:1")
    names = ["all-Sheet.mdd", "all-Sheet.obj", "all-Tiny.mdd", "all-Tiny.obj"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    out = capsys.readouterr()
    assert out.out.count("2 frames") == 2
    assert "left out: Sparks / hot" in out.err


def test_gltf_holds_a_target_for_every_frame_and_skins(
    project: Path, steps: dict[str, np.ndarray], tmp_path: Path
) -> None:
    data = exported(project, tmp_path / "a.glb").read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document, start = json.loads(data[20 : 20 + length]), 28 + length

    def rows(number: int) -> np.ndarray:
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        kinds = {5126: "<f4", 5125: "<u4", 5123: "<u2"}
        found = np.frombuffer(data, np.uint8, view["byteLength"], start + view["byteOffset"])
        return found.view(kinds[accessor["componentType"]]).reshape(accessor["count"], -1)

    nodes = {node["name"]: node for node in document["nodes"]}
    (sheet,) = document["meshes"][nodes["Sheet"]["mesh"]]["primitives"]
    base = rows(sheet["attributes"]["POSITION"])
    frames = [base, *(base + rows(target["POSITION"]) for target in sheet["targets"])]
    np.testing.assert_allclose(frames, steps["Sheet.positions"], atol=1e-6)
    np.testing.assert_array_equal(rows(sheet["indices"]).reshape(-1, 3), steps["Sheet.triangles"])
    (animation,) = document["animations"]
    number = document["nodes"].index(nodes["Sheet"])
    (channel,) = (one for one in animation["channels"] if one["target"] == {"node": number, "path": "weights"})
    sampler = animation["samplers"][channel["sampler"]]
    assert sampler["interpolation"] == "LINEAR"
    np.testing.assert_allclose(rows(sampler["input"])[:, 0], np.arange(FRAMES + 1) / 60.0, rtol=1e-6)
    keys = rows(sampler["output"]).reshape(FRAMES + 1, FRAMES)
    np.testing.assert_array_equal(keys, np.eye(FRAMES + 1)[:, 1:])
    # By dual quaternions no skin gives what is drawn; blended linearly one does.
    assert "skins" not in document
    blended = tmp_path / "b.glb"
    assert main(["export", str(TINY), "--output", str(blended), "--frames", "0:4"]) == 0
    assert "skins" in Checked(blended.read_bytes()).document
    Checked(data)


def test_dual_quaternions_become_points_or_a_skin_that_tells_how_far_it_is(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load_model(TINY)
    assert model.skin is not None
    apart, frames = 0.0, []
    for frame in range(FRAMES + 1):
        pose = evaluate_pose(model, model.clips[0], frame / 60.0 % model.clips[0].duration)
        frames.append(skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions + PLACE)
        apart = max(apart, float(np.linalg.norm(frames[-1] - character(frame), axis=1).max()))
    assert apart > 0.01
    exported(project, tmp_path / "points.glb", "--node", "Tiny")
    reported = capsys.readouterr().err
    assert "Tiny: written as points for every frame: dual quaternions; as a skin (characters=skin)" in reported
    assert f"up to {apart:.2g} m away" in reported
    skinned = exported(project, tmp_path / "skin.glb", "--node", "Tiny", "--characters", "skin")
    reported = capsys.readouterr().err
    assert f"written as a skin, a linear approximation of dual quaternions, up to {apart:.2g} m away" in reported
    assert "skins" in Checked(skinned.read_bytes()).document
    shown = GlbFrames(skinned)
    np.testing.assert_allclose(shown.frames_of(shown.shown[0]), frames, atol=2e-6)
    exported(project, tmp_path / "plain.glb", "--node", "Tiny", "--characters", "points")
    assert not capsys.readouterr().err
    assert main(["export", str(project), "--output", str(tmp_path / "a.pc2"), "--characters", "skin"]) == 1


def test_points_of_a_character_keep_its_normals(project: Path, tmp_path: Path) -> None:
    checked = Checked(exported(project, tmp_path / "a.glb", "--node", "Tiny").read_bytes())
    (part,) = checked.document["meshes"][0]["primitives"]
    model = load_model(TINY)
    assert model.skin is not None
    for frame in (1, 7, FRAMES):
        pose = evaluate_pose(model, model.clips[0], frame / 60.0 % model.clips[0].duration)
        wanted = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS, pose.centres).normals
        differences = checked.values(part["targets"][frame - 1]["NORMAL"])
        np.testing.assert_allclose(checked.values(part["attributes"]["NORMAL"]) + differences, wanted, atol=2e-6)


def test_deformers_are_told_as_what_no_skin_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pulse = resources.path("projects") / "pulse.sinew"
    exported(pulse, tmp_path / "a.glb", "--frames", "0:1", "--characters", "skin")
    assert "written as points for every frame: deformers are no part of a skin" in capsys.readouterr().err


def test_usd_holds_meshes_particles_and_characters(
    project: Path, steps: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    skel = pytest.importorskip("pxr.UsdSkel")
    stage = usd.Stage.Open(str(exported(project, tmp_path / "a.usda")))
    assert "25 frames" in capsys.readouterr().out
    assert (geom.GetStageUpAxis(stage), geom.GetStageMetersPerUnit(stage)) == ("Y", 1.0)
    assert (stage.GetTimeCodesPerSecond(), stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (60.0, 0.0, FRAMES)
    prims = {prim.GetDisplayName(): prim for prim in stage.GetDefaultPrim().GetChildren()}
    assert list(prims) == ["Sheet", "Sparks / hot", "Tiny"]
    sheet, sparks = geom.Mesh(prims["Sheet"]), geom.Points(prims["Sparks / hot"])
    assert sheet.GetSubdivisionSchemeAttr().Get() == "none"
    np.testing.assert_array_equal(
        np.array(sheet.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), steps["Sheet.triangles"]
    )
    for frame in range(FRAMES + 1):
        positions = np.array(sheet.GetPointsAttr().Get(frame))
        np.testing.assert_array_equal(positions, steps["Sheet.positions"][frame])
        np.testing.assert_array_equal(sheet.GetExtentAttr().Get(frame)[0], positions.min(axis=0))
        alive = np.isfinite(steps["Sparks / hot.positions"][frame, :, 0])
        for values, name in ((sparks.GetPointsAttr(), "positions"), (sparks.GetVelocitiesAttr(), "velocities"),
                             (sparks.GetIdsAttr(), "ids"), (sparks.GetWidthsAttr(), "widths")):  # fmt: skip
            wanted = steps[f"Sparks / hot.{name}"][frame][alive]
            np.testing.assert_array_equal(np.array(values.Get(frame)).reshape(wanted.shape), wanted)
        # From birth to death along the gradient, and as opaque as the curve says.
        colours = np.array(sparks.GetDisplayColorAttr().Get(frame)).reshape(-1, 3).astype(float)
        share = (0.9 - colours[:, 1]) / 0.65
        np.testing.assert_allclose(colours, np.array([1.0, 0.9, 0.6]) - share[:, None] * [0.0, 0.65, 0.55], atol=1e-6)
        opacity = np.interp(share, [0.0, 0.7, 1.0], [1.0, 0.8, 0.0])
        np.testing.assert_allclose(sparks.GetDisplayOpacityAttr().Get(frame), opacity, atol=2e-6)
        assert ((share > -1e-6) & (share <= 1.0 + 1e-6)).all()
    np.testing.assert_allclose(sheet.GetDisplayColorAttr().Get(), [light_of(ClothSettings().colour)], atol=1e-6)
    ids = np.concatenate([np.array(sparks.GetIdsAttr().Get(frame)) for frame in range(FRAMES + 1)])
    assert set(ids.tolist()) == set(range(36)), "90 a second are born, and none twice"
    root = skel.Root(prims["Tiny"])
    assert skel.BakeSkinning(root, usd.TimeCode(0) and __import__("pxr.Gf").Gf.Interval(0, FRAMES))
    baked = geom.Mesh(stage.GetPrimAtPath(prims["Tiny"].GetPath().AppendChild("Mesh")))
    for frame in (0, 7, FRAMES):
        world = np.array(geom.Xformable(baked).ComputeLocalToWorldTransform(frame))
        points = np.array(baked.GetPointsAttr().Get(frame)) @ world[:3, :3] + world[3, :3]
        np.testing.assert_allclose(points, character(frame), atol=2e-6)


def test_strands_have_their_colours_and_widths(tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    hair = HairSettings(source=HairSource.ELLIPSOID, guides=12, children=40, knots=6)
    project = tmp_path / "hair.sinew"
    save_project(project, Scene(nodes=(Node(id="h", name="Hair", settings=hair),)), ViewState())
    stage = usd.Stage.Open(str(exported(project, tmp_path / "a.usda", "--frames", "0:2")))
    curves = geom.BasisCurves(stage.GetPrimAtPath("/World/Hair"))
    assert list(curves.GetCurveVertexCountsAttr().Get()) == [6] * 12
    colours, widths = (np.array(one.Get()).reshape(12, 6, -1) for one in (
        curves.GetDisplayColorAttr(), curves.GetWidthsAttr()))  # fmt: skip
    ends = [light_of(hair.root_colour), light_of(hair.tip_colour)]
    np.testing.assert_allclose(colours[:, [0, -1]], np.tile(ends, (12, 1, 1)), atol=1e-6)
    np.testing.assert_allclose(widths[0, [0, -1], 0], [2.0 * hair.root_radius, 2.0 * hair.tip_radius], atol=1e-9)


@pytest.fixture(scope="module")
def furry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hair on a figure, more of which is drawn than simulated."""
    look = {
        "root_radius": 1e-3,
        "tip_radius": 5e-4,
        "colour_spread": 0.25,
        "noise": 0.0,
        "clump": 0.0,
        "curl_radius": 0.0,
    }
    hair = HairSettings(source=HairSource.FACES, guides=12, children=40, knots=6, length=0.1, **look)
    body = ModelSettings(path=str(resources.path("models") / "humanoid" / "humanoid.ezm"))
    nodes = (
        Node(id="b", name="Body", settings=body),
        Node(id="h", name="Hair", attachment=Attachment(node="b"), settings=hair),
    )
    path = tmp_path_factory.mktemp("furry") / "furry.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    return path


def test_the_strands_that_are_left_out_are_told(
    furry: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(furry, tmp_path / "a.glb", "--frames", "0:1", "--node", "Hair")
    line = "Hair: writes 12 guides; --children writes the 40 drawn strands"
    assert line in capsys.readouterr().err
    exported(furry, tmp_path / "a.glb", "--frames", "0:1", "--node", "Hair", "--children")
    assert "guides" not in capsys.readouterr().err


def test_drawn_strands_are_the_same_in_every_format(furry: Path, tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    shade = pytest.importorskip("pxr.UsdShade")
    abc, abc_geom = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    options = ("--frames", "0:2", "--node", "Hair", "--children")
    checked = Checked(exported(furry, tmp_path / "a.glb", *options).read_bytes())
    stage = usd.Stage.Open(str(exported(furry, tmp_path / "a.usda", *options)))
    archive = abc.IArchive(str(exported(furry, tmp_path / "a.abc", *options)))
    (part,) = checked.document["meshes"][0]["primitives"]
    curves = geom.BasisCurves(stage.GetPrimAtPath("/World/Hair"))
    schema = abc_geom.ICurves(archive.getTop(), "Hair").getSchema()
    sample = schema.getValue(abc.ISampleSelector(2 / 60.0, abc.ISampleSelector.TimeIndexType.kNearIndex))
    assert list(curves.GetCurveVertexCountsAttr().Get()) == list(sample.getCurvesNumVertices()) == [6] * 40
    assert (curves.GetTypeAttr().Get(), sample.getType()) == ("linear", abc_geom.CurveType.kLinear)
    points = np.array(curves.GetPointsAttr().Get(2))
    np.testing.assert_array_equal(np.array(memoryview(sample.getPositions())), points)
    base = checked.values(part["attributes"]["POSITION"])
    np.testing.assert_allclose(base + checked.values(part["targets"][1]["POSITION"]), points, atol=1e-6)
    lengths = np.linalg.norm(np.diff(points.reshape(40, 6, 3), axis=1), axis=2).sum(axis=1)
    assert ((lengths > 0.03) & (lengths < 0.13)).all()
    assert len(np.unique(points.reshape(40, 6, 3)[:, 0], axis=0)) == 40, "forty roots"
    widths = np.linspace(2e-3, 1e-3, 6)
    np.testing.assert_allclose(
        np.array(curves.GetWidthsAttr().Get()).reshape(40, 6), np.tile(widths, (40, 1)), rtol=1e-6
    )
    np.testing.assert_allclose(list(schema.getWidthsParam().getExpandedValue().getVals())[:6], widths, rtol=1e-6)
    colours = np.array(curves.GetDisplayColorAttr().Get()).reshape(40, 6, 3)
    ratio = colours[:, 0] / np.array(light_of(HairSettings().root_colour))
    np.testing.assert_allclose(ratio, np.repeat(ratio[:, :1], 3, axis=1), rtol=1e-4)
    assert 0.75 < ratio.min() < 0.85
    assert 1.15 < ratio.max() < 1.25
    np.testing.assert_allclose(checked.values(part["attributes"]["COLOR_0"])[:, :3], colours.reshape(-1, 3), atol=1e-6)
    # Where a root is on the skin of the first frame, its texture coordinates are those of the skin.
    st = np.array(geom.PrimvarsAPI(curves).GetPrimvar("st").Get())
    assert geom.PrimvarsAPI(curves).GetPrimvar("st").GetInterpolation() == "uniform"
    of_abc = [list(one) for one in schema.getUVsParam().getExpandedValue().getVals()]
    np.testing.assert_array_equal(of_abc, st)
    texcoords = checked.values(part["attributes"]["TEXCOORD_0"]).reshape(40, 6, 2)
    np.testing.assert_allclose(
        texcoords, np.repeat(np.column_stack((st[:, 0], 1.0 - st[:, 1]))[:, None], 6, 1), atol=1e-6
    )
    body = usd.Stage.Open(str(exported(furry, tmp_path / "b.usda", "--frames", "0:0", "--node", "Body",
                                       "--characters", "points")))  # fmt: skip
    mesh = geom.Mesh(body.GetPrimAtPath("/World/Body"))
    skin_points, skin_st = (
        np.array(mesh.GetPointsAttr().Get(0)),
        np.array(geom.PrimvarsAPI(mesh).GetPrimvar("st").Get()),
    )
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    roots = np.array(curves.GetPointsAttr().Get(0)).reshape(40, 6, 3)[:, 0]
    for root, found in zip(roots, st, strict=True):
        near = corners[np.argsort(np.linalg.norm(skin_points[corners].mean(axis=1) - root, axis=1))[:40]]
        shares = np.stack([shares_in(root, *skin_points[triangle]) for triangle in near])
        off = np.linalg.norm((shares[..., None] * skin_points[near]).sum(axis=1) - root, axis=1)
        best = int(np.argmin(off + 10.0 * np.maximum(-shares, 0.0).sum(axis=1)))
        np.testing.assert_allclose(shares[best] @ skin_st[near[best]], found, atol=2e-3)
    material, _ = shade.MaterialBindingAPI(curves.GetPrim()).ComputeBoundMaterial()
    assert material.ComputeSurfaceSource()[0].GetIdAttr().Get() == "UsdPreviewSurface"
    assert checked.document["materials"][part["material"]]["name"] == "Hair"


def shares_in(point: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Of the corners of a triangle, of the place in its plane that is nearest to a point."""
    edges = np.stack((b - a, c - a), axis=1).astype(float)
    second, third = np.linalg.lstsq(edges, point - a, rcond=None)[0]
    return np.array([1.0 - second - third, second, third])


def test_drawn_strands_have_their_curls(furry: Path, tmp_path: Path) -> None:
    """A helix around the straight strand: as far from it as the radius says, once it is full."""
    curled = tmp_path / "curled.sinew"
    text = json.loads(furry.read_text())
    for node in text["nodes"]:
        if node["id"] == "h":
            node["hair"] |= {"curl_radius": 0.004, "curl_turns": 30.0}
    curled.write_text(json.dumps(text))
    found = []
    for name, project in (("a", furry), ("b", curled)):
        shown = GlbFrames(
            exported(project, tmp_path / f"{name}.glb", "--frames", "0:0", "--node", "Hair", "--children")
        )
        found.append(shown.frames_of(shown.shown[0])[0].reshape(40, -1, 3).astype(float))
    plain, curls = found
    assert plain.shape[1] == 6
    assert curls.shape[1] > 20
    for straight, curl in zip(plain, curls, strict=True):
        fine = np.concatenate([np.linspace(a, b, 200) for a, b in itertools.pairwise(straight)])
        away = np.linalg.norm(curl[:, None] - fine, axis=2).min(axis=1)
        assert away[0] < 1e-6
        inner = away[len(away) // 3 : -len(away) // 6]
        np.testing.assert_allclose(inner, 0.004, rtol=0.15)


def test_alembic_holds_meshes_and_particles(project: Path, steps: dict[str, np.ndarray], tmp_path: Path) -> None:
    abc, geom = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    archive = abc.IArchive(str(exported(project, tmp_path / "a.abc")))
    top = archive.getTop()
    sheet, sparks = geom.IPolyMesh(top, "Sheet").getSchema(), geom.IPoints(top, "Sparks _ hot").getSchema()
    tiny = geom.IPolyMesh(top, "Tiny").getSchema()
    assert sheet.getNumSamples() == sparks.getNumSamples() == tiny.getNumSamples() == FRAMES + 1

    def sample(schema: Any, frame: int) -> Any:
        near = abc.ISampleSelector.TimeIndexType.kNearIndex
        return schema.getValue(abc.ISampleSelector(frame / 60.0, near))

    for frame in range(FRAMES + 1):
        one, many = sample(sheet, frame), sample(sparks, frame)
        np.testing.assert_array_equal(np.array(memoryview(one.getPositions())), steps["Sheet.positions"][frame])
        alive = np.isfinite(steps["Sparks / hot.positions"][frame, :, 0])
        if alive.any():
            found = np.array(memoryview(many.getPositions()))
            np.testing.assert_array_equal(found, steps["Sparks / hot.positions"][frame][alive])
        assert list(many.getIds()) == steps["Sparks / hot.ids"][frame][alive].tolist()
    corners = np.array(memoryview(sample(sheet, 0).getFaceIndices())).reshape(-1, 3)
    np.testing.assert_array_equal(corners[:, ::-1], steps["Sheet.triangles"])
    one = sample(tiny, 7)
    np.testing.assert_allclose(np.array(memoryview(one.getPositions())), character(7), atol=2e-6)


def test_a_vertex_texture_gives_every_vertex_in_every_frame(
    project: Path, steps: dict[str, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exr = pytest.importorskip("OpenEXR")
    vertex_texture = pytest.importorskip("sinew.sim.export.exr")
    monkeypatch.setattr(vertex_texture, "WIDTH_MAX", 20)
    path = exported(project, tmp_path / "a.exr", "--node", "Sheet")
    about = json.loads(path.with_suffix(".json").read_text())
    assert (about["width"], about["rows_per_frame"], about["height"]) == (20, 3, 75)
    pixels = exr.File(str(path)).channels()["RGB"].pixels
    wanted = steps["Sheet.positions"]
    lines = [line.split() for line in path.with_suffix(".obj").read_text().splitlines()]
    places = np.array([line[1:] for line in lines if line[0] == "vt"], float)
    for frame in (0, 11, FRAMES):
        # What a shader does: the vertex's own texture coordinate, so many rows further down.
        u, v = places[:, 0] * about["width"], (1.0 - places[:, 1]) * about["height"] + 3 * frame
        np.testing.assert_allclose(u % 1.0, 0.5, atol=1e-5)
        found = wanted[0] + pixels[v.astype(int), u.astype(int)]
        np.testing.assert_allclose(found, wanted[frame], atol=1e-7)
    np.testing.assert_allclose(about["box_min"], wanted.min(axis=(0, 1)), atol=1e-7)


def test_usd_skins_a_model_with_morphs_and_matrices_as_we_do(assets: Path, tmp_path: Path) -> None:
    """The command compares what USD's own skinning gives with what is drawn."""
    pytest.importorskip("pxr")
    for model in ("CesiumMan/glTF-Binary/CesiumMan.glb", "AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb"):
        path = exported(assets / "gltf" / model, tmp_path / "m.usda", "--rate", "24", "--frames", "0:12")
        assert "SkelAnimation" in path.read_text()


# --- failures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--node", "Nobody"], "there is no node 'Nobody'; there are: Sheet, Sparks / hot, Tiny"),
        (["--rate", "24"], "--rate 24: the simulation has 60 steps a second"),
        (["--rate", "0"], "--rate 0: is not between"),
        (["--clip", "fly"], "clip 'fly': no such clip; there are: "),
        (["--option", "colour=red"], "PC2 point cache has no option 'colour'; there are: none"),
        (["--node", "Sparks / hot"], "holds surface, of which there is none"),
    ],
)
def test_what_cannot_be_is_one_line(
    options: list[str], expected: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", str(project), "--allow-outside", "--frames", "0:1", "--output", str(tmp_path / "a.pc2")]
    assert main([*command, *options]) == 1
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_with_what_installs_it(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for format in SCENE_FORMATS:
        if format.module:
            monkeypatch.setitem(sys.modules, format.module, None)
            path = tmp_path / f"a{format.suffixes[0]}"
            assert main(["export", str(project), "--allow-outside", "--output", str(path)]) == 1
            expected = f"sinew: {path}: needs the package {format.package}: pip install sinew[{format.extra}]\n"
            assert capsys.readouterr().err == expected
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_back_otherwise_is_not_kept(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(files: tuple[Path, ...]) -> list[np.ndarray]:
        return [points_file.read_pc2(files)[0] + np.float32(0.01)]

    monkeypatch.setattr(writing, "resolved", lambda name: moved if "read" in name else points_file.write_pc2)
    output = tmp_path / "a.pc2"
    output.write_bytes(b"older")
    command = ["export", str(project), "--allow-outside", "--node", "Sheet", "--frames", "0:2", "--output", str(output)]
    assert main(command) == 1
    assert "the read-back differs by 0.01 m; no file was written" in capsys.readouterr().err
    assert output.read_bytes() == b"older"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pc2"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 200 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_the_project_with_morph_targets_is_exported_and_read_back(tmp_path: Path) -> None:
    path = exported(resources.path("projects") / "faces.sinew", tmp_path / "faces.glb", "--frames", "0:10")
    Checked(path.read_bytes())
    assert load_model(path).mesh.targets is not None


@pytest.mark.parametrize("suffix", SCENE_FORMATS.suffixes())
def test_a_full_disk_leaves_nothing(
    suffix: str, project: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if module := SCENE_FORMATS.of(Path(f"a{suffix}")).module:
        pytest.importorskip(module)
    output = small_disk / f"a{suffix}"
    (small_disk / "taken").write_bytes(bytes(190 * 1024))
    command = ["export", str(project), "--allow-outside", "--node", "Sheet", "--frames", "0:24", "--output"]
    assert main([*command, str(output)]) == 1
    err = capsys.readouterr().err.splitlines()[-1]
    assert str(small_disk) in err
    assert os.listdir(small_disk) == ["taken"]
