import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from lxml import etree

from sinew import resources
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.build import build_model
from sinew.sim.assets.clip import frame_step
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import CharacterModel, Material
from sinew.sim.assets.raw import (
    ModelError,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawVertices,
)
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.ezm import ezm_text, format_numbers, merged, write_ezm
from sinew.sim.export.formats import MODEL_WRITERS, ExportError
from tests import frame_samples, gltf_samples
from tests.conftest import slow
from tests.ezm_samples import LEGACY, MESH_SYSTEM, read_text
from tests.gltf_rules import Checked

REAL = [
    "export/export.ezm", "woodchunk/woodChunkmesh.ezm", "crater/crater.ezb",
    *map(slow, (
        "dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "character/character.ezm", "beshon/beshon.ezm",
        "crater/crater.ezm",
    )),
]  # fmt: skip


def assert_same(found: RawModel, expected: RawModel) -> None:
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


SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)


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
    assert format_numbers(np.float32([-0.0, 1e-9, 3e9])) == ["-0", "0.000000001", "3000000000"]
    assert format_numbers(np.float64([np.nan, np.inf, -np.inf])) == ["0", "0", "0"]


def test_layout_of_the_text(tmp_path: Path) -> None:
    root = etree.fromstring(ezm_text(read_text(tmp_path, MESH_SYSTEM.replace('max="1,1,0"', 'max="9,9,0"'))).encode())
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
    animation = root.find("Animations/Animation")
    assert {key: animation.attrib[key] for key in ("trackcount", "framecount", "duration", "dtime")} == {
        "trackcount": "2", "framecount": "3", "duration": "0.04", "dtime": "0.02",
    }  # fmt: skip
    assert [track.attrib["has_scale"] for track in animation] == ["true", "false"]
    assert buffer.text.splitlines()[1] == "0 0 0 0 0 1 FFFF8000 0 0 1 0 0 0 0 0 0 0,"


def test_quotes_characters_that_xml_cannot_hold_and_equal_names_are_replaced(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.materials = [RawMaterial('a "b" <c> & d\n', 'diffuse="x y.png"')]
    raw.asset_name = "a\0b\x1b\ud800ü"
    for bone in raw.skeletons[0].bones:
        bone.name = "same"
    write_ezm(raw, tmp_path / "copy.ezm")
    assert (tmp_path / "copy.ezm").read_bytes().isascii()
    found = read_raw(tmp_path / "copy.ezm")
    assert found.materials == [RawMaterial('a "b" <c> & d\n', "diffuse=%20x y.png%20")]
    assert found.asset_name == "a\ufffdb\ufffd\ufffdü"
    assert [bone.name for bone in found.skeletons[0].bones] == ["same", "same (2)", "same (3)"]
    assert [bone.parent for bone in found.skeletons[0].bones] == [-1, 0, 1]


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


@pytest.mark.parametrize("text", [MESH_SYSTEM, LEGACY])
def test_samples_survive(tmp_path: Path, text: str) -> None:
    original = read_text(tmp_path, text)
    write_ezm(original, tmp_path / "copy.ezm")
    assert_same(read_raw(tmp_path / "copy.ezm"), original)


ASSETS = [
    "Derived/CesiumMan-8influences.glb",
    "Derived/Torture-1.glb",
    "Derived/Torture-2.glb",
    "InterpolationTest/glTF-Binary/InterpolationTest.glb",
    "AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb",
    "AssetGenerator/Animation_Skin/Animation_Skin_11.gltf",
]


def corners(model: CharacterModel, clip: int | None, part: float) -> np.ndarray:
    """Corners of all triangles at a part of a clip, y up, shape (T, 3, 3)."""
    chosen = None if clip is None else model.clips[clip]
    pose = evaluate_pose(model, chosen, 0.0 if chosen is None else part * chosen.duration)
    posed = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres, pose.local.weights)
    places = posed.positions
    if model.default_up_axis.lower() == "z":
        places = places[:, [0, 2, 1]] * (1.0, 1.0, -1.0)
    return places[model.mesh.triangles]


def assert_survives(source: Path, target: Path) -> CharacterModel:
    raw = read_raw(source)
    model = build_model(raw)
    MODEL_WRITERS.of(target).save(raw, target)
    if target.suffix == ".glb":
        Checked(target.read_bytes())
    again = load_model(target)
    assert again.warnings == ()
    assert [clip.name for clip in again.clips] == [clip.name for clip in model.clips]
    assert [len(part) for part in (again.mesh.triangles,)] == [len(model.mesh.triangles)]
    for clip in (None, *range(len(model.clips))):
        for part in (0.0, 0.37, 1.0):
            expected = corners(model, clip, part)
            extent = max(float(np.ptp(expected.reshape(-1, 3), axis=0).max()), 1e-9)
            np.testing.assert_allclose(corners(again, clip, part), expected, rtol=0, atol=1e-5 * extent)
    for before, after in zip(_looks(model), _looks(again), strict=True):
        np.testing.assert_allclose([*after.diffuse, *after.specular], [*before.diffuse, *before.specular], atol=2e-3)
        assert after.shininess == pytest.approx(before.shininess, rel=1e-3)
        assert (after.alpha_mode, after.is_unlit) == (before.alpha_mode, before.is_unlit)
        assert len(after.images) == len(before.images)
    np.testing.assert_allclose(
        again.mesh.texcoords[again.mesh.triangles], _from_the_top(model)[model.mesh.triangles], atol=1e-6
    )
    return again


def _looks(model: CharacterModel) -> list[Material]:
    shown = [part.material for part in model.mesh.sections if part.triangle_count and part.material >= 0]
    return [model.materials[number] for number in shown if model.materials[number].name != "plain"]


def _from_the_top(model: CharacterModel) -> np.ndarray:
    texcoords = model.mesh.texcoords.copy()
    if model.default_texture_origin == "bottom" and texcoords.any():
        texcoords[:, 1] = 1.0 - texcoords[:, 1]
    return texcoords


@pytest.mark.parametrize("name", ["humanoid", "arm", "tiny"])
def test_sample_models_survive(tmp_path: Path, name: str) -> None:
    model = assert_survives(resources.path(f"models/{name}/{name}.ezm"), tmp_path / "model.glb")
    if name == "humanoid":
        assert all(material.embedded is not None for material in model.materials if material.texture)
    if name == "tiny":
        assert_survives(resources.path("models/tiny/tiny.ezm"), tmp_path / "model.gltf")
        document = json.loads((tmp_path / "model.gltf").read_text(encoding="utf-8"))
        assert document["buffers"][0]["uri"].startswith("data:")


@pytest.mark.parametrize("key", ["md2", "pc2", "mdd", "obj"])
def test_key_frames_become_morph_targets(tmp_path: Path, key: str) -> None:
    model = assert_survives(frame_samples.write_all(tmp_path)[key], tmp_path / "model.glb")
    assert model.mesh.targets is not None


@pytest.mark.parametrize("name", ASSETS)
def test_models_of_others_survive(assets: Path, tmp_path: Path, name: str) -> None:
    model = assert_survives(assets / "gltf" / name, tmp_path / "model.glb")
    before = load_model(assets / "gltf" / name)
    assert (model.mesh.targets is None) == (before.mesh.targets is None)
    if model.mesh.targets is not None:
        assert model.mesh.targets.names == before.mesh.targets.names
        np.testing.assert_array_equal(model.clips[0].key_times, before.clips[0].key_times)


def test_a_file_without_arrays_is_valid(tmp_path: Path) -> None:
    sample = gltf_samples.Sample()
    sample.put("nodes", {"name": "hips", "children": [1]})
    sample.put("nodes", {"name": "spine"})
    source = sample.write(tmp_path)
    for ending in ("glb", "gltf"):
        raw = read_raw(source)
        MODEL_WRITERS.of(tmp_path / f"a.{ending}").save(raw, tmp_path / f"a.{ending}")
        again = load_model(tmp_path / f"a.{ending}")
        assert again.skeleton.names == ("hips", "spine")
    document = Checked((tmp_path / "a.glb").read_bytes()).document
    assert set(document) == {"asset", "scene", "scenes", "nodes"}


def test_a_joint_that_moves_a_part_from_two_places_is_refused(tmp_path: Path) -> None:
    sample = gltf_samples.skinned()
    sample.document["skins"][0]["joints"] = [1, 1]
    raw = read_raw(sample.write(tmp_path))
    with pytest.raises(ExportError, match="a joint moves it from two places"):
        MODEL_WRITERS.of(tmp_path / "a.glb").save(raw, tmp_path / "a.glb")
    assert not (tmp_path / "a.glb").exists()


@pytest.mark.slow
def test_every_model_that_may_not_be_shipped_is_written_by_the_rules(assets: Path, tmp_path: Path) -> None:
    for source in sorted((assets / "gltf").rglob("*.gl*")):
        try:
            raw = read_raw(source)
        except ModelError as error:
            assert "needs the package" in str(error)  # noqa: PT017
            continue
        MODEL_WRITERS.of(tmp_path / "a.glb").save(raw, tmp_path / "a.glb")
        Checked((tmp_path / "a.glb").read_bytes())
        again = load_model(tmp_path / "a.glb")
        assert len(again.mesh.triangles) == len(build_model(raw).mesh.triangles), source
