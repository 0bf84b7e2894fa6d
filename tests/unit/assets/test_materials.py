import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build import build_model, default_texture_origin, default_up_axis
from sinew.sim.assets.build_mesh import border_share
from sinew.sim.assets.info import info_text, model_info
from sinew.sim.assets.load import load_model
from sinew.sim.assets.materials import TextureFolder, parse_meta_data, unwrapped
from sinew.sim.assets.model import Bounds, Material
from tests.ezm_samples import LEGACY, MESH_SYSTEM, bone_text, load_text, mesh_text, read_text, skeleton_text


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


def test_meta_data() -> None:
    for text, expected in (
        ("diffuse=%20upBodyC.jpg%20", {"diffuse": "upBodyC.jpg"}),
        (
            "diffuse=%20crater.png%20,Ns=30,Ka=(0,0,0),Kd=(0.99,0.80,0.72),Ks=(0.09,0.09,0.09)",
            {"diffuse": "crater.png", "ns": "30", "ka": "(0,0,0)", "kd": "(0.99,0.80,0.72)", "ks": "(0.09,0.09,0.09)"},
        ),
        ("diffuse= crater.png ,Ns=3", {"diffuse": "crater.png", "ns": "3"}),
        ('diffuse="a b.png"', {"diffuse": "a b.png"}),
        ("diffuse=%20my%20skin.png%20", {"diffuse": "my%20skin.png"}),
        ("", {}),
        ("DIFFUSE=a.png,diffuse=b.png", {"diffuse": "a.png"}),
        ("Kd=(1,2,x=1", {"kd": "(1,2,x=1"}),
        ("a=1)),b=2", {"a": "1))", "b": "2"}),
    ):
        assert parse_meta_data(text) == expected


@given(st.text(max_size=40))
def test_any_meta_data_can_be_read(text: str) -> None:
    for value in parse_meta_data(text).values():
        assert value == unwrapped(value)


def test_lookup(tmp_path: Path) -> None:
    for recorded, present, found in (
        ("skin.png", ["skin.png", "skin.jpg"], "skin.png"),
        ("C:\\Art\\SKIN.PNG", ["skin.png"], "skin.png"),
        ("skin.tif", ["skin.jpg", "skin.tga"], "skin.jpg"),
        ("skin", ["skin.bmp"], "skin.bmp"),
        ("my%20skin.png", ["my skin.png"], "my skin.png"),
        ("my%20skin.png", ["my%20skin.png", "my skin.png"], "my%20skin.png"),
        ("skin.png", ["skin.txt", "skin2.png"], None),
        ("notes.txt", ["notes.txt"], None),
        ("../secret.png", ["secret.png"], "secret.png"),
        ("..", ["x.png"], None),
        ("\\\\server\\share\\skin.tga", ["skin.tga"], "skin.tga"),
        ("a/b\\c/skin.tga", ["skin.tga"], "skin.tga"),
        ("folder/", ["folder.png"], None),
        ("", ["x.png"], None),
    ):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        touch(folder, *present)
        assert TextureFolder(folder).find(recorded) == (folder / found if found else None)


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "skin.png").mkdir()
    assert TextureFolder(tmp_path).find("skin.png") is None
    assert TextureFolder(tmp_path / "missing").find("skin.png") is None


def test_declared_materials(tmp_path: Path) -> None:
    touch(tmp_path, "SKIN.jpg")
    model = load_text(tmp_path, MESH_SYSTEM)
    skin, plain = model.materials
    assert skin == Material(
        "skin", "skin.png", tmp_path / "SKIN.jpg", diffuse=(0.5, 0.25, 1.0), specular=(0.1, 0.2, 0.3), shininess=30.0,
        dielectric=(0.08 * 0.1, 0.08 * 0.2, 0.08 * 0.3),
    )  # fmt: skip
    assert plain == Material("plain", None, None)
    assert [section.material for section in model.mesh.sections] == [0, 1]


def test_values_out_of_range_are_limited_and_others_the_defaults(tmp_path: Path) -> None:
    meta = "Ns=1e9,Kd=(2,-1,0.5),Ks=(nan,0,0)"
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("<Meshes>", f'<Material name="stone" meta_data="{meta}"/><Meshes>')
    (material,) = load_text(tmp_path, text).materials
    assert material == Material("stone", None, None, diffuse=(1.0, 0.0, 0.5), shininess=1e4)


def test_legacy_sections_name_their_texture(tmp_path: Path) -> None:
    touch(tmp_path, "head_old.png", "BODY.TGA")
    model = load_text(tmp_path, LEGACY)
    head, body = model.materials
    # The head's own name is not there, but the artist's original path leads to an image of another type.
    assert (head.name, head.texture, head.texture_path) == ("head.tga", "head.tga", tmp_path / "head_old.png")
    assert (body.texture, body.texture_path) == ("body.tga", tmp_path / "BODY.TGA")


def test_an_undeclared_material_is_a_texture(tmp_path: Path) -> None:
    for material, present, texture, found in (
        ("a.png+lightmap.png+detail.dds", ["a.png", "lightmap.png"], "a.png", "a.png"),
        ("materials/wood_debris.xml", [], None, None),
        ("materials/wood_debris.xml", ["wood_debris.dds"], "wood_debris.xml", "wood_debris.dds"),
        ("C:\\art\\stone.jpg", [], "stone.jpg", None),
        ("plain", [], None, None),
    ):
        touch(tmp_path, *present)
        model = load_text(tmp_path, mesh_text("0 0 0 1 0 0 0 1 0").replace('"stone"', f'"{material}"'))
        (built,) = model.materials
        assert (built.name, built.texture) == (material, texture)
        assert built.texture_path == (tmp_path / found if found else None)


def test_sections_share_materials_and_the_first_of_a_name_counts(tmp_path: Path) -> None:
    section = '<MeshSection material="stone"><indexbuffer>0 1 2</indexbuffer></MeshSection>'
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("</Mesh>", section + "</Mesh>")
    declared = '<Material name="stone" meta_data="Ns=1"/><Material name="stone" meta_data="Ns=2"/>'
    assert [part.material for part in load_text(tmp_path, text).mesh.sections] == [0, 0]
    model = load_text(tmp_path, text.replace("<Meshes>", declared + "<Meshes>"))
    assert [part.material for part in model.mesh.sections] == [0, 0]
    assert [material.shininess for material in model.materials] == [1.0, 2.0]


def test_up_axis() -> None:
    for lo, hi, axis in (
        ((-29.31, -1.90, -7.66), (28.70, 72.54, 9.76), "Y"),
        ((-0.867, -0.254, -0.001), (0.867, 0.289, 1.995), "Z"),
        ((-0.25, 0.0, -1.3), (0.25, 1.8, 1.3), "Y"),  # an animal on four legs
        ((-1, 0, 0), (1, 1, 3), "Y"),  # touches the floor in both
        ((-1, -0.3, 0.04), (1, 0.7, 1.04), "Z"),
        ((-1, -0.3, 0.06), (1, 0.7, 1.06), "Y"),
        ((-1, -0.19, 0.0), (1, 0.81, 1.0), "Y"),
        ((0, 0, 0), (0, 0, 0), "Y"),
    ):
        assert default_up_axis(Bounds(np.array(lo, float), np.array(hi, float))) == axis


@pytest.mark.parametrize(
    ("name", "origin"),
    [("dude.fbx", "bottom"), ("C:\\A.FBX ", "bottom"), ("crater.obj", "top"), ("", "top"), ("fbx", "top")],
)
def test_texture_origin(name: str, origin: str) -> None:
    assert default_texture_origin(name) == origin


CUBE = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def sheet(columns: int) -> np.ndarray:
    index = np.arange(columns * columns).reshape(columns, columns)
    a, b, c, d = index[:-1, :-1].ravel(), index[:-1, 1:].ravel(), index[1:, :-1].ravel(), index[1:, 1:].ravel()
    return np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])


def test_a_closed_surface_has_no_border() -> None:
    assert border_share(CUBE) == 0.0


def test_the_border_of_a_sheet_is_counted_exactly() -> None:
    columns = 5
    edges = 2 * columns * (columns - 1) + (columns - 1) ** 2
    assert border_share(sheet(columns)) == pytest.approx(4 * (columns - 1) / edges)


def test_triangles_without_area_do_not_count() -> None:
    assert border_share(np.concatenate([CUBE, [[0, 0, 1], [2, 2, 2]]])) == 0.0
    assert border_share(np.array([[1, 1, 1]])) == 0.0


def test_a_cape_is_open_and_bodies_are_not(assets) -> None:
    clothed = load_model(assets / "ezm" / "clothsim_zup" / "ClothSim.ezm").mesh.sections
    assert [section.is_open for section in clothed] == [False, True, False]
    dude = load_model(assets / "ezm" / "dude" / "dude.ezm").mesh.sections
    assert not any(section.is_open for section in dude)


def info(folder: Path, text: str) -> dict[str, Any]:
    raw = read_text(folder, text)
    return model_info(raw, build_model(raw))


def test_facts_of_the_sample(tmp_path: Path) -> None:
    (tmp_path / "skin.jpg").write_bytes(b"")
    found = json.loads(json.dumps(info(tmp_path, MESH_SYSTEM)))
    assert found["path"] == str(tmp_path / "model.ezm")
    assert {key: found[key] for key in ("format", "dialect", "up_axis", "texture_origin")} == {
        "format": "ezm", "dialect": "MeshSystem", "up_axis": "Y", "texture_origin": "bottom",
    }  # fmt: skip
    assert (found["vertex_count"], found["triangle_count"], found["influence_max"]) == (4, 2, 3)
    assert found["influence_counts"] == [2, 1, 1]
    assert found["bounds"] == {"min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0]}
    assert found["submeshes"] == [
        {"name": "skin", "material": "skin", "triangle_count": 1},
        {"name": "plain", "material": "plain", "triangle_count": 1},
    ]
    assert [(item["name"], item["texture"], item["texture_found"]) for item in found["materials"]] == [
        ("skin", "skin.png", True), ("plain", None, False),
    ]  # fmt: skip
    assert found["bones"] == [
        {"name": "root", "parent": -1, "weighted_vertex_count": 3},
        {"name": "arm", "parent": 0, "weighted_vertex_count": 3},
        {"name": "hand", "parent": 1, "weighted_vertex_count": 1},
    ]
    (clip,) = found["clips"]
    assert (clip["name"], clip["frame_count"]) == ("wave", 3)
    assert (clip["duration"], clip["frame_step"]) == (pytest.approx(0.04), pytest.approx(0.02))
    assert found["warnings"] == []


def test_the_text_says_the_same(tmp_path: Path) -> None:
    lines = info_text(info(tmp_path, MESH_SYSTEM)).splitlines()
    assert lines[0] == str(tmp_path / "model.ezm")
    assert "  format      EZMesh text, MeshSystem dialect" in lines
    assert "  influences  2 with 1, 1 with 2, 1 with 3" in lines
    assert "Bones (3)" in lines
    assert info_text(info(tmp_path, "<Mesh/>")).endswith("Warnings (1)\n  The model has no triangles.")
    bones = lines[lines.index("Bones (3)") + 2 :]
    assert [line[2 : 2 + 2 * depth + 4].rstrip() for depth, line in enumerate(bones[:3])] == [
        "root",
        "  arm",
        "    hand",
    ]


def test_the_table_of_bones_is_a_tree(tmp_path: Path) -> None:
    bones = [
        ("hips", None),
        ("leg_l", "hips"),
        ("spine", "hips"),
        ("foot_l", "leg_l"),
        ("head", "spine"),
        ("prop", None),
    ]
    elements = "".join(bone_text(name, *([parent] if parent else [])) for name, parent in bones)
    rows = info_text(info(tmp_path, skeleton_text(elements))).split("Bones (6)")[1].splitlines()[2:]
    assert [row[2:].split("  0")[0].rstrip(" 0123456789") for row in rows] == [
        "hips", "  leg_l", "    foot_l", "  spine", "    head", "prop",
    ]  # fmt: skip


def test_links_lead_no_texture_out_of_the_folder(tmp_path: Path) -> None:
    private, model = tmp_path / "private", tmp_path / "model"
    for folder in (private, model, model / "shared"):
        folder.mkdir()
    touch(private, "secret.png", "other.png")
    touch(model / "shared", "inside.png")
    (model / "linked.png").symlink_to(private / "secret.png")
    (model / "chain.png").symlink_to(model / "linked.png")
    (model / "inside.png").symlink_to(model / "shared" / "inside.png")
    (model / "textures").symlink_to(private)
    (tmp_path / "other way").symlink_to(model)
    for root in (model, tmp_path / "other way"):
        assert TextureFolder(root).find("linked.png") is None
        assert TextureFolder(root).find("chain.png") is None
        assert TextureFolder(root).find("inside.png") == root / "inside.png"
        assert TextureFolder(root, "shared").find("inside.png") == root / "shared" / "inside.png"
        assert TextureFolder(root, "textures").find("other.png") is None
