import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from sinew import resources
from sinew.app.document.document import Document
from sinew.app.project.project_file import load_project, save_project
from sinew.app.project.project_json import ProjectError
from sinew.app.project.project_paths import outside_files
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Material, Sampler
from sinew.sim.characters.materials import (
    REPORTED_MAX,
    MissingImage,
    idle_values,
    located,
    missing_images,
    missing_lines,
    overridden,
    overridden_materials,
)
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.kinds.model.kind import files_of
from sinew.sim.scene.params import ParamError, paths_of
from sinew.sim.scene.scene import Node, ParamRef, Scene, value_at
from sinew.sim.scene.view_state import ViewState

OWN = Material("skin", "a.png", Path("/m/a.png"), diffuse=(0.5, 0.5, 0.5), embedded=EmbeddedImage("a", b""))
LOOK = MaterialLook(material="shirt", diffuse=(1.0, 0.0, 0.0), texture="")


def humanoid(folder: Path) -> Path:
    shutil.copytree(resources.path("models") / "humanoid", folder / "humanoid")
    return folder / "humanoid" / "humanoid.ezm"


def scene_of(model: Path, *looks: MaterialLook) -> Scene:
    return Scene(nodes=(Node(id="m", name="hero", settings=ModelSettings(path=str(model), materials=looks)),))


def test_colours_are_taken_as_light_and_textures_are_replaced_and_taken_away() -> None:
    assert overridden(OWN, MaterialLook(material="skin")) is OWN
    assert idle_values(OWN) == {"opacity"}
    assert "opacity" not in idle_values(Material("a", None, None, alpha_mode=AlphaMode.BLEND))
    assert "shininess" in idle_values(Material("a", None, None, surface_image=Path("/s.png")))
    half = overridden(OWN, MaterialLook(diffuse=(0.0, 1.0, 0.735357), texture="/else/b.png", shininess=5.0))
    assert half.diffuse == pytest.approx((0.0, 1.0, 0.5), abs=1e-5)
    assert (half.texture, half.image, half.shininess) == ("b.png", Path("/else/b.png"), 5.0)
    bare = overridden(OWN, MaterialLook(texture=""))
    assert (bare.texture, bare.image, bare.diffuse) == (None, None, OWN.diffuse)


def test_a_map_that_the_file_lacks_acts_in_full() -> None:
    shown = overridden(OWN, MaterialLook(emission_image="/e.png", surface_image="/s.png"))
    assert (shown.emission, shown.metal, shown.roughness) == ((1.0, 1.0, 1.0), 1.0, 1.0)
    assert overridden(OWN, MaterialLook(emission_image="/e.png", emission=(0.0, 0.0, 1.0))).emission == (0.0, 0.0, 1.0)


def test_a_value_of_a_material_has_an_address_and_leaves_no_trace_at_its_default(tmp_path: Path) -> None:
    document = Document(scene_of(humanoid(tmp_path)))
    ref = ParamRef("m", "material:shirt", "diffuse")
    document.set_value(ref, (1.0, 0.0, 0.0))
    document.set_value(ParamRef("m", "material:hair", "texture"), "x.png")
    assert value_at(document.scene, ParamRef("m", "material:hair", "texture")) == str(Path.cwd() / "x.png")
    assert document.undo_stack.undo_text == "Set colour of hair of hero"
    document.set_value(ref, None)
    assert [look.material for look in document.scene.nodes[0].settings.materials] == ["hair"]
    for value in ((2.0, 0.0, 0.0), (float("nan"), 0.0, 0.0), "red"):
        with pytest.raises(ParamError):
            document.set_value(ref, value)
    with pytest.raises(ParamError):
        document.set_value(ParamRef("m", "material:hair", "shininess"), 1e5)


def test_projects_hold_paths_relative_and_refuse_what_is_wrong(tmp_path: Path) -> None:
    model, image = humanoid(tmp_path), tmp_path / "else" / "b.png"
    scene = scene_of(model, LOOK, MaterialLook(material="hair", normal_image=str(image), opacity=0.5))
    path = tmp_path / "p" / "a.sinew"
    path.parent.mkdir()
    save_project(path, scene, ViewState())
    text = path.read_text()
    assert '"../else/b.png"' in text
    assert str(tmp_path) not in text
    assert load_project(path).scene == scene
    for wrong, allowed in (("0.5", "50"), ("../else/b.png", "b\\u0000.png"), ('"shirt"', "7")):
        bad = tmp_path / "p" / "bad.sinew"
        bad.write_text(text.replace(wrong, allowed, 1))
        with pytest.raises(ProjectError, match=r"\$\.nodes\[0\]\.model\.materials"):
            load_project(bad)


def test_textures_elsewhere_are_files_of_the_scene_that_need_permission(tmp_path: Path) -> None:
    look = MaterialLook(material="hair", texture="/elsewhere/b.png", normal_image="", surface_image="/elsewhere/b.png")
    scene = scene_of(humanoid(tmp_path), look)
    assert [file.path for file in outside_files(scene, tmp_path / "humanoid" / "a.sinew")] == ["/elsewhere/b.png"]
    uses = files_of(scene.nodes[0].settings)
    assert [(use.content, use.path) for use in uses[1:]] == [("texture", "/elsewhere/b.png")]
    assert paths_of(msgspec.structs.replace(look, texture=None)) == ["/elsewhere/b.png"]


def test_missing_images_are_listed_by_file_until_another_is_given(tmp_path: Path) -> None:
    path = humanoid(tmp_path)
    clothes = path.with_name("humanoid_clothes.png")
    clothes.rename(tmp_path / "clothes.png")
    model = load_model(path)
    assert overridden_materials(model, ()) is model.materials
    one, *rest = overridden_materials(model, (MaterialLook(material="skin", diffuse=(0.0, 0.0, 0.0)),))
    assert one.diffuse == (0.0, 0.0, 0.0)
    assert all(now is before for now, before in zip(rest, model.materials[1:], strict=True))
    uses = tuple((name, "texture") for name in ("shirt", "trousers", "shoes"))
    assert missing_images(model, ()) == (MissingImage("humanoid_clothes.png", uses),)
    assert missing_images(model, (LOOK,))[0].materials == ("trousers", "shoes")
    gone = MaterialLook(material="skin", normal_image="/gone/n.png")
    assert MissingImage("/gone/n.png", (("skin", "normal_image"),)) in missing_images(model, (gone,), lambda _: True)
    found = located(missing_images(model, (gone,), lambda _: True), "humanoid_clothes.png", tmp_path / "clothes.png")
    assert found == dict.fromkeys(uses, str(tmp_path / "clothes.png")), "what does not lie beside it stays missing"
    Image.new("RGB", (2, 2)).save(tmp_path / "n.png")
    assert len(located(missing_images(model, (gone,), lambda _: True), "humanoid_clothes.png", tmp_path / "c.png")) == 4


def test_missing_images_get_a_line_each_up_to_a_limit() -> None:
    lost = [MissingImage(f"{i}.png", (("skin", "texture"),)) for i in range(REPORTED_MAX + 3)]
    assert missing_lines(lost[:1]) == ("the texture 0.png of material skin was not found",)
    assert len(missing_lines(lost[:REPORTED_MAX])) == REPORTED_MAX
    assert missing_lines(lost)[REPORTED_MAX:] == ("3 more textures were not found",)
    many = MissingImage("a.png", tuple((name, "texture") for name in ("a", "", "c", "d", "e")))
    assert many.line == "the texture a.png of materials a, unnamed, c and 2 more was not found"


def test_missing_images_of_gltf_name_their_use(tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    path.write_text("""{"asset": {"version": "2.0"}, "nodes": [{}], "scenes": [{"nodes": [0]}], "scene": 0,
        "images": [{"uri": "no%20colour.png"}, {"uri": "bumps.png"}], "textures": [{"source": 0}, {"source": 1}],
        "materials": [{"name": "m", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
                       "normalTexture": {"index": 1}}]}""")
    assert load_model(path).materials[0].lost == (("texture", "no colour.png"), ("normal_image", "bumps.png"))


def test_images_that_are_chosen_are_repeated() -> None:
    both = (("texture", Sampler(wrap_s=33071)), ("normal_image", Sampler(wrap_t=33648)))
    material = replace(OWN, samplers=both, normal_image=Path("/m/n.png"))
    assert overridden(material, MaterialLook(material="skin", shininess=3.0)).samplers == both
    assert overridden(material, MaterialLook(material="skin", texture="/m/b.png")).samplers == both[1:]
