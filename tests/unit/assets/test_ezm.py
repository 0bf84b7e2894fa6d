import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build_skeleton import parents_by_index, parents_by_name
from sinew.sim.assets.clip import DEFAULT_STEP, frame_step
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.raw import ModelError, RawModel
from tests.ezm_samples import LEGACY, MESH_SYSTEM, bone_text, ezb_bytes, load_text, mesh_text, read_text, skeleton_text

BUFFER = '<vertexbuffer count="3" ctype="fff" semantic="position">0 0 0 1 0 0 0 1 0</vertexbuffer>'
INDICES = '<indexbuffer triangle_count="1">0 1 2</indexbuffer>'


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


def test_names_of_elements_and_attributes_have_no_case(tmp_path: Path) -> None:
    upper = load_text(tmp_path, MESH_SYSTEM.replace("vertexbuffer", "VertexBuffer").replace("Bone", "BONE"), "a.ezm")
    swapped = load_text(tmp_path, MESH_SYSTEM.replace("<Mesh ", "<mESH ").replace("</Mesh>", "</mESH>").replace(
        "ctype=", "CType=").replace("semantic=", "SEMANTIC="), "b.ezm")  # fmt: skip
    plain = load_text(tmp_path, MESH_SYSTEM)
    for model in (upper, swapped):
        np.testing.assert_array_equal(model.mesh.positions, plain.mesh.positions)
        assert model.skeleton.names == ("root", "arm", "hand")


def test_comments_anywhere_are_ignored(tmp_path: Path) -> None:
    text = mesh_text("0 0 <!-- 5 5 5 -->0 1<!-- x --> 0 0 0<!---->1 0".replace("0<!---->1", "0 <!---->1"))
    text = "<!-- before -->" + text.replace("<Meshes>", "<!-- <Mesh/> --><Meshes>") + "<!-- after -->"
    raw = read_text(tmp_path, text)
    np.testing.assert_array_equal(raw.meshes[0].buffers[0].attributes["position"], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


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


def test_unknown_elements_are_skipped_and_those_within_them_are_read(tmp_path: Path) -> None:
    raw = read_text(tmp_path, mesh_text("0 0 0 <note>8 8</note> 1 0 <![CDATA[0]]> 0 1<!-- -->.5 0"))
    assert raw.meshes[0].buffers[0].attributes["position"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1.5, 0]]
    assert raw.warnings == []
    section = f'<MeshSection material="a">{INDICES}</MeshSection>'
    groups = "".join(f'<{name} count="0"/>' for name in ("Textures", "TetraMeshes", "UserData", "UserBinaryData"))
    mesh = f'{groups}<Group><Mesh name="m">{section}{BUFFER}<Note>7</Note></Mesh></Group>'
    text = f'<MeshSystem>{BUFFER}<Future><x y="1"/></Future><TetraMesh>not numbers</TetraMesh>{mesh}</MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.mesh.triangles.tolist() == [[0, 1, 2]]
    assert model.warnings == ("A vertexbuffer outside a mesh is ignored.",)
    section = f"<MeshSection>{INDICES}{BUFFER}</MeshSection>"
    own = f'<Mesh name="m">{section}{section}</Mesh>'
    assert load_text(tmp_path, own).mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5]]


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


def test_a_model_without_geometry_loads_with_a_warning(tmp_path: Path) -> None:
    for text in (
        "<SceneGraph><Mesh/></SceneGraph>",
        "<MeshSystem/>",
        '<Mesh><MeshSection material="a"/></Mesh>',
        '<Mesh><vertexbuffer count="0" ctype="fff" semantic="position"></vertexbuffer></Mesh>',
        '<Mesh><vertexbuffer count="0"/><indexbuffer count="0"/></Mesh>',
    ):
        model = load_text(tmp_path, text)
        assert (model.mesh.vertex_count, model.mesh.triangle_count) == (0, 0)
        assert "The model has no triangles." in model.warnings
        np.testing.assert_array_equal(model.mesh.bounds.size, [0, 0, 0])
        assert model.default_up_axis == "Y"


def test_warnings_are_limited(tmp_path: Path) -> None:
    meshes = "".join(f'<Mesh name="{number}"><MeshSection/></Mesh>' for number in range(140))
    warnings = load_text(tmp_path, f"<MeshSystem>{meshes}</MeshSystem>").warnings
    assert len(warnings) == 101
    assert warnings[-1] == "41 more warnings are not shown."


def binary(folder: Path, data: bytes) -> RawModel:
    return read_text(folder, data, "model.ezb")


def failure(folder: Path, data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        binary(folder, data)
    return str(caught.value)


def test_content_equals_the_text(tmp_path: Path) -> None:
    text = read_text(tmp_path, MESH_SYSTEM)
    found = binary(tmp_path, ezb_bytes(text))
    assert (found.format, found.dialect, found.asset_name) == ("ezb", "MeshSystem", "sample.fbx")
    assert found.warnings == []
    assert found.materials == text.materials
    for theirs, ours in zip(found.skeletons[0].bones, text.skeletons[0].bones, strict=True):
        assert (theirs.name, theirs.parent) == (ours.name, ours.parent)
        np.testing.assert_allclose(theirs.orientation, ours.orientation, atol=1e-7)
        np.testing.assert_array_equal(theirs.scale, ours.scale)
    for theirs, ours in zip(found.clips[0].tracks, text.clips[0].tracks, strict=True):
        assert theirs.name == ours.name
        np.testing.assert_array_equal(theirs.positions, ours.positions)
        np.testing.assert_allclose(theirs.orientations, ours.orientations, atol=1e-7)
    buffer, original = found.meshes[0].buffers[0], text.meshes[0].buffers[0]
    assert set(buffer.attributes) == set(original.attributes)
    for name, values in original.attributes.items():
        assert buffer.attributes[name].dtype == values.dtype
        np.testing.assert_array_equal(buffer.attributes[name], values)
    for theirs, ours in zip(found.meshes[0].sections, text.meshes[0].sections, strict=True):
        assert theirs.material == ours.material
        np.testing.assert_array_equal(theirs.triangles, ours.triangles)


def test_every_vertex_field(tmp_path: Path) -> None:
    names = ["position", "normal", "color", *(f"texcoord{number}" for number in range(1, 5)), "tangent", "binormal",
             "blendweights", "blendindices", "radius", *(f"interp{number}" for number in range(1, 9))]  # fmt: skip
    ctype = "fff fff x4 ff ff ff ff fff fff ffff hhhh f" + " ffff" * 8
    width = sum(len(entry) for entry in ctype.replace("x4", "x").split())
    rows = ",".join(" ".join(str(vertex * width + column) for column in range(width)) for vertex in range(3))
    text = read_text(tmp_path, mesh_text(rows, ctype=ctype, semantic=" ".join(names)))
    found = binary(tmp_path, ezb_bytes(text)).meshes[0].buffers[0]
    assert len(found.attributes) == 20
    for name, values in text.meshes[0].buffers[0].attributes.items():
        np.testing.assert_array_equal(found.attributes[name], values)


def test_a_first_set_that_repeats_u_gives_way_to_the_second(tmp_path: Path) -> None:
    for first, second, expected, warned in (
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.1 7 0.2 8 0.3 9", [7, 8, 9], True),
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.1 0.1 0.2 0.2 0.3 0.3", [0.1, 0.2, 0.3], False),
        ("0.1 0.1 0.2 0.2 0.3 0.4", "0.1 7 0.2 8 0.3 9", [0.1, 0.2, 0.4], False),
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.5 7 0.2 8 0.3 9", [0.1, 0.2, 0.3], False),
    ):
        pairs = zip(first.split()[::2], first.split()[1::2], second.split()[::2], second.split()[1::2], strict=True)
        rows = ",".join(f"{vertex} 0 0 " + " ".join(pair) for vertex, pair in enumerate(pairs))
        text = read_text(tmp_path, mesh_text(rows, ctype="fff ff ff", semantic="position texcoord1 texcoord2"))
        model = load_text(tmp_path, ezb_bytes(text), "model.ezb")
        np.testing.assert_allclose(model.mesh.texcoords[:, 1], expected, atol=1e-7)
        assert len(model.warnings) == warned


@pytest.fixture
def sample_bytes(tmp_path: Path) -> bytes:
    return ezb_bytes(read_text(tmp_path, MESH_SYSTEM))


def test_every_truncation_is_refused(tmp_path: Path, sample_bytes: bytes) -> None:
    path = tmp_path / "cut.ezb"
    for length in range(14, len(sample_bytes)):
        path.write_bytes(sample_bytes[:length])
        with pytest.raises(ModelError):
            read_raw(path)


def test_every_part_is_checked_before_use(tmp_path: Path, sample_bytes: bytes) -> None:
    flags, triangle, corner = (
        struct.pack(">2I", 0b1000001111, 4), struct.pack(">3I", 0, 2, 3), struct.pack(">6f", 1, 1, 0, 0, 0, 1),
    )  # fmt: skip
    for count in (9000, 2**31, 2**32 - 1):
        for name, skipped, line in (
            (b"rig", 0, "bone count of skeleton 1: "), (b"wave", 0, "track count of animation 1: "),
            (b"rgba", 0, "tetrahedral mesh count: must be 0"),
        ):  # fmt: skip
            at = sample_bytes.index(name) + len(name) + skipped
            assert line in failure(tmp_path, sample_bytes[:at] + struct.pack(">I", count) + sample_bytes[at + 4 :])
    for part, changed, line in (
        (flags, struct.pack(">2I", 0b1000001111, 10_000_000), "vertices of mesh 1: needs 600000000 bytes"),
        (flags, struct.pack(">2I", 0x80000001, 4), "vertex flags of mesh 1: 0x80000001 has unknown bits"),
        (flags, struct.pack(">2I", 2, 4), "vertex flags of mesh 1: there are no positions"),
        (
            triangle,
            struct.pack(">3I", 0, 2, 9),
            "triangles of section 'plain' (mesh 1): vertex index 9 is out of range",
        ),
        (corner, struct.pack(">6f", np.nan, 1, 0, 0, 0, 1), "vertices of mesh 'body': position 2 has the unusable"),
    ):
        assert line in failure(tmp_path, sample_bytes.replace(part, changed, 1))
    assert "collision representation count: must be 0, not 6" in failure(
        tmp_path, sample_bytes[:-20] + struct.pack(">I", 6) + sample_bytes[-16:]
    )
    found = binary(tmp_path, sample_bytes.replace(b"body", b"b\xffdy") + b"abc")
    assert found.meshes[0].name == "b\ufffddy"
    assert found.warnings == ["3 bytes after the end of the model are ignored."]


def test_parents_are_checked(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.skeletons[0].bones[1].parent = 77
    raw.skeletons[0].bones[2].parent = 2
    found = binary(tmp_path, ezb_bytes(raw))
    assert [bone.parent for bone in found.skeletons[0].bones] == [-1, -1, -1]
    assert found.warnings == [
        "Joint 'arm': parent 77 does not exist; it becomes a root.",
        "Joint 'hand' is its own parent; it becomes a root.",
    ]


TWO = bone_text("a") + bone_text("b", "a", "0 1 0")
STILL = "0 0 0 0 0 0 1 "


def track(name: str, payload: str, count: int | str, extra: str = "") -> str:
    return f'<AnimTrack name="{name}" count="{count}" {extra}>{payload}</AnimTrack>'


def test_what_a_bone_does_not_say_is_the_default_and_an_unknown_parent_makes_a_root(tmp_path: Path) -> None:
    bones = bone_text("a", "ghost") + bone_text("b", "A") + bone_text("c", "c")
    model = load_text(tmp_path, skeleton_text(bones))
    assert model.skeleton.parents.tolist() == [-1, -1, -1]
    assert model.warnings == (
        "Joint 'a': parent 'ghost' does not exist; it becomes a root.",
        "Joint 'b': parent 'A' does not exist; it becomes a root.",
        "Joint 'c' is its own parent; it becomes a root.",
    )
    assert parents_by_name(["a", "a", "b"], [None, "a", "a"]) == ([-1, 0, 0], [])
    bones = '<Bone name="a" orientation="0 0 0 0"/><Bone name="b" orientation="0,0,3,4"/>'
    first, second = read_text(tmp_path, skeleton_text(bones)).skeletons[0].bones
    assert (first.position.tolist(), first.scale.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert first.orientation.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(second.orientation, [0, 0, 0.6, 0.8])


def test_a_cycle_is_broken(tmp_path: Path) -> None:
    bones = bone_text("a", "c") + bone_text("b", "a") + bone_text("c", "b") + bone_text("d", "c")
    model = load_text(tmp_path, skeleton_text(bones))
    assert model.skeleton.parents.tolist() == [-1, 0, 1, 2]
    assert model.warnings == ("Joint 'a' is its own ancestor; it becomes a root.",)


@given(st.lists(st.integers(-1, 30), max_size=31))
def test_every_hierarchy_ends_at_a_root(indices: list[int]) -> None:
    names = [str(number) for number in range(len(indices))]
    parents, warnings = parents_by_index(names, indices)
    for joint in range(len(parents)):
        for _ in range(len(parents)):
            joint = parents[joint] if joint >= 0 else joint
        assert joint == -1
    changed = [new for new, old in zip(parents, indices, strict=True) if new != old]
    assert changed == [-1] * len(warnings)


def test_equal_and_missing_names_become_unique(tmp_path: Path) -> None:
    bones = bone_text("a") + bone_text("a", "a") + bone_text("") + bone_text("a (2)") + bone_text("bone 3")
    model = load_text(tmp_path, skeleton_text(bones))
    assert len(set(model.skeleton.names)) == 5
    assert model.skeleton.names[0] == "a"
    assert model.skeleton.names[3:] == ("a (2)", "bone 3")
    assert "The bone name 'a' is used more than once." in model.warnings


def test_scales_that_multiply_beyond_all_bounds_are_refused(tmp_path: Path) -> None:
    chain = "".join(
        f'<Bone name="{number}" parent="{number - 1}" scale="1e12 1 1" position="1 1 1"/>' for number in range(40)
    )
    with pytest.raises(ModelError, match="its transform is beyond all bounds"):
        load_text(tmp_path, skeleton_text(chain))


def test_a_bind_scale_of_zero_is_taken_for_one(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text('<Bone name="flat" scale="1 0 1"/>'))
    np.testing.assert_array_equal(model.skeleton.bind_scales, [[1, 1, 1]])
    assert model.warnings == ("Bone 'flat' has a bind scale of zero, which was taken for 1.",)


def test_several_skeletons_become_one_list_of_joints(tmp_path: Path) -> None:
    skeletons = (
        f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{bone_text("c")}{bone_text("a", "c")}</Skeleton>'
    )
    vertices = "0 0 0 1 1 0 0 1 0 1 0 1"
    layout = 'count="3" ctype="fff h" semantic="position blendindices"'
    mesh = f'<vertexbuffer {layout}>{vertices}</vertexbuffer><indexbuffer count="1">0 1 2</indexbuffer>'
    text = f'<MeshSystem>{skeletons}<Mesh skeleton="null">{mesh}</Mesh><Mesh skeleton="two">{mesh}</Mesh></MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.skeleton.names == ("a", "b", "c", "a (2)")
    assert model.skeleton.parents.tolist() == [-1, 0, -1, 2]
    # The first mesh follows the first skeleton, the second the one it names.
    assert model.skin.joints[:, 0].tolist() == [1, 1, 1, 3, 3, 3]


def test_a_track_drives_the_joint_of_its_name_in_each_skeleton(tmp_path: Path) -> None:
    skeletons = f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{TWO}</Skeleton>'
    motion = f'<Animation duration="1" dtime="1">{track("b", "5 0 0 0 0 0 1 6 0 0 0 0 0 1", 2)}</Animation>'
    clip = load_text(tmp_path, f"<MeshSystem>{skeletons}{motion}</MeshSystem>").clips[0]
    np.testing.assert_array_equal(clip.key(1).positions, [[0, 0, 0], [6, 0, 0], [0, 0, 0], [6, 0, 0]])


def test_the_number_of_tokens_decides_about_scale(tmp_path: Path) -> None:
    scaled = STILL + "1 1 1 "
    for payload, extra, has_scale in (
        (STILL * 2, 'has_scale="true"', False), (STILL * 2, 'has_scale="yes"', False),
        (scaled * 2, 'has_scale="false"', True), (scaled * 2, "", True), (scaled * 2, 'HAS_SCALE="TRUE"', True),
    ):  # fmt: skip
        tracks = track("a", payload, 2, extra) + track("b", STILL, 1)
        raw = read_text(tmp_path, skeleton_text(TWO, tracks=tracks))
        assert [found.scales is not None for found in raw.clips[0].tracks] == [has_scale, False]
        assert raw.warnings == []


def test_tracks_that_cannot_be_used(tmp_path: Path) -> None:
    for payload, count, reason in (
        (STILL, 2, "AnimTrack 'a' of animation 'a': holds 7 numbers, 2 poses of 7 need 14"),
        ("", 10_000_000, "AnimTrack 'a' of animation 'a': holds 0 numbers"),
        (STILL, -1, "AnimTrack 'a' of animation 'a': count '-1' is not a usable number"),
        ("0 0 x 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': 'x' is not a number"),
        ("0 0 nan 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': pose 0 has the unusable value nan"),
    ):
        with pytest.raises(ModelError) as caught:
            read_text(tmp_path, skeleton_text(TWO, tracks=track("a", payload, count)))
        assert reason in str(caught.value)


def test_tracks_of_different_length_and_tracks_that_drive_nothing(tmp_path: Path) -> None:
    tracks = track("ghost", STILL, 1) + track("a", STILL + "0 0 1 0 0 0 1" + " 0 0 2 0 0 0 1", 3)
    tracks += track("b", "7 0 0 0 0 0 1", 1) + track("a", "9 9 9 0 0 0 1", 1) + track("b", "", 0)
    model = load_text(tmp_path, skeleton_text(TWO, tracks=tracks, animation='name="x" duration="0.2" dtime="0.1"'))
    clip = model.clips[0]
    assert len(clip.key_times) == 3
    np.testing.assert_array_equal(clip.key(2).positions, [[0, 0, 2], [7, 0, 0]])
    assert set(model.warnings) == {
        "Animation 'x': the track of 'b' is short; its last pose holds.",
        "Animation 'x': no joint is called 'ghost'; its track is ignored.",
        "Animation 'x': a second track for 'a' is ignored.",
        "Animation 'x': a second track for 'b' is ignored.",
    }


def test_several_clips_get_unique_names(tmp_path: Path) -> None:
    animation = f'<Animation name="x" duration="1" dtime="1">{track("a", STILL * 2, 2)}</Animation>'
    text = skeleton_text(TWO).replace("<Meshes>", animation * 2 + animation.replace('"x"', '""') + "<Meshes>")
    assert [clip.name for clip in load_text(tmp_path, text).clips] == ["x", "x (2)", "clip 3"]


def test_animations_that_cannot_play_are_left_out(tmp_path: Path) -> None:
    empty = load_text(tmp_path, skeleton_text(TWO, tracks=track("a", "", 0)))
    assert empty.clips == ()
    assert empty.warnings == ("Animation 'a' has no poses and is ignored.",)
    static = load_text(tmp_path, skeleton_text("", tracks=track("a", STILL, 1)))
    assert static.clips == ()
    assert static.warnings == ("Animations without a skeleton are ignored.",)


def test_filling_in_poses_may_not_exhaust_memory(tmp_path: Path) -> None:
    bones = "".join(bone_text(str(number)) for number in range(4000))
    with pytest.raises(ModelError, match="Animations: need 4000000 poses for 4000 joints, the file holds 1000"):
        load_text(tmp_path, skeleton_text(bones, tracks=track("0", STILL * 1000, 1000)))
    many = skeleton_text(bones).replace(
        "<Meshes>", f'<Animation name="x">{track("0", STILL, 1)}</Animation>' * 400 + "<Meshes>"
    )
    with pytest.raises(ModelError, match="Animations: need 1600000 poses"):
        load_text(tmp_path, many)


def test_timing_rule() -> None:
    for frames, duration, dtime, step in (
        (61, 1.199999928, 4.0, 1.199999928 / 60),  # FBX converter
        (41, 40 / 60, 1 / 60, 1 / 60),  # Granny, legacy
        (40, 40 / 60, 1 / 60, 1 / 60),  # Granny, MeshSystem
        (300, 6.250000477, 0.083333343, 6.250000477 / 299),  # retimed
        (10, 10 / 30, 1 / 30, 1 / 30),  # PSK, Ogre
        (2, 0.0333, 0.01667, 0.01667),
        (11, 1.0, 0.1009, 0.1009),  # within one per cent
        (11, 1.0, 0.1011 * 1.1, 0.1),  # not within one per cent
        (11, 1.0, 0.0, 0.1),
        (1, 1.0, 0.5, 0.0),
        (0, 1.0, 0.5, 0.0),
    ):
        assert frame_step(frames, duration, dtime) == (pytest.approx(step, rel=1e-12), None)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf"), 1e-300])
def test_timing_without_a_usable_duration(tmp_path: Path, duration: float) -> None:
    step, note = frame_step(5, duration, 0.04)
    assert step == 0.04
    assert note == "has no usable duration; 0.04 s between keys is taken from dtime"
    step, note = frame_step(5, duration, -3.0)
    assert step == DEFAULT_STEP
    assert note is not None
    source = skeleton_text(TWO, tracks=track("a", STILL * 2, 2), animation='name="x" duration="abc" dtime="nan"')
    model = load_text(tmp_path, source)
    assert model.clips[0].key_times[1] == pytest.approx(DEFAULT_STEP)
    assert len(model.warnings) == 1


@given(st.integers(0, 10_000), st.floats(), st.floats())
def test_the_step_is_always_usable(frames: int, duration: float, dtime: float) -> None:
    step, _ = frame_step(frames, duration, dtime)
    assert step == 0.0 if frames < 2 else 0.0 < step < 1e9


def test_bones_that_cannot_be_used(tmp_path: Path) -> None:
    for bone, reason in (
        ('<Bone name="a" position="0 0"/>', "Bone 'a': position has 2 numbers, needs 3"),
        ('<Bone name="a" orientation="0 0 1"/>', "Bone 'a': orientation has 3 numbers, needs 4"),
        ('<Bone name="a" scale="1 one 1"/>', "Bone 'a': scale: 'one' is not a number"),
        ('<Bone name="a" position="0 nan 0"/>', "Bone 'a': its transform has the unusable value nan"),
        ('<Bone name="a" position="0 1e300 0"/>', "Bone 'a': its transform has the unusable value 1e+300"),
        ("<Bone/>" * 8193, "Bone: there are more than 8192"),
    ):
        with pytest.raises(ModelError) as caught:
            read_text(tmp_path, skeleton_text(bone))
        assert reason in str(caught.value)
