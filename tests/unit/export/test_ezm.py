"""Written files are EZMesh, complete, and read back as what they were made from."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from lxml import etree

from sinew.sim.assets.build import build_model
from sinew.sim.assets.clip import frame_step
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.raw import (
    RawBone,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawTrack,
    RawVertices,
)
from sinew.sim.export.ezm import ezm_text, format_numbers, merged, write_ezm
from tests.ezm_samples import LEGACY, MESH_SYSTEM, read_text

REAL = [
    "dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "character/character.ezm", "beshon/beshon.ezm", "export/export.ezm",
    "woodchunk/woodChunkmesh.ezm", "crater/crater.ezm", "crater/crater.ezb",
]  # fmt: skip


def assert_same(found: RawModel, expected: RawModel) -> None:
    """Equal in everything that is stored; numbers within 1e-6 of their extent."""
    assert found.asset_name == expected.asset_name
    assert found.asset_info == expected.asset_info
    assert found.materials == expected.materials
    assert len(found.skeletons) == len(expected.skeletons)
    for theirs, ours in zip(found.skeletons, expected.skeletons, strict=True):
        assert theirs.name == ours.name
        assert [(bone.name, bone.parent) for bone in theirs.bones] == [(bone.name, bone.parent) for bone in ours.bones]
        for one, other in zip(theirs.bones, ours.bones, strict=True):
            assert_close(one.position, other.position)
            assert_close(one.orientation, other.orientation)
            assert_close(one.scale, other.scale)
    for one_clip, other_clip in zip(found.clips, expected.clips, strict=True):
        assert_same_clip(one_clip, other_clip)
    for one_mesh, other_mesh in zip(found.meshes, map(merged, expected.meshes), strict=True):
        assert_same_mesh(one_mesh, other_mesh)


def assert_same_clip(found: RawClip, expected: RawClip) -> None:
    assert (found.name, found.frame_count) == (expected.name, expected.frame_count)
    step, _ = frame_step(expected.frame_count, expected.duration, expected.frame_step)
    assert frame_step(found.frame_count, found.duration, found.frame_step)[0] == pytest.approx(step, rel=1e-9)
    for one, other in zip(found.tracks, expected.tracks, strict=True):
        assert one.name == other.name
        assert_close(one.positions, other.positions)
        assert_close(one.orientations, other.orientations)
        assert (one.scales is None) == (other.scales is None or len(other.scales) == 0)
        if one.scales is not None and other.scales is not None:
            assert_close(one.scales, other.scales)


def assert_same_mesh(found: RawMesh, expected: RawMesh) -> None:
    assert (found.name, found.skeleton) == (expected.name, expected.skeleton)
    for one, other in zip(found.buffers, expected.buffers, strict=True):
        assert one.count == other.count
        assert set(one.attributes) == set(other.attributes)
        for name, values in other.attributes.items():
            # Single precision survives exactly.
            np.testing.assert_array_equal(one.attributes[name], values)
    for part, original in zip(found.sections, expected.sections, strict=True):
        assert (part.material, part.info, part.buffer) == (original.material, original.info, original.buffer)
        np.testing.assert_array_equal(part.triangles, original.triangles)


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    extent = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * extent)


@pytest.mark.parametrize("name", REAL)
def test_real_files_survive(assets: Path, tmp_path: Path, name: str) -> None:
    original = read_raw(assets / "ezm" / name)
    copy = tmp_path / "copy.ezm"
    write_ezm(original, copy)
    again = read_raw(copy)
    assert again.dialect == "MeshSystem"
    assert again.warnings == []
    assert_same(again, original)
    ours, theirs = build_model(original).mesh, build_model(again).mesh
    np.testing.assert_array_equal(theirs.positions, ours.positions)
    np.testing.assert_array_equal(theirs.triangles, ours.triangles)
    assert [part.triangle_count for part in theirs.sections] == [part.triangle_count for part in ours.sections]


@pytest.mark.parametrize("name", REAL)
def test_writing_twice_changes_nothing(assets: Path, tmp_path: Path, name: str) -> None:
    write_ezm(read_raw(assets / "ezm" / name), tmp_path / "first.ezm")
    write_ezm(read_raw(tmp_path / "first.ezm"), tmp_path / "second.ezm")
    first, second = read_raw(tmp_path / "first.ezm"), read_raw(tmp_path / "second.ezm")
    assert_same(second, first)


@pytest.mark.parametrize("text", [MESH_SYSTEM, LEGACY])
def test_samples_survive(tmp_path: Path, text: str) -> None:
    original = read_text(tmp_path, text)
    write_ezm(original, tmp_path / "copy.ezm")
    assert_same(read_raw(tmp_path / "copy.ezm"), original)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters='"'), max_size=12).filter(
    lambda text: not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)
)
BONE_NAMES = st.lists(NAMES.filter(bool), max_size=5, unique=True)
LENGTHS = st.floats(-1e9, 1e9, width=32)
SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)


def singles(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float32, shape, elements=SINGLE)


def vectors(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, shape, elements=LENGTHS)


@st.composite
def unit_quaternions(draw: st.DrawFn, *shape: int) -> np.ndarray:
    values = draw(hnp.arrays(np.float64, (*shape, 4), elements=st.floats(-1, 1, width=16)))
    values[..., 3] += np.where((values**2).sum(axis=-1) < 0.01, 1.0, 0.0)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


@st.composite
def vertices(draw: st.DrawFn) -> RawVertices:
    count = draw(st.integers(1, 6))
    offered = {
        "normal": singles(count, 3),
        "color": hnp.arrays(np.uint32, count),
        "texcoord1": singles(count, 2),
        "texcoord3": singles(count, 2),
        "tangent": singles(count, 3),
        "binormal": singles(count, 3),
        "blendweights": singles(count, 4),
        "blendindices": hnp.arrays(np.uint16, (count, 4)),
        "radius": singles(count, 1),
        "interp2": singles(count, 3),
        "interp8": singles(count, 4),
    }
    positions = draw(hnp.arrays(np.float32, (count, 3), elements=LENGTHS))
    chosen = draw(st.lists(st.sampled_from(sorted(offered)), unique=True))
    return RawVertices(count, {"position": positions, **{name: draw(offered[name]) for name in chosen}})


@st.composite
def meshes(draw: st.DrawFn) -> RawMesh:
    buffer = draw(vertices())
    sections = []
    for _ in range(draw(st.integers(0, 3))):
        corners = hnp.arrays(np.uint32, (draw(st.integers(0, 3)), 3), elements=st.integers(0, buffer.count - 1))
        sections.append(RawSection(draw(NAMES), draw(NAMES), 0, draw(corners)))
    return RawMesh(draw(NAMES), draw(NAMES), [buffer], sections)


@st.composite
def skeletons(draw: st.DrawFn) -> RawSkeleton:
    names = draw(BONE_NAMES)
    order = draw(st.permutations(range(len(names))))
    bones = [None] * len(names)
    for place, index in enumerate(order):
        parent = draw(st.sampled_from([-1, *order[:place]]))
        scale = draw(hnp.arrays(np.float64, 3, elements=st.floats(0.125, 8, width=32)))
        bones[index] = RawBone(names[index], parent, draw(vectors(3)), draw(unit_quaternions()), scale)
    return RawSkeleton(draw(NAMES), bones)


@st.composite
def clips(draw: st.DrawFn) -> RawClip:
    frames = draw(st.integers(1, 4))
    tracks = []
    for _ in range(draw(st.integers(1, 3))):
        scales = draw(st.none() | vectors(frames, 3))
        tracks.append(RawTrack(draw(NAMES), draw(vectors(frames, 3)), draw(unit_quaternions(frames)), scales))
    step = draw(st.floats(0.001, 10.0))
    stored = draw(st.sampled_from([step, 4.0, 0.0, float("nan")]))
    return RawClip(draw(NAMES), frames, step * (frames - 1), stored, tracks)


@st.composite
def models(draw: st.DrawFn) -> RawModel:
    return RawModel(
        Path("made"),
        "ezm",
        "MeshSystem",
        draw(NAMES),
        draw(NAMES),
        draw(st.lists(skeletons(), max_size=2)),
        draw(st.lists(clips(), max_size=2)),
        draw(st.lists(st.builds(RawMaterial, NAMES, NAMES), max_size=2)),
        draw(st.lists(meshes(), max_size=3)),
    )


@settings(max_examples=150)
@given(models())
def test_any_model_survives(tmp_path_factory: pytest.TempPathFactory, model: RawModel) -> None:
    path = tmp_path_factory.mktemp("made") / "model.ezm"
    with np.errstate(all="ignore"):
        write_ezm(model, path)
        again = read_raw(path)
    assert_same(again, model)


@given(hnp.arrays(np.float32, st.integers(0, 30), elements=SINGLE))
def test_single_precision_is_written_shortest_and_exactly(values: np.ndarray) -> None:
    texts = format_numbers(values)
    assert np.array_equal(np.array([float(text) for text in texts]).astype(np.float32), values)
    for text, value in zip(texts, values, strict=True):
        assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", text)
        assert len(text.replace("-", "").replace(".", "").strip("0")) <= 9 or abs(value) >= 1e9


@given(hnp.arrays(np.float64, st.integers(0, 30), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_double_precision_is_written_exactly(values: np.ndarray) -> None:
    texts = format_numbers(values)
    assert np.array_equal(np.array([float(text) for text in texts]), values)
    assert not any("e" in text for text in texts)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (
            np.float32([0.1, 1.0, -0.0, 1e-9, 16777216.0, 3e9]),
            ["0.1", "1", "-0", "0.000000001", "16777216", "3000000000"],
        ),
        (np.float64([np.nan, np.inf, -np.inf, 0.1]), ["0", "0", "0", "0.1"]),
        (np.uint16([0, 65535]), ["0", "65535"]),
    ],
)
def test_numbers(values: np.ndarray, texts: list[str]) -> None:
    assert format_numbers(values) == texts


def test_layout_of_the_text(tmp_path: Path) -> None:
    root = etree.fromstring(ezm_text(read_text(tmp_path, MESH_SYSTEM)).encode())
    assert [child.tag for child in root] == ["MeshAABB", "Skeletons", "Animations", "Materials", "Meshes"]
    assert dict(root.find("MeshAABB").attrib) == {"min": "0,0,0", "max": "1,1,0"}
    assert [child.tag for child in root.find("Meshes/Mesh")] == [
        "MeshAABB", "vertexbuffer", "MeshSection", "MeshSection",
    ]  # fmt: skip
    boxes = [section.find("MeshAABB").attrib["max"] for section in root.iter("MeshSection")]
    assert boxes == ["1,1,0", "1,1,0"]
    buffer = root.find("Meshes/Mesh/vertexbuffer")
    assert buffer.attrib["ctype"] == "fff fff x4 ff ffff hhhh"
    assert buffer.attrib["semantic"] == "position normal color texcoord1 blendweights blendindices"
    assert buffer.text.splitlines()[1] == "0 0 0 0 0 1 FFFF8000 0 0 1 0 0 0 0 0 0 0,"


def test_timing_is_written_as_judged(tmp_path: Path) -> None:
    animation = etree.fromstring(ezm_text(read_text(tmp_path, MESH_SYSTEM)).encode()).find("Animations/Animation")
    assert {key: animation.attrib[key] for key in ("trackcount", "framecount", "duration", "dtime")} == {
        "trackcount": "2", "framecount": "3", "duration": "0.04", "dtime": "0.02",
    }  # fmt: skip
    assert [track.attrib["has_scale"] for track in animation] == ["true", "false"]


def test_boxes_are_those_of_the_vertices(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM.replace('max="1,1,0"', 'max="100,100,0"'))
    raw.meshes[0].buffers[0].attributes["position"] -= np.float32(5.0)
    assert dict(etree.fromstring(ezm_text(raw).encode()).find("MeshAABB").attrib) == {
        "min": "-5,-5,-5", "max": "-4,-4,-5",
    }  # fmt: skip


def test_quotes_in_descriptions_become_the_marker_of_the_format(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.materials = [RawMaterial('a "b" <c> & d\n', 'diffuse="x y.png"')]
    write_ezm(raw, tmp_path / "copy.ezm")
    assert read_raw(tmp_path / "copy.ezm").materials == [RawMaterial('a "b" <c> & d\n', "diffuse=%20x y.png%20")]


def test_characters_that_xml_cannot_hold_are_replaced(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.asset_name = "a\0b\x1b\ud800ü"
    write_ezm(raw, tmp_path / "copy.ezm")
    assert (tmp_path / "copy.ezm").read_bytes().isascii()
    assert read_raw(tmp_path / "copy.ezm").asset_name == "a\ufffdb\ufffd\ufffdü"


def test_equal_names_of_joints_are_told_apart(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    for bone in raw.skeletons[0].bones:
        bone.name = "same"
    write_ezm(raw, tmp_path / "copy.ezm")
    bones = read_raw(tmp_path / "copy.ezm").skeletons[0].bones
    assert [bone.name for bone in bones] == ["same", "same (2)", "same (3)"]
    assert [bone.parent for bone in bones] == [-1, 0, 1]


def test_buffers_with_different_attributes_are_joined(tmp_path: Path) -> None:
    plain = RawVertices(1, {"position": np.float32([[1, 2, 3]])})
    rich = RawVertices(
        1,
        {
            "position": np.float32([[4, 5, 6]]),
            "normal": np.float32([[0, 0, 1]]),
            "color": np.uint32([7]),
            "blendweights": np.float32([[0.5, 0.5, 0, 0]]),
            "interp1": np.float32([[1, 2, 3]]),
        },
    )
    wide = RawVertices(1, {"position": np.float32([[7, 8, 9]]), "interp1": np.float32([[1, 2, 3, 4]])})
    section = RawSection("m", "", 2, np.uint32([[0, 0, 0]]))
    mesh = merged(RawMesh("m", "", [plain, rich, wide], [section]))
    (buffer,) = mesh.buffers
    found = buffer.attributes
    np.testing.assert_array_equal(found["position"], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    np.testing.assert_array_equal(found["normal"], [[0, 0, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(found["color"], [0xFFFFFFFF, 7, 0xFFFFFFFF])
    np.testing.assert_array_equal(found["blendweights"], [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(found["interp1"], [[0, 0, 0, 0], [1, 2, 3, 0], [1, 2, 3, 4]])
    assert mesh.sections[0].triangles.tolist() == [[2, 2, 2]]
    model = RawModel(tmp_path / "x", "ezm", "legacy", meshes=[RawMesh("m", "", [plain, rich, wide], [section])])
    write_ezm(model, tmp_path / "copy.ezm")
    assert load_model(tmp_path / "copy.ezm").mesh.triangles.tolist() == [[2, 2, 2]]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.meshes[0].sections[0].triangles = np.uint32([[0, 1, 99]])
    with pytest.raises(IndexError):
        write_ezm(raw, path)
    assert path.read_text() == MESH_SYSTEM
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.ezm"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        write_ezm(read_text(tmp_path, MESH_SYSTEM), tmp_path / "missing" / "model.ezm")
