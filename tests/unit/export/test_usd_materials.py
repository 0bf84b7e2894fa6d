import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Material
from sinew.sim.export.formats import SCENE_FORMATS, ExportError
from sinew.sim.export.scene import writing
from sinew.sim.export.scene.recording import PLAIN, SceneRecording, Track
from sinew.sim.export.scene.writing import write_scene
from tests.gltf_samples import png_bytes

usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
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


def written(path: Path, *tracks: Track) -> tuple[Any, list[str]]:
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
    stage, warned = written(tmp_path / "a.usdc", body(material))
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


def test_sections_have_their_own_colours_and_share_materials(tmp_path: Path) -> None:
    skin = Material("Skin", None, None, diffuse=(0.5, 0.25, 0.125))
    gold = Material(
        "Gold", None, None, diffuse=(0.0, 0.0, 0.0), specular=(1.0, 0.75, 0.25), shininess=2.0 / 0.0625 - 2.0
    )
    pearl = Material("Pearl", None, None, diffuse=(0.5, 0.5, 0.5), specular=(0.5, 0.0, 0.25))
    light = Material("Lamp", None, None, diffuse=(1.0, 0.5, 0.25), is_unlit=True)
    cape = Track(name="Cape", positions=np.ones((1, 3, 3), np.float32), triangles=np.array([[0, 1, 2]], np.uint32))
    track = replace(body(skin, gold, pearl, light, parts=5), positions=np.ones((1, 15, 3), np.float32))
    stage, _ = written(tmp_path / "a.usda", track, cape)
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
    stage, warned = written(tmp_path / "a.usda", replace(body(plain, textured), colours=colours))
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
    stage, warned = written(tmp_path / "a.usdc", body(skin))
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
        written(tmp_path / "a.usdc", body(Material("Skin", None, None, embedded=embedded("colour"))))
    assert sorted(os.walk(tmp_path)) == before
    assert not there or (folder / "colour.png").read_bytes() == b"older"
