import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.formats import resolved
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Material
from sinew.sim.assets.obj_reader import PC2_HEADER
from sinew.sim.export.formats import SCENE_FORMATS, Characters, ExportError, SceneFormat, UsdOptions
from sinew.sim.export.gltf import write_glb
from sinew.sim.export.scene import writing
from sinew.sim.export.scene.glb import GlbFrames
from sinew.sim.export.scene.recording import (
    PLAIN,
    CameraTrack,
    FoundNode,
    JointMotion,
    SceneRecording,
    Track,
    linear_positions,
)
from sinew.sim.export.scene.writing import write_scene
from sinew.sim.export.video_file import GifVideo
from sinew.sim.scene.transform import Transform, node_matrix
from tests.conftest import slow
from tests.gltf_rules import Checked
from tests.gltf_samples import png_bytes

usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
RANDOM = np.random.default_rng(7)


def strands() -> Track:
    positions = RANDOM.normal(size=(4, 9, 3)).astype(np.float32)
    return Track(name="Hair", positions=positions, counts=np.array([4, 2, 3], np.int32))


def particles() -> Track:
    positions = RANDOM.normal(size=(4, 5, 3)).astype(np.float32)
    positions[0] = positions[1, 2] = positions[3, :4] = np.nan
    return Track(name="Hair", positions=positions)


def surface(name: str = "Sheet / left") -> Track:
    positions = RANDOM.normal(size=(4, 4, 3)).astype(np.float32)
    return Track(name=name, positions=positions, triangles=np.array([[0, 1, 2]], np.uint32))


def written(path: Path, *tracks: Track, options: msgspec.Struct | None = None) -> tuple[list[str], list[str]]:
    reported: list[str] = []
    warned: list[str] = []
    format: SceneFormat = SCENE_FORMATS.of(path)
    if format.module:
        pytest.importorskip(format.module)
    write_scene(SceneRecording(tracks, 30.0, 10), path, format, options, reported.append, warned.append)
    return reported, warned


@pytest.mark.parametrize("suffix", SCENE_FORMATS.suffixes())
def test_everything_that_a_format_holds_comes_back(suffix: str, tmp_path: Path) -> None:
    reported, warned = written(tmp_path / f"a{suffix}", strands(), particles(), surface(), surface("Sheet : left"))
    holds_all = len(SCENE_FORMATS.of(Path(f"a{suffix}")).holds) == 3
    assert bool(warned) is not holds_all
    assert all("4 frames" in line and "read-back error" in line for line in reported)


def character(scale: float, **more: Any) -> Track:
    """The smallest character, one of whose joints is scaled, blended linearly over two frames."""
    model = load_model(resources.path("models") / "tiny" / "tiny.ezm")
    bones = model.skeleton
    arrays = (np.stack([one] * 2) for one in (bones.bind_positions, bones.bind_orientations, bones.bind_scales))
    positions, orientations, scales = arrays
    scales[1, 1] *= scale
    rig = JointMotion(
        model, positions, orientations, scales, np.zeros((2, 0)), np.stack([np.eye(4)] * 2), is_dual=False
    )
    places = np.stack(list(linear_positions(rig)))
    return Track(name="Tiny", positions=places, triangles=model.mesh.triangles, rig=rig, **more)


def test_a_character_of_usd_that_becomes_points_says_why(tmp_path: Path) -> None:
    usd, skel = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdSkel")
    _, warned = written(tmp_path / "a.usda", character(0.5))
    assert not warned, "a half is the same in half precision"
    _, (line,) = written(tmp_path / "b.usda", character(1.0004))
    assert "Tiny: written as points for every frame: scales of joints, which USD rounds to half precision" in line
    _, (line,) = written(tmp_path / "c.usda", character(1.0004), options=UsdOptions(characters=Characters.SKIN))
    assert "Tiny: written as a skin, a linear approximation of scales of joints" in line
    kinds = {}
    for name in "abc":
        stage = usd.Stage.Open(str(tmp_path / f"{name}.usda"))
        (prim,) = stage.GetDefaultPrim().GetChildren()
        kinds[name] = prim.IsA(skel.Root)
    assert kinds == {"a": True, "b": False, "c": True}


def test_normal_maps_have_tangents_that_move(tmp_path: Path) -> None:
    bumpy = Material("bumpy", None, None, normal_image=tmp_path / "bumps.png")
    Image.new("RGB", (2, 2), (128, 128, 255)).save(tmp_path / "bumps.png")
    plain = Material("plain", None, None)
    sheet = replace(
        surface("Sheet"), triangles=np.array([[0, 1, 2], [1, 2, 3]], np.uint32), materials=(bumpy, plain),
        ranges=(("bumpy", 0, 1), ("plain", 1, 1)),
    )  # fmt: skip
    axes = RANDOM.normal(size=(4, 4, 2, 3))
    axes[:, :, 1] -= (
        (axes[:, :, 0] * axes[:, :, 1]).sum(-1, keepdims=True)
        / (axes[:, :, 0] ** 2).sum(-1, keepdims=True)
        * axes[:, :, 0]
    )
    axes = (axes / np.linalg.norm(axes, axis=-1, keepdims=True)).astype(np.float32)
    tangents = np.concatenate((axes[:, :, 1], np.ones((4, 4, 1), np.float32)), axis=2)
    written(tmp_path / "a.glb", replace(sheet, normals=axes[:, :, 0], tangents=tangents))
    checked = Checked((tmp_path / "a.glb").read_bytes())
    bumped, smooth = checked.document["meshes"][0]["primitives"]
    assert "TANGENT" not in smooth["attributes"]
    assert "TANGENT" not in smooth["targets"][0]
    base = checked.values(bumped["attributes"]["TANGENT"])
    for frame in (1, 2, 3):
        found = base[:, :3] + checked.values(bumped["targets"][frame - 1]["TANGENT"])
        np.testing.assert_allclose(found, tangents[frame, :, :3], atol=1e-6)


@pytest.mark.parametrize("height", [0.0, 2.5])
def test_a_moving_camera_of_gltf_comes_back(height: float, tmp_path: Path) -> None:
    places = (Transform(position=(f, 1.0, 3.0), rotation=(0.0, 60.0 * f, 10.0)) for f in range(4))
    frames = np.stack([node_matrix(place) for place in places])
    camera = CameraTrack("Front", frames, 55.0, height, 0.1, 90.0)
    path, recording = tmp_path / "a.glb", SceneRecording((surface(),), 30.0, 0, (camera,))
    warned: list[str] = []
    write_scene(recording, path, SCENE_FORMATS.of(path), None, warned.append, warned.append)
    assert len(warned) == 1, "the report"
    Checked(path.read_bytes())
    model = load_model(path)
    (found,) = model.cameras
    assert model.skeleton.names[found.joint] == "Front"
    assert (found.height, found.near, found.far) == (height, 0.1, 90.0)
    assert found.field_of_view == pytest.approx(0.0 if height else 55.0)
    for frame in range(4):
        pose = evaluate_pose(model, model.clips[0], frame / 30.0)
        assert np.abs(pose.model_from_joint[found.joint] - frames[frame]).max() < 1e-6
    converted = tmp_path / "b.glb"
    raw = read_raw(path)
    with converted.open("wb") as file:
        write_glb(raw, file)
    assert load_model(converted).cameras == (found,)
    write_scene(recording, tmp_path / "a.pc2", SCENE_FORMATS.of(Path("a.pc2")), None, print, warned.append)
    assert "cannot store cameras; skipped for Front" in warned[-1]


def test_strands_and_particles_of_gltf_are_lines_and_points_that_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    hair, dust, sheet = strands(), particles(), surface()
    reported, warned = written(path, hair, dust, sheet)
    assert not warned
    assert "read-back error" in reported[0]
    data = path.read_bytes()
    file, loose = Checked(data).document, GlbFrames(path)
    lines, pages = file["meshes"][0]["primitives"][0], [n for n in file["nodes"] if n["name"].startswith("Hair ")]
    assert (lines["mode"], len(lines["targets"])) == (1, 3)
    pairs = Checked(data).values(lines["indices"]).reshape(-1, 2)
    np.testing.assert_array_equal(pairs, [[0, 1], [1, 2], [2, 3], [4, 5], [6, 7], [7, 8]])
    assert [page["scale"] for page in pages] == [[0.0] * 3] * 3
    assert len(loose.shown) == 3
    for frame, (knots, points) in enumerate(zip(*(loose.frames_of(node) for node in loose.shown[:2]), strict=True)):
        np.testing.assert_allclose(knots, hair.positions[frame], atol=1e-6)
        np.testing.assert_array_equal(points, dust.living(dust.positions, frame))
    assert load_model(path).mesh.triangle_count == 1


def coloured() -> tuple[Track, Track]:
    dust, hair = particles(), strands()
    changing = RANDOM.uniform(0.0, 1.0, (4, 5, 4)).astype(np.float32)
    still = RANDOM.uniform(0.0, 1.0, (1, 9, 4)).astype(np.float32)
    widths = np.linspace(0.01, 0.02, 9, dtype=np.float32)[None]
    return replace(dust, name="Dust", colours=changing), replace(hair, colours=still, widths=widths)


def test_usd_has_the_colours_and_widths_of_points_and_strands(tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    dust, hair = coloured()
    _, warned = written(tmp_path / "a.usdc", dust, hair)
    assert not warned
    stage = usd.Stage.Open(str(tmp_path / "a.usdc"))
    assert stage.GetStartTimeCode() == 10
    points, curves = stage.GetDefaultPrim().GetChildren()
    for frame in range(4):
        shown, opacity = (
            np.array(read().Get(10 + frame))
            for read in (geom.Points(points).GetDisplayColorAttr, geom.Points(points).GetDisplayOpacityAttr)
        )
        wanted = dust.colours[frame][dust.alive(frame)]
        np.testing.assert_array_equal(shown.reshape(-1, 3), wanted[:, :3])
        np.testing.assert_array_equal(opacity, wanted[:, 3])
    curves = geom.BasisCurves(curves)
    assert list(curves.GetCurveVertexCountsAttr().Get()) == [4, 2, 3]
    assert curves.GetTypeAttr().Get() == "linear"
    np.testing.assert_array_equal(np.array(curves.GetPointsAttr().Get(12)), hair.positions[2])
    assert curves.GetDisplayColorAttr().GetNumTimeSamples() == 0
    np.testing.assert_array_equal(curves.GetDisplayColorAttr().Get(11), hair.colours[0, :, :3])
    np.testing.assert_array_equal(curves.GetWidthsAttr().Get(11), hair.widths[0])
    assert curves.GetWidthsInterpolation() == curves.GetDisplayColorPrimvar().GetInterpolation() == "vertex"


def test_alembic_has_colours_widths_and_the_names_of_sections(tmp_path: Path) -> None:
    abc, geom = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    dust, hair = coloured()
    faces = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 0]], np.uint32)
    body = replace(
        surface("Body"), triangles=faces, ranges=(("Skin", 0, 1), ("Gold", 1, 1), ("Skin", 2, 1)),
        materials=(Material("Skin", None, None), Material("Gold", None, None)),
    )  # fmt: skip
    _, warned = written(tmp_path / "a.abc", dust, hair, body)
    assert warned == [f"{tmp_path / 'a.abc'}: Alembic cannot store materials; skipped for Body"]
    archive = abc.IArchive(str(tmp_path / "a.abc"))
    top = archive.getTop()
    points, curves = geom.IPoints(top, "Dust").getSchema(), geom.ICurves(top, "Hair").getSchema()
    near = abc.ISampleSelector.TimeIndexType.kNearIndex
    sample = curves.getValue(abc.ISampleSelector(12 / 30.0, near))
    assert list(sample.getCurvesNumVertices()) == [4, 2, 3]
    np.testing.assert_array_equal(np.array(memoryview(sample.getPositions())), hair.positions[2])
    for schema, track in ((points, dust), (curves, hair)):
        colours = geom.IC4fGeomParam(schema.getArbGeomParams(), "Cs")
        for frame in range(4):
            found = colours.getExpandedValue(abc.ISampleSelector((10 + frame) / 30.0, near)).getVals()
            wanted = track.living(track.colours, frame)
            np.testing.assert_array_equal(np.array([list(one) for one in found]).reshape(-1, 4), wanted)
    np.testing.assert_array_equal(list(curves.getWidthsParam().getExpandedValue().getVals()), hair.widths[0])
    mesh = geom.IPolyMesh(top, "Body").getSchema()
    sets = {name: list(mesh.getFaceSet(name).getSchema().getValue().getFaces()) for name in mesh.getFaceSetNames()}
    assert sets == {"Skin": [0, 2], "Gold": [1]}


def test_alembic_has_the_widths_and_velocities_of_every_particle(tmp_path: Path) -> None:
    abc, geom = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    values = np.random.default_rng(0).random((6, 3000, 7), np.float32)
    dust = Track(name="Dust", positions=values[..., :3], velocities=values[..., 3:6], widths=values[..., 6])
    written(tmp_path / "a.abc", dust)
    points = geom.IPoints(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Dust").getSchema()
    near = abc.ISampleSelector.TimeIndexType.kNearIndex
    for frame in range(6):
        when = abc.ISampleSelector((10 + frame) / 30.0, near)
        velocities = np.array(memoryview(points.getValue(when).getVelocities()))
        np.testing.assert_array_equal(velocities, values[frame, :, 3:6])
        widths = points.getWidthsParam().getExpandedValue(when).getVals()
        np.testing.assert_array_equal(np.array(memoryview(widths)), values[frame, :, 6] / 2.0, "radii")


def seam() -> Track:
    """Two triangles that share an edge by vertices of their own, shaded smoothly across it."""
    positions = np.tile(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]), (4, 1, 1))
    normals = np.tile(
        np.float32([[0, 0, 1], [0, 0.6, 0.8], [0.6, 0, 0.8], [0, 0.6, 0.8], [0.6, 0, 0.8], [0, 0, 1]]), (4, 1, 1)
    )
    faces = np.array([[0, 1, 2], [3, 5, 4]], np.uint32)
    return Track(name="Seam", positions=positions, normals=normals, triangles=faces)


@pytest.mark.parametrize("is_flat", [slow(False), True])
def test_normals_across_a_seam_are_written_and_sections_can_be_flat(is_flat: bool, tmp_path: Path) -> None:
    abc, shape = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    ranges = (("smooth", 0, 1), ("facets", 1, 1)) if is_flat else ()
    track = replace(seam(), ranges=ranges, flat=(False, True) if is_flat else ())
    wanted = track.normals[1][track.triangles].copy()
    if is_flat:
        wanted[1] = np.array([-1.0, -1.0, 1.0]) / np.sqrt(3.0)
    written(tmp_path / "a.abc", track)
    written(tmp_path / "a.usda", track)
    schema = shape.IPolyMesh(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Seam").getSchema()
    stored = np.array(memoryview(schema.getNormalsParam().getExpandedValue().getVals()))
    corners = stored.reshape(-1, 3, 3)[:, ::-1] if is_flat else stored[track.triangles]
    np.testing.assert_allclose(corners, wanted, atol=1e-6)
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    mesh = geom.Mesh(stage.GetPrimAtPath("/World/Seam"))
    stored = np.array(mesh.GetNormalsAttr().Get(11))
    assert mesh.GetNormalsInterpolation() == ("faceVarying" if is_flat else "vertex")
    np.testing.assert_allclose(stored.reshape(-1, 3, 3) if is_flat else stored[track.triangles], wanted, atol=1e-6)


def test_strands_of_alembic_are_polylines_without_a_basis(tmp_path: Path) -> None:
    abc, shape = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    written(tmp_path / "a.abc", coloured()[1])
    sample = shape.ICurves(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Hair").getSchema().getValue()
    assert (sample.getType(), sample.getBasis()) == (shape.CurveType.kLinear, shape.BasisType.kNoBasis)


@pytest.mark.parametrize("what", ["widths", slow("normals"), slow("counts"), "basis"])
@pytest.mark.parametrize("suffix", [".abc", ".usdc"])
def test_everything_that_is_read_back_is_compared(
    suffix: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    format = SCENE_FORMATS.of(path)
    pytest.importorskip(format.module)
    read = resolved(format.read)

    def damaged(files: tuple[Path, ...]) -> list[FoundNode]:
        found = read(files)
        index = 0 if what == "normals" else 1
        values = [np.array(frame) for frame in getattr(found[index], what)]
        values[2][1] += 1
        found[index] = replace(found[index], **{what: values})
        return found

    expected = f"frame 12: {what} read back differ by 1"
    if what == "basis":
        if suffix != ".abc":
            pytest.skip("curves of USD have a basis only if they are cubic")
        alembic = pytest.importorskip("sinew.sim.export.scene.alembic")
        monkeypatch.setattr(alembic, "POLYLINE", (alembic.POLYLINE[0], alembic.AbcGeom.BasisType.kBsplineBasis))
        expected = "Hair was read back as .*kNoBasis"
    else:
        monkeypatch.setattr(writing, "resolved", lambda name: damaged if name == format.read else resolved(name))
    with pytest.raises(ExportError, match=expected):
        written(path, seam(), coloured()[1])
    assert list(tmp_path.iterdir()) == []


def test_the_first_frame_has_the_same_time_in_every_format(tmp_path: Path) -> None:
    abc, shape = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    pytest.importorskip("OpenEXR")
    for format in SCENE_FORMATS:
        written(tmp_path / f"a{format.suffixes[0]}", surface("Sheet"))
    start = 10 / 30.0
    assert GlbFrames(tmp_path / "a.glb").times[0] == pytest.approx(start)
    model = load_model(tmp_path / "a.glb")
    assert model.clips[0].key_times[0] == pytest.approx(start)
    schema = shape.IPolyMesh(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Sheet").getSchema()
    assert schema.getTimeSampling().getSampleTime(0) == pytest.approx(start)
    stage = usd.Stage.Open(str(tmp_path / "a.usdc"))
    assert stage.GetStartTimeCode() / stage.GetTimeCodesPerSecond() == pytest.approx(start)
    assert PC2_HEADER.unpack_from((tmp_path / "a.pc2").read_bytes())[3] == 10.0
    assert np.frombuffer((tmp_path / "a.mdd").read_bytes(), ">f4", 1, 8)[0] == pytest.approx(start)
    assert json.loads((tmp_path / "a.json").read_text())["start"] == pytest.approx(start)


def test_cameras_of_usd_and_alembic(tmp_path: Path) -> None:
    abc, shape = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    frames = np.stack(
        [node_matrix(Transform(position=(f, 1.0, 3.0), rotation=(0.0, 60.0 * f, 10.0))) for f in range(4)]
    )
    cameras = (CameraTrack("Front", frames, 55.0, 0.0, 0.1, 90.0), CameraTrack("Plan", frames, 55.0, 2.5, 0.2, 50.0))
    recording, warned = SceneRecording((surface(),), 30.0, 10, cameras), list[str]()
    for suffix in ("abc", "usda"):
        path = tmp_path / f"a.{suffix}"
        write_scene(recording, path, SCENE_FORMATS.of(path), None, lambda _: None, warned.append)
    assert warned == [f"{tmp_path / 'a.abc'}: left out: orthographic camera Plan"]
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    for camera in cameras:
        stored = geom.Camera(stage.GetPrimAtPath(f"/World/{camera.name}"))
        for frame, matrix in enumerate(frames):
            found = stored.GetCamera(10 + frame)
            np.testing.assert_allclose(np.array(found.transform).T, matrix, atol=1e-12)
        assert (found.clippingRange.min, found.clippingRange.max) == pytest.approx((camera.near, camera.far))
        if camera.height:
            assert found.projection == found.Orthographic
            assert found.verticalAperture / 10.0 == pytest.approx(2.5)
        else:
            assert found.GetFieldOfView(found.FOVVertical) == pytest.approx(55.0, abs=1e-4)
    placed = shape.IXform(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Front")
    near = abc.ISampleSelector.TimeIndexType.kNearIndex
    found = placed.getSchema().getValue(abc.ISampleSelector(12 / 30.0, near)).getMatrix()
    np.testing.assert_allclose(np.array([[found[r][c] for c in range(4)] for r in range(4)]).T, frames[2], atol=1e-12)
    lens = shape.ICamera(placed, "FrontShape").getSchema().getValue()
    angle = 2.0 * np.degrees(np.arctan(lens.getVerticalAperture() * 10.0 / 2.0 / lens.getFocalLength()))
    assert angle == pytest.approx(55.0, abs=1e-5)
    assert (lens.getNearClippingPlane(), lens.getFarClippingPlane()) == pytest.approx((0.1, 90.0))


def test_gltf_has_colours_and_the_sides_and_shading_of_sections(tmp_path: Path) -> None:
    written(tmp_path / "one.glb", Track(name="Dust", positions=particles().positions[1:2]))
    Checked((tmp_path / "one.glb").read_bytes())
    dust, hair = coloured()
    bright = replace(dust, colours=dust.colours * np.float32([4.0, 4.0, 4.0, 1.0]))
    body = replace(
        surface("Body"), triangles=np.array([[0, 1, 2], [1, 2, 3]], np.uint32), backs=(True, False), flat=(False, True),
        ranges=(("Skin", 0, 1), ("Skin", 1, 1)), materials=(Material("Skin", None, None),),
        colours=RANDOM.uniform(0.0, 1.0, (1, 4, 4)).astype(np.float32),
    )  # fmt: skip
    path = tmp_path / "a.glb"
    _, warned = written(path, bright, hair, body)
    assert [line.removeprefix(f"{path}: ") for line in warned] == [
        "glTF scene cannot store widths; skipped for Hair", "left out: brightness beyond 1 of Dust",
    ]  # fmt: skip
    checked = Checked(path.read_bytes())
    meshes = {mesh["name"]: mesh["primitives"] for mesh in checked.document["meshes"]}
    for frame in (1, 2, 3):
        wanted = bright.living(bright.colours, frame)
        wanted = np.column_stack((wanted[:, :3] / np.maximum(wanted[:, :3].max(1, keepdims=True), 1.0), wanted[:, 3]))
        found = checked.values(meshes[f"Dust {frame}"][0]["attributes"]["COLOR_0"])
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    found = checked.values(meshes["Hair"][0]["attributes"]["COLOR_0"])
    np.testing.assert_array_equal(found, hair.living(hair.colours, 0))
    smooth, flat = meshes["Body"]
    assert ("NORMAL" in smooth["attributes"], "NORMAL" in flat["attributes"]) == (True, False)
    assert checked.document["materials"][smooth["material"]]["doubleSided"]
    assert "doubleSided" not in checked.document["materials"][flat["material"]]
    np.testing.assert_array_equal(checked.values(flat["attributes"]["COLOR_0"]), body.living(body.colours, 0))


@pytest.mark.parametrize("suffix", SCENE_FORMATS.suffixes())
def test_values_that_a_format_cannot_store_are_reported(suffix: str, tmp_path: Path) -> None:
    dust = replace(
        particles(), name="Dust", velocities=np.ones((4, 5, 3), np.float32), ids=np.ones((4, 5), np.int64),
        widths=np.ones((4, 5), np.float32), colours=np.ones((4, 5, 4), np.float32),
        materials=(Material("star", "star.png", tmp_path / "star.png"),),
    )  # fmt: skip
    sheet = replace(surface("Sheet"), materials=(Material("cotton", None, None),))
    hair = replace(strands(), materials=(Material("hair", None, None),))
    format = SCENE_FORMATS.of(tmp_path / f"a{suffix}")
    _, warned = written(tmp_path / f"a{suffix}", dust, replace(sheet, texcoords=None), hair)
    of_all = [line for line in warned if "cannot store materials" in line]
    assert bool(of_all) is ("materials" not in format.keeps)
    warned = [line.replace("skipped for Sheet, Hair", "skipped for Sheet") for line in warned]
    known = {"Sheet": ["materials"], "Dust": ["images", "colours", "widths", "velocities", "ids"]}
    reported = [line.removeprefix(f"{tmp_path / 'a'}{suffix}: ") for line in warned]
    for name, looks in known.items():
        lost = ", ".join(what for what in looks if what not in format.keeps)
        held = name == "Sheet" or "points" in format.holds
        assert (f"{format.name} cannot store {lost}; skipped for {name}" in reported) is (held and bool(lost))


def test_a_video_in_memory_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.sim.export.video_file.BUFFERED_BYTES", 3 * 3 * 64)
    cache = GifVideo(tmp_path / "a.gif", (8, 8), 30.0, False)
    for _ in range(3):
        cache.add(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(ExportError, match="holds 3 frames of this size"):
        cache.add(np.zeros((8, 8, 3), np.uint8))


shade = pytest.importorskip("pxr.UsdShade")


def embedded(name: str, colour: tuple[int, int, int] = (255, 0, 0)) -> EmbeddedImage:
    return EmbeddedImage(name, png_bytes() + bytes(colour))


def body(*materials: Material, parts: int = 0) -> Track:
    count = parts or len(materials)
    return Track(
        name="Body", positions=np.random.default_rng(5).normal(size=(2, 3 * count, 3)).astype(np.float32),
        triangles=np.arange(3 * count, dtype=np.uint32).reshape(-1, 3),
        texcoords=np.full((3 * count, 2), 0.5, np.float32), materials=materials,
        ranges=tuple((materials[index % len(materials)].name, index, 1) for index in range(count)),
    )  # fmt: skip


def usd_written(path: Path, *tracks: Track) -> tuple[Any, list[str]]:
    warned: list[str] = []
    write_scene(SceneRecording(tracks, 30.0), path, SCENE_FORMATS.of(path), None, lambda _: None, warned.append)
    stage = usd.Stage.Open(str(path))
    validation = pytest.importorskip("pxr.UsdValidation")
    registry = validation.ValidationRegistry()
    names = [known.name for known in registry.GetAllValidatorMetadata()]
    errors = validation.ValidationContext(registry.GetOrLoadValidatorsByName(names)).Validate(stage)
    # The format of packages that are shown on telephones is another one.
    found = [error.GetMessage() for error in errors if "sdz" not in error.GetIdentifier()]
    assert found == []
    return stage, warned


def surfaces(stage: Any) -> list[Any]:
    found = []
    for mesh in stage.GetDefaultPrim().GetChildren():
        parts = shade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()
        for prim in [part.GetPrim() for part in parts] or [mesh]:
            material, _ = shade.MaterialBindingAPI(prim).ComputeBoundMaterial()
            found.append(material.ComputeSurfaceSource()[0])
    return found


def value(shader: Any, name: str) -> Any:
    return shader.GetInput(name).Get()


def texture(surface: Any, name: str) -> tuple[Any, str]:
    source, channel, _ = surface.GetInput(name).GetConnectedSource()
    found = shade.Shader(source)
    assert found.GetIdAttr().Get() == "UsdUVTexture"
    reader = shade.Shader(found.GetInput("st").GetConnectedSource()[0])
    assert value(reader, "varname") == "st"
    return found, channel


def test_images_within_a_model_lie_beside_the_stage_and_feed_the_surface(tmp_path: Path) -> None:
    names = ("colour", "metal: rough", "leaning", "dark", "bright")
    colour, metal, normals, dark, bright = (embedded(name, (k, 0, 0)) for k, name in enumerate(names))
    material = Material(
        "Skin", None, None, diffuse=(0.5, 0.25, 0.125), embedded=colour, alpha_mode=AlphaMode.MASK, alpha_cutoff=0.25,
        opacity=0.75, surface_image=metal, metal=0.5, roughness=0.625, normal_image=normals, normal_scale=1.0,
        occlusion_image=dark, occlusion=0.25, emission_image=bright, emission=(2.0, 1.0, 0.5),
    )  # fmt: skip
    stage, warned = usd_written(tmp_path / "a.usdc", body(material))
    assert not warned
    (surface,) = surfaces(stage)
    expected = {
        "diffuseColor": ("rgb", colour, (0.5, 0.25, 0.125, 0.75), (0, 0, 0, 0), "sRGB"),
        "opacity": ("a", colour, (0.5, 0.25, 0.125, 0.75), (0, 0, 0, 0), "sRGB"),
        "roughness": ("g", metal, (1.0, 0.625, 0.5, 1.0), (0, 0, 0, 0), "raw"),
        "metallic": ("b", metal, (1.0, 0.625, 0.5, 1.0), (0, 0, 0, 0), "raw"),
        "normal": ("rgb", normals, (2, 2, 2, 1), (-1, -1, -1, 0), "raw"),
        "occlusion": ("r", dark, (0.25, 0.25, 0.25, 1.0), (0.75, 0.75, 0.75, 0.0), "raw"),
        "emissiveColor": ("rgb", bright, (2.0, 1.0, 0.5, 1.0), (0, 0, 0, 0), "sRGB"),
    }
    for name, (channel, image, scale, bias, space) in expected.items():
        made, found = texture(surface, name)
        assert found == channel
        asset = value(made, "file")
        assert asset.path.startswith("./a_textures/")
        assert Path(asset.resolvedPath).read_bytes() == image.data
        np.testing.assert_allclose(value(made, "scale"), scale)
        np.testing.assert_allclose(value(made, "bias"), bias)
        assert (value(made, "sourceColorSpace"), value(made, "wrapS")) == (space, "repeat")
    assert value(surface, "opacityThreshold") == 0.25
    files = {"a.usdc", "a_textures", *(f"{n}.png" for n in ("bright", "colour", "dark", "leaning", "metal_rough"))}
    assert {path.name for path in tmp_path.rglob("*")} == files
    (opened,) = load_model(tmp_path / "a.usdc").materials
    for image, stored in ((opened.image, colour), (opened.normal_image, normals), (opened.emission_image, bright)):
        assert isinstance(image, Path)
        assert image.read_bytes() == stored.data


def test_sections_have_their_own_colours_and_share_materials(tmp_path: Path) -> None:
    skin = Material("Skin", None, None, diffuse=(0.5, 0.25, 0.125))
    gold = Material(
        "Gold", None, None, diffuse=(0.0, 0.0, 0.0), specular=(1.0, 0.75, 0.25), shininess=2.0 / 0.0625 - 2.0
    )
    pearl = Material("Pearl", None, None, diffuse=(0.5, 0.5, 0.5), specular=(0.5, 0.0, 0.25))
    light = Material("Lamp", None, None, diffuse=(1.0, 0.5, 0.25), is_unlit=True)
    cape = Track(name="Cape", positions=np.ones((1, 3, 3), np.float32), triangles=np.array([[0, 1, 2]], np.uint32))
    track = replace(body(skin, gold, pearl, light, parts=5), positions=np.ones((1, 15, 3), np.float32))
    stage, _ = usd_written(tmp_path / "a.usda", track, cape)
    drawn, sheet = (geom.Mesh(prim) for prim in stage.GetDefaultPrim().GetChildren())
    shown = [skin.diffuse, gold.specular, pearl.diffuse, light.diffuse, skin.diffuse]
    np.testing.assert_allclose(drawn.GetDisplayColorAttr().Get(), shown)
    np.testing.assert_allclose(sheet.GetDisplayColorAttr().Get(), [PLAIN], rtol=1e-6)
    assert (drawn.GetDoubleSidedAttr().Get(), sheet.GetDoubleSidedAttr().Get()) == (False, True)
    first, metal, mixed, bright, again, _ = surfaces(stage)
    assert again.GetPath() == first.GetPath()
    np.testing.assert_allclose(value(metal, "diffuseColor"), gold.specular)
    assert (value(metal, "metallic"), value(metal, "roughness")) == (1.0, pytest.approx(0.5))
    assert value(mixed, "useSpecularWorkflow") == 1
    np.testing.assert_allclose([value(mixed, "diffuseColor"), value(mixed, "specularColor")],
                               [pearl.diffuse, pearl.specular])  # fmt: skip
    np.testing.assert_allclose(value(bright, "emissiveColor"), light.diffuse)
    assert (tuple(value(bright, "diffuseColor")), value(bright, "ior")) == ((0.0, 0.0, 0.0), 1.0)


def test_colours_of_vertices_colour_what_has_no_image(tmp_path: Path) -> None:
    plain = Material("Plain", None, None, diffuse=(0.5, 1.0, 1.0))
    textured = Material("Textured", None, None, embedded=embedded("a"))
    colours = np.linspace(0.0, 1.0, 24, dtype=np.float32).reshape(1, 6, 4)
    stage, warned = usd_written(tmp_path / "a.usda", replace(body(plain, textured), colours=colours))
    assert warned == [f"{tmp_path / 'a.usda'}: left out: colours of vertices where there is an image, of Body"]
    (mesh,) = (geom.Mesh(prim) for prim in stage.GetDefaultPrim().GetChildren())
    shown = colours[0, :, :3] * np.repeat([plain.diffuse, textured.diffuse], 3, axis=0)
    np.testing.assert_allclose(mesh.GetDisplayColorAttr().Get(), shown, atol=1e-6)
    reader = shade.Shader(surfaces(stage)[0].GetInput("diffuseColor").GetConnectedSource()[0])
    assert value(reader, "varname") == "displayColor"


def test_images_that_cannot_be_read_are_reported_and_unusual_formats_converted(tmp_path: Path) -> None:
    other = tmp_path / "other.tga"
    Image.new("RGB", (2, 2), (0, 128, 255)).save(other)
    skin = Material(
        "Skin", None, other, emission=(1.0, 1.0, 1.0), emission_image=tmp_path / "gone.png",
        normal_image=EmbeddedImage("bad", b"nothing"),
    )  # fmt: skip
    stage, warned = usd_written(tmp_path / "a.usdc", body(skin))
    assert len(warned) == 2
    assert "left out: image" in warned[0]
    assert "gone.png: No such file" in warned[0]
    assert "bad: is not an image of a known format" in warned[1]
    (surface,) = surfaces(stage)
    made, _ = texture(surface, "diffuseColor")
    with Image.open(value(made, "file").resolvedPath) as image:
        assert (image.format, image.getpixel((1, 1))[:3]) == ("PNG", (0, 128, 255))
    assert not surface.GetInput("normal")
    np.testing.assert_allclose(value(surface, "emissiveColor"), (1.0, 1.0, 1.0))


@pytest.mark.parametrize("there", [False, True])
def test_a_failure_leaves_the_folder_as_it_was(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a_textures"
    if there:
        folder.mkdir()
        (folder / "colour.png").write_bytes(b"older")
    before = sorted(os.walk(tmp_path))
    monkeypatch.setattr(writing, "largest_difference", lambda *_: 1.0)
    with pytest.raises(ExportError, match="no file was written"):
        usd_written(tmp_path / "a.usdc", body(Material("Skin", None, None, embedded=embedded("colour"))))
    assert sorted(os.walk(tmp_path)) == before
    assert not there or (folder / "colour.png").read_bytes() == b"older"
