"""What scenes are written as, where no simulation is needed to make them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sim.assets.load import load_model
from sim.assets.model import AlphaMode, Material
from sim.export.error import ExportError
from sim.export.film import GifFilm
from sim.export.formats import SCENE_FORMATS, SceneFormat
from sim.export.scene.glb_frames import LooseFrames
from sim.export.scene.recording import PLAIN, Recording, Track
from sim.export.scene.writing import write_scene
from tests.gltf_rules import Checked
from tests.gltf_samples import png_bytes

RANDOM = np.random.default_rng(7)


def strands() -> Track:
    """Three strands of different lengths over four frames."""
    positions = RANDOM.normal(size=(4, 9, 3)).astype(np.float32)
    return Track(name="Hair", positions=positions, counts=np.array([4, 2, 3], np.int32))


def particles() -> Track:
    """Particles of whom nobody lives at first, and others later."""
    positions = RANDOM.normal(size=(4, 5, 3)).astype(np.float32)
    positions[0] = positions[1, 2] = positions[3, :4] = np.nan
    return Track(name="Hair", positions=positions)


def surface(name: str = "Sheet / left") -> Track:
    """A triangle of its own and one vertex that nothing uses."""
    positions = RANDOM.normal(size=(4, 4, 3)).astype(np.float32)
    return Track(name=name, positions=positions, triangles=np.array([[0, 1, 2]], np.uint32))


def written(path: Path, *tracks: Track) -> tuple[list[str], list[str]]:
    """What is told and warned."""
    told: list[str] = []
    warned: list[str] = []
    format: SceneFormat = SCENE_FORMATS.of(path)
    if format.module:
        pytest.importorskip(format.module)
    write_scene(Recording(tracks, 30.0, 10), path, format, None, told.append, warned.append)
    return told, warned


@pytest.mark.parametrize("suffix", SCENE_FORMATS.suffixes())
def test_everything_that_a_format_holds_comes_back(suffix: str, tmp_path: Path) -> None:
    """Names that occur twice, or that no file may have, are no reason to fail."""
    told, warned = written(tmp_path / f"a{suffix}", strands(), particles(), surface(), surface("Sheet : left"))
    holds_all = len(SCENE_FORMATS.of(Path(f"a{suffix}")).holds) == 3
    assert bool(warned) is not holds_all
    assert all("4 frames" in line and "read back to" in line for line in told)


def test_strands_of_usd_are_curves_through_their_knots(tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    track = strands()
    written(tmp_path / "a.usda", track)
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    curves = geom.BasisCurves(stage.GetDefaultPrim().GetChildren()[0])
    assert list(curves.GetCurveVertexCountsAttr().Get()) == [4, 2, 3]
    shape = (curves.GetTypeAttr().Get(), curves.GetBasisAttr().Get(), curves.GetWrapAttr().Get())
    assert shape == ("cubic", "catmullRom", "pinned")
    np.testing.assert_array_equal(np.array(curves.GetPointsAttr().Get(12)), track.positions[2])
    assert stage.GetStartTimeCode() == 10


def test_strands_and_particles_of_gltf_are_lines_and_points_that_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    hair, dust, sheet = strands(), particles(), surface()
    told, warned = written(path, hair, dust, sheet)
    assert not warned
    assert "read back to" in told[0]
    data = path.read_bytes()
    file, loose = Checked(data).document, LooseFrames(path)
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


@pytest.mark.parametrize("frames", [1, 2, 4])
def test_particles_alone_make_a_file(tmp_path: Path, frames: int) -> None:
    dust = particles()
    track = Track(name="Dust", positions=dust.positions[::-1][:frames])
    written(tmp_path / "a.glb", track)
    Checked((tmp_path / "a.glb").read_bytes())


def test_sections_of_usd_have_their_materials(tmp_path: Path) -> None:
    usd, shade = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdShade")
    image = tmp_path / "pictures" / "skin.png"
    image.parent.mkdir()
    image.write_bytes(png_bytes())
    skin = Material("Looks", "skin", image, diffuse=(1.0, 0.5, 0.25), alpha_mode=AlphaMode.MASK, alpha_cutoff=0.3)
    gold = Material("gold", None, None, diffuse=(0.0, 0.0, 0.0), specular=(1.0, 0.8, 0.2), shininess=30.0)
    positions = RANDOM.normal(size=(2, 9, 3)).astype(np.float32)
    track = Track(
        name="Body",
        positions=positions,
        triangles=np.arange(9, dtype=np.uint32).reshape(3, 3),
        texcoords=np.zeros((9, 2), np.float32),
        ranges=(("Looks", 0, 1), ("gold", 1, 1), ("Looks", 2, 1)),
        materials=(skin, gold),
    )
    written(tmp_path / "a.usda", track)
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    found = {}
    for prim in stage.Traverse():
        material, _ = shade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        if prim.GetTypeName() == "GeomSubset":
            found[prim.GetName()] = shade.Shader(material.GetSurfaceOutput().GetConnectedSources()[0][0].source)
    assert len(found) == 3
    surface, metal, again = found.values()
    assert again.GetPath() == surface.GetPath()
    texture = shade.Shader(surface.GetInput("diffuseColor").GetConnectedSources()[0][0].source)
    asset = texture.GetInput("file").Get()
    assert asset.path == "./pictures/skin.png"
    assert Path(asset.resolvedPath).samefile(image)
    np.testing.assert_allclose(texture.GetInput("scale").Get(), [1.0, 0.5, 0.25, 1.0])
    assert surface.GetInput("opacityThreshold").Get() == pytest.approx(0.3)
    np.testing.assert_allclose(metal.GetInput("diffuseColor").Get(), gold.specular, atol=1e-6)
    assert metal.GetInput("metallic").Get() == 1.0


def test_strands_of_alembic_are_polylines(tmp_path: Path) -> None:
    abc, geom = pytest.importorskip("alembic3d.Abc"), pytest.importorskip("alembic3d.AbcGeom")
    track = strands()
    written(tmp_path / "a.abc", track)
    schema = geom.ICurves(abc.IArchive(str(tmp_path / "a.abc")).getTop(), "Hair").getSchema()
    near = abc.ISampleSelector.TimeIndexType.kNearIndex
    sample = schema.getValue(abc.ISampleSelector(12 / 30.0, near))
    assert list(sample.getCurvesNumVertices()) == [4, 2, 3]
    np.testing.assert_array_equal(np.array(memoryview(sample.getPositions())), track.positions[2])


def test_a_film_that_is_kept_in_memory_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.export.film.KEPT_BYTES", 3 * 3 * 64)
    film = GifFilm(tmp_path / "a.gif", (8, 8), 30.0, False)
    for _ in range(3):
        film.add(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(ExportError, match="holds 3 pictures of this size"):
        film.add(np.zeros((8, 8, 3), np.uint8))


def test_materials_of_usd_are_bound_to_the_sections_they_colour(tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    shade = pytest.importorskip("pxr.UsdShade")
    image = tmp_path / "images" / "a.png"
    image.parent.mkdir()
    Image.new("RGB", (2, 2), (255, 0, 0)).save(image)
    skin = Material("Skin", "a.png", image, diffuse=(0.5, 0.25, 0.125), alpha_mode=AlphaMode.MASK, alpha_cutoff=0.25)
    gold = Material(
        "Gold", None, None, diffuse=(0.0, 0.0, 0.0), specular=(1.0, 0.75, 0.25), shininess=2.0 / 0.0625 - 2.0
    )
    track = replace(
        surface("Body"), triangles=np.array([[0, 1, 2], [1, 2, 3], [2, 3, 0]], np.uint32),
        ranges=(("Skin", 0, 1), ("Gold", 1, 2)), materials=(skin, gold), texcoords=np.zeros((4, 2), np.float32),
    )  # fmt: skip
    written(tmp_path / "a.usdc", track, surface("Cape"))
    stage = usd.Stage.Open(str(tmp_path / "a.usdc"))
    body, cape = (geom.Mesh(prim) for prim in stage.GetDefaultPrim().GetChildren())
    colours = np.array(body.GetDisplayColorAttr().Get())
    np.testing.assert_allclose(colours, [skin.diffuse, gold.diffuse, gold.diffuse])
    np.testing.assert_allclose(cape.GetDisplayColorAttr().Get(), [PLAIN], rtol=1e-6)
    assert (body.GetDoubleSidedAttr().Get(), cape.GetDoubleSidedAttr().Get()) == (False, True)
    parts = shade.MaterialBindingAPI(body.GetPrim()).GetMaterialBindSubsets()
    found = [shade.MaterialBindingAPI(one.GetPrim()).ComputeBoundMaterial()[0] for one in parts]
    found.append(shade.MaterialBindingAPI(cape.GetPrim()).ComputeBoundMaterial()[0])
    shaders = [material.ComputeSurfaceSource()[0] for material in found]
    assert {shader.GetIdAttr().Get() for shader in shaders} == {"UsdPreviewSurface"}

    def value(shader: Any, name: str) -> Any:
        return shader.GetInput(name).Get()

    np.testing.assert_allclose(value(shaders[1], "diffuseColor"), gold.specular)
    assert (value(shaders[1], "metallic"), value(shaders[1], "roughness")) == (1.0, pytest.approx(0.5))
    assert value(shaders[0], "opacityThreshold") == 0.25
    texture = shade.Shader(shaders[0].GetInput("diffuseColor").GetConnectedSource()[0])
    assert texture.GetIdAttr().Get() == "UsdUVTexture"
    assert value(texture, "file").path == "./images/a.png"
    assert Path(value(texture, "file").resolvedPath).samefile(image)
    np.testing.assert_allclose(value(texture, "scale"), (*skin.diffuse, 1.0))
    reader = shade.Shader(texture.GetInput("st").GetConnectedSource()[0])
    assert value(reader, "varname") == "st"
