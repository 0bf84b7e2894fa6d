"""Descriptions of materials and the images they mean."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.materials import TextureFolder, base_name, parse_meta_data, unwrapped
from sinew.sim.assets.model import Material
from tests.ezm_samples import LEGACY, MESH_SYSTEM, load_text, mesh_text


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diffuse=%20upBodyC.jpg%20", {"diffuse": "upBodyC.jpg"}),
        ("diffuse=some_texture.dds", {"diffuse": "some_texture.dds"}),
        (
            "diffuse=%20crater.png%20,Ns=30,Ka=(0,0,0),Kd=(0.99,0.80,0.72),Ks=(0.09,0.09,0.09)",
            {"diffuse": "crater.png", "ns": "30", "ka": "(0,0,0)", "kd": "(0.99,0.80,0.72)", "ks": "(0.09,0.09,0.09)"},
        ),
        ("diffuse= crater.png ,Ns=3", {"diffuse": "crater.png", "ns": "3"}),
        ('diffuse="a b.png"', {"diffuse": "a b.png"}),
        ("diffuse=%20my%20skin.png%20", {"diffuse": "my%20skin.png"}),
        ("TestMaterialInfo", {}),
        ("", {}),
        ("DIFFUSE=a.png,diffuse=b.png", {"diffuse": "a.png"}),
        ("Kd=(1,2,x=1", {"kd": "(1,2,x=1"}),
        ("a=1)),b=2", {"a": "1))", "b": "2"}),
    ],
)
def test_meta_data(text: str, expected: dict[str, str]) -> None:
    assert parse_meta_data(text) == expected


@given(st.text())
def test_any_meta_data_can_be_read(text: str) -> None:
    for value in parse_meta_data(text).values():
        assert value == unwrapped(value)


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("C:\\art\\skin.tga", "skin.tga"),
        ("/home/art/skin.tga", "skin.tga"),
        ("\\\\server\\share\\skin.tga", "skin.tga"),
        ("a/b\\c/skin.tga", "skin.tga"),
        ("%20D:\\x\\skin.tga%20", "skin.tga"),
        ("skin.tga", "skin.tga"),
        ("folder/", ""),
    ],
)
def test_last_part_of_a_path(recorded: str, name: str) -> None:
    assert base_name(recorded) == name


@pytest.mark.parametrize(
    ("recorded", "present", "found"),
    [
        ("skin.png", ["skin.png", "skin.jpg"], "skin.png"),
        ("C:\\Art\\SKIN.PNG", ["skin.png"], "skin.png"),
        ("skin.png", ["Skin.DDS"], "Skin.DDS"),
        ("skin.tif", ["skin.jpg", "skin.tga"], "skin.jpg"),
        ("skin", ["skin.bmp"], "skin.bmp"),
        ("my%20skin.png", ["my skin.png"], "my skin.png"),
        ("my%20skin.png", ["my%20skin.png", "my skin.png"], "my%20skin.png"),
        ("my%20skin.png", ["my skin.tga"], "my skin.tga"),
        ("skin.v2.png", ["skin.v2.jpg"], "skin.v2.jpg"),
        ("skin.png", ["skin.txt", "skin2.png"], None),
        ("notes.txt", ["notes.txt"], None),
        ("../secret.png", ["secret.png"], "secret.png"),
        ("..", ["x.png"], None),
        ("", ["x.png"], None),
    ],
)
def test_lookup(tmp_path: Path, recorded: str, present: list[str], found: str | None) -> None:
    touch(tmp_path, *present)
    assert TextureFolder(tmp_path).find(recorded) == (tmp_path / found if found else None)


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "skin.png").mkdir()
    assert TextureFolder(tmp_path).find("skin.png") is None


def test_a_folder_that_cannot_be_listed_has_no_images(tmp_path: Path) -> None:
    assert TextureFolder(tmp_path / "missing").find("skin.png") is None


def test_declared_materials(tmp_path: Path) -> None:
    touch(tmp_path, "SKIN.jpg")
    model = load_text(tmp_path, MESH_SYSTEM)
    skin, plain = model.materials
    assert skin == Material(
        "skin", "skin.png", tmp_path / "SKIN.jpg", diffuse=(0.5, 0.25, 1.0), specular=(0.1, 0.2, 0.3), shininess=30.0
    )
    assert plain == Material("plain", None, None)
    assert [section.material for section in model.mesh.sections] == [0, 1]


def test_values_that_are_no_numbers_leave_the_defaults(tmp_path: Path) -> None:
    meta = "Ns=x,Kd=(1,2),Ks=(nan,0,0)"
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("<Meshes>", f'<Material name="stone" meta_data="{meta}"/><Meshes>')
    assert load_text(tmp_path, text).materials == (Material("stone", None, None),)


def test_values_out_of_range_are_limited(tmp_path: Path) -> None:
    meta = "Ns=1e9,Kd=(2,-1,0.5)"
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("<Meshes>", f'<Material name="stone" meta_data="{meta}"/><Meshes>')
    (material,) = load_text(tmp_path, text).materials
    assert (material.diffuse, material.shininess) == ((1.0, 0.0, 0.5), 1e4)


def test_legacy_sections_name_their_texture(tmp_path: Path) -> None:
    touch(tmp_path, "head_old.png", "BODY.TGA")
    model = load_text(tmp_path, LEGACY)
    head, body = model.materials
    # The head's own name is not there, but the artist's original path leads to an image of another type.
    assert (head.name, head.texture, head.texture_path) == ("head.tga", "head.tga", tmp_path / "head_old.png")
    assert (body.texture, body.texture_path) == ("body.tga", tmp_path / "BODY.TGA")


@pytest.mark.parametrize(
    ("material", "present", "texture", "found"),
    [
        ("a.png+lightmap.png+detail.dds", ["a.png", "lightmap.png"], "a.png", "a.png"),
        ("materials/wood_debris.xml", [], None, None),
        ("materials/wood_debris.xml", ["wood_debris.dds"], "wood_debris.xml", "wood_debris.dds"),
        ("C:\\art\\stone.jpg", [], "stone.jpg", None),
        ("plain", [], None, None),
    ],
)
def test_an_undeclared_material_is_a_texture(
    tmp_path: Path, material: str, present: list[str], texture: str | None, found: str | None
) -> None:
    touch(tmp_path, *present)
    model = load_text(tmp_path, mesh_text("0 0 0 1 0 0 0 1 0").replace('"stone"', f'"{material}"'))
    (built,) = model.materials
    assert (built.name, built.texture) == (material, texture)
    assert built.texture_path == (tmp_path / found if found else None)


def test_a_section_without_material_has_none(tmp_path: Path) -> None:
    model = load_text(tmp_path, mesh_text("0 0 0 1 0 0 0 1 0").replace('"stone"', '""'))
    assert model.materials == ()
    assert model.mesh.sections[0].material == -1


def test_sections_share_materials_and_the_first_of_a_name_counts(tmp_path: Path) -> None:
    section = '<MeshSection material="stone"><indexbuffer>0 1 2</indexbuffer></MeshSection>'
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("</Mesh>", section + "</Mesh>")
    declared = '<Material name="stone" meta_data="Ns=1"/><Material name="stone" meta_data="Ns=2"/>'
    assert [part.material for part in load_text(tmp_path, text).mesh.sections] == [0, 0]
    model = load_text(tmp_path, text.replace("<Meshes>", declared + "<Meshes>"))
    assert [part.material for part in model.mesh.sections] == [0, 0]
    assert [material.shininess for material in model.materials] == [1.0, 2.0]
