"""Both dialects, element names, order, comments, and what is not drawn."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.raw import ModelError
from tests.ezm_samples import LEGACY, MESH_SYSTEM, load_text, mesh_text, read_text

BUFFER = '<vertexbuffer count="3" ctype="fff" semantic="position">0 0 0 1 0 0 0 1 0</vertexbuffer>'
INDICES = '<indexbuffer triangle_count="1">0 1 2</indexbuffer>'


def test_mesh_system(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    assert (raw.format, raw.dialect, raw.asset_name, raw.asset_info) == ("ezm", "MeshSystem", "sample.fbx", "null")
    assert [bone.name for bone in raw.skeletons[0].bones] == ["root", "arm", "hand"]
    assert [bone.parent for bone in raw.skeletons[0].bones] == [-1, 0, 1]
    assert [track.name for track in raw.clips[0].tracks] == ["arm", "root"]
    assert [track.scales is None for track in raw.clips[0].tracks] == [False, True]
    assert [(section.material, section.buffer) for section in raw.meshes[0].sections] == [("skin", 0), ("plain", 0)]
    assert raw.warnings == []


def test_legacy(tmp_path: Path) -> None:
    raw = read_text(tmp_path, LEGACY)
    assert (raw.format, raw.dialect) == ("ezm", "legacy")
    (mesh,) = raw.meshes
    assert [buffer.count for buffer in mesh.buffers] == [3, 4]
    assert [section.material for section in mesh.sections] == ["head.tga", "body.tga"]
    assert [section.info for section in mesh.sections] == ["E:\\soldier\\head_old.tga", ""]
    assert list(mesh.buffers[0].attributes)[2:4] == ["texcoord1", "texcoord2"]
    np.testing.assert_array_equal(raw.skeletons[0].bones[1].scale, [1, 1, 1])


def test_legacy_buffers_are_joined_in_file_order(tmp_path: Path) -> None:
    model = load_text(tmp_path, LEGACY)
    assert model.mesh.vertex_count == 7
    assert model.mesh.triangles.tolist() == [[0, 1, 2], [5, 3, 4]]
    np.testing.assert_array_equal(model.mesh.positions[6], [9, 9, 9])
    assert [material.texture for material in model.materials] == ["head.tga", "body.tga"]
    assert model.default_texture_origin == "top"


def test_tracks_are_matched_by_name_not_by_order(tmp_path: Path) -> None:
    clip = load_text(tmp_path, LEGACY).clips[0]
    # "tip" comes first among the tracks and second among the joints.
    np.testing.assert_array_equal(clip.key(0).positions, [[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(clip.key(1).positions, [[0, 0, 0], [0, 1, 1]])


def test_names_of_elements_and_attributes_have_no_case(tmp_path: Path) -> None:
    upper = load_text(tmp_path, MESH_SYSTEM.replace("vertexbuffer", "VertexBuffer").replace("Bone", "BONE"), "a.ezm")
    swapped = load_text(tmp_path, MESH_SYSTEM.replace("<Mesh ", "<mESH ").replace("</Mesh>", "</mESH>").replace(
        "ctype=", "CType=").replace("semantic=", "SEMANTIC="), "b.ezm")  # fmt: skip
    plain = load_text(tmp_path, MESH_SYSTEM)
    for model in (upper, swapped):
        np.testing.assert_array_equal(model.mesh.positions, plain.mesh.positions)
        assert model.skeleton is not None
        assert model.skeleton.names == ("root", "arm", "hand")


def test_comments_anywhere_are_ignored(tmp_path: Path) -> None:
    text = mesh_text("0 0 <!-- 5 5 5 -->0 1<!-- x --> 0 0 0<!---->1 0".replace("0<!---->1", "0 <!---->1"))
    text = "<!-- before -->" + text.replace("<Meshes>", "<!-- <Mesh/> --><Meshes>") + "<!-- after -->"
    raw = read_text(tmp_path, text)
    np.testing.assert_array_equal(raw.meshes[0].buffers[0].attributes["position"], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_a_comment_within_a_number_joins_its_parts(tmp_path: Path) -> None:
    raw = read_text(tmp_path, mesh_text("0 0 0 1 0 0 0 1<!-- -->.5 0"))
    assert raw.meshes[0].buffers[0].attributes["position"][2, 1] == 1.5


def test_character_data_sections_are_text(tmp_path: Path) -> None:
    raw = read_text(tmp_path, mesh_text("0 0 0 <![CDATA[1 0 0]]> 0 1 0"))
    assert raw.meshes[0].buffers[0].count == 3


@pytest.mark.parametrize(
    "prefix",
    [b"", b"\xef\xbb\xbf", b'<?xml version="1.0"?>\r\n', b"\r\n  ", b' <?xml version="1.0" encoding="UTF-8"?>'],
)
def test_beginnings(tmp_path: Path, prefix: bytes) -> None:
    assert load_text(tmp_path, prefix + mesh_text("0 0 0 1 0 0 0 1 0").encode()).mesh.triangle_count == 1


def test_names_beyond_ascii(tmp_path: Path) -> None:
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace('name="m"', 'name="Körper"')
    assert read_text(tmp_path, text).meshes[0].name == "Körper"
    raw = read_text(tmp_path, text.encode("latin-1"))
    assert raw.meshes[0].name == "Körper"
    assert raw.warnings == ["The text is neither ASCII nor UTF-8; it was read as Windows-1252."]


def test_unknown_elements_are_skipped_and_wrappers_looked_into(tmp_path: Path) -> None:
    mesh = f'<Mesh name="m">{BUFFER}<Note>7</Note>{INDICES}</Mesh>'
    text = f'<MeshSystem><Future><x y="1"/></Future><Group>{mesh}</Group></MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.mesh.triangle_count == 1
    assert model.warnings == ()


def test_an_unknown_element_within_a_payload_is_skipped(tmp_path: Path) -> None:
    raw = read_text(tmp_path, mesh_text("0 0 0 <note>8 8</note> 1 0 0 0 1 0"))
    assert raw.meshes[0].buffers[0].count == 3
    assert raw.warnings == []


def test_collision_shapes_do_not_leak(tmp_path: Path) -> None:
    shape = (
        '<MeshCollisionRepresentations count="1"><MeshCollisionRepresentation name="c" info="" count="1">'
        '<MeshCollision name="root" type="CONVEX"><MeshCollisionConvex>'
        '<vertexbuffer count="1" ctype="fff" semantic="position">7 7 7</vertexbuffer>'
        '<indexbuffer triangle_count="1">0 0 0</indexbuffer>'
        "</MeshCollisionConvex></MeshCollision></MeshCollisionRepresentation></MeshCollisionRepresentations>"
    )
    mesh = f'<Mesh name="m">{BUFFER}{shape}<MeshSection>{INDICES}</MeshSection></Mesh>'
    text = f"<MeshSystem>{shape}{mesh}{shape}</MeshSystem>"
    model = load_text(tmp_path, text)
    assert model.mesh.triangles.tolist() == [[0, 1, 2]]
    assert model.mesh.vertex_count == 3
    np.testing.assert_array_equal(model.mesh.bounds.hi, [1, 1, 0])


def test_tetrahedra_and_empty_groups_are_skipped(tmp_path: Path) -> None:
    groups = "".join(f'<{name} count="0"/>' for name in ("Textures", "TetraMeshes", "UserData", "UserBinaryData"))
    text = mesh_text("0 0 0 1 0 0 0 1 0").replace("<Meshes>", groups + "<TetraMesh>not numbers</TetraMesh><Meshes>")
    assert load_text(tmp_path, text).mesh.triangle_count == 1


def test_several_meshes(tmp_path: Path) -> None:
    second = BUFFER.replace("0 0 0 1 0 0", "0 0 5 1 0 5")
    meshes = f'<Mesh name="a">{BUFFER}{INDICES}</Mesh><Mesh name="b">{second}{INDICES}{INDICES}</Mesh>'
    text = f"<MeshSystem>{meshes}</MeshSystem>"
    model = load_text(tmp_path, text)
    assert model.mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5], [3, 4, 5]]
    assert [section.name for section in model.mesh.sections] == ["a", "b", "b"]
    assert [section.material for section in model.mesh.sections] == [-1, -1, -1]


def test_the_order_of_elements_does_not_matter(tmp_path: Path) -> None:
    before = load_text(tmp_path, MESH_SYSTEM)
    groups = {}
    for name in ("Skeletons", "Animations", "Materials", "Meshes"):
        start, end = MESH_SYSTEM.index(f"<{name} "), MESH_SYSTEM.index(f"</{name}>") + len(name) + 3
        groups[name] = MESH_SYSTEM[start:end]
    turned = "".join(reversed(groups.values()))
    after = load_text(tmp_path, f'<MeshSystem asset_name="sample.fbx">{turned}</MeshSystem>')
    np.testing.assert_array_equal(after.mesh.triangles, before.mesh.triangles)
    assert after.skin is not None
    assert before.skin is not None
    np.testing.assert_array_equal(after.skin.joints, before.skin.joints)
    assert [clip.name for clip in after.clips] == ["wave"]


def test_sections_may_come_before_the_buffer(tmp_path: Path) -> None:
    text = f'<MeshSystem><Mesh name="m"><MeshSection material="a">{INDICES}</MeshSection>{BUFFER}</Mesh></MeshSystem>'
    assert load_text(tmp_path, text).mesh.triangles.tolist() == [[0, 1, 2]]
    section = f"<MeshSection>{INDICES}{BUFFER}</MeshSection>"
    own = f'<Mesh name="m">{section}{section}</Mesh>'
    assert load_text(tmp_path, own).mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_indices_refer_to_the_latest_buffer(tmp_path: Path) -> None:
    first, second = f"<MeshSection>{INDICES}</MeshSection>", f"<MeshSection>{INDICES}{INDICES}</MeshSection>"
    text = f"<Mesh>{BUFFER}{first}{BUFFER}{second}</Mesh>"
    assert load_text(tmp_path, text).mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5], [3, 4, 5]]


def test_a_mesh_without_buffer_uses_the_one_before(tmp_path: Path) -> None:
    text = f'<MeshSystem><Mesh name="a">{BUFFER}</Mesh><Mesh name="b">{INDICES}</Mesh></MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.mesh.vertex_count == 3
    assert model.mesh.triangles.tolist() == [[0, 1, 2]]
    assert model.warnings == ("The sections of mesh 'b' (mesh 2) belong to the vertexbuffer of an earlier mesh.",)


def test_indices_without_any_buffer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"indexbuffer of section 's' \(mesh 1\): there is no vertexbuffer"):
        read_text(tmp_path, f'<MeshSystem><Mesh><MeshSection material="s">{INDICES}</MeshSection></Mesh></MeshSystem>')


@pytest.mark.parametrize(
    "text",
    [
        "<SceneGraph><Mesh/></SceneGraph>",
        "<MeshSystem/>",
        '<Mesh><MeshSection material="a"/></Mesh>',
        '<Mesh><vertexbuffer count="0" ctype="fff" semantic="position"></vertexbuffer></Mesh>',
        '<Mesh><vertexbuffer count="0"/><indexbuffer count="0"/></Mesh>',
    ],
)
def test_a_model_without_geometry_loads_with_a_warning(tmp_path: Path, text: str) -> None:
    model = load_text(tmp_path, text)
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (0, 0)
    assert "The model has no triangles." in model.warnings
    np.testing.assert_array_equal(model.mesh.bounds.size, [0, 0, 0])
    assert model.default_up_axis == "Y"


def test_triangles_outside_a_mesh_are_a_warning(tmp_path: Path) -> None:
    raw = read_text(tmp_path, f"<MeshSystem>{BUFFER}</MeshSystem>")
    assert raw.warnings == ["A vertexbuffer outside a mesh is ignored."]


def test_warnings_are_limited(tmp_path: Path) -> None:
    meshes = "".join(f'<Mesh name="{number}"><MeshSection/></Mesh>' for number in range(140))
    warnings = load_text(tmp_path, f"<MeshSystem>{meshes}</MeshSystem>").warnings
    assert len(warnings) == 101
    assert warnings[-1] == "41 more warnings are not shown."
