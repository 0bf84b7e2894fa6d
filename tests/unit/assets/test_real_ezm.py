"""The real files give the values that the format's description states for them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.info import influence_counts
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod


@dataclass(frozen=True)
class Expected:
    dialect: str
    vertices: int
    triangles: int
    sections: tuple[int, ...]
    joints: int
    size: tuple[float, float, float]
    up: str = "Y"
    origin: str = "top"
    frames: int = 0
    step: float = 0.0
    duration: float = 0.0
    influences: tuple[int, ...] = ()
    textures: tuple[bool, ...] = ()


EXPECTED = {
    "dude/dude.ezm": Expected(
        "MeshSystem", 13114, 22507, (7230, 4449, 6579, 3807, 442), 60, (58.0, 74.4, 17.4), origin="bottom",
        frames=61, step=0.02, duration=1.2, influences=(3710, 1783, 3554, 4067), textures=(True,) * 5,
    ),
    "clothsim_zup/ClothSim.ezm": Expected(
        "MeshSystem", 4592, 5963, (3513, 336, 2114), 62, (1.734, 0.543, 1.996), up="Z",
        frames=300, step=6.25 / 299, duration=6.25, influences=(2680, 1804, 104, 4), textures=(False,) * 3,
    ),
    "character/character.ezm": Expected(
        "legacy", 2016, 1459, (60, 10, 29, 29, 98, 60), 43, (2.408, 2.274, 0.666), influences=(1320, 696),
        textures=(True, True),
    ),
    "beshon/beshon.ezm": Expected(
        "legacy", 1932, 2162, (1526, 636), 0, (0.870, 1.531, 1.387), textures=(True, True)
    ),
    "export/export.ezm": Expected(
        "MeshSystem", 3, 1, (1,), 1, (1, 1, 0), frames=2, step=0.016666668, duration=0.016666668, influences=(3,),
        textures=(False,),
    ),
    "woodchunk/woodChunkmesh.ezm": Expected(
        "MeshSystem", 38, 20, (20,), 0, (4.384, 2.734, 3.930), textures=(False,)
    ),
    "crater/crater.ezm": Expected("MeshSystem", 29756, 59391, (59391,), 0, (1024, 64, 1024), textures=(False,)),
    "crater/crater.ezb": Expected("MeshSystem", 29756, 59391, (59391,), 0, (1024, 64, 1024), textures=(False,)),
}  # fmt: skip


@pytest.fixture(scope="module")
def models(assets: Path) -> dict[str, CharacterModel]:
    return {name: load_model(assets / "ezm" / name) for name in EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_geometry(models: dict[str, CharacterModel], name: str) -> None:
    model, expected = models[name], EXPECTED[name]
    assert (model.dialect, model.format) == (expected.dialect, name[-3:])
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (expected.vertices, expected.triangles)
    counts = [section.triangle_count for section in model.mesh.sections]
    assert tuple(counts[: len(expected.sections)]) == expected.sections
    assert sum(counts) == expected.triangles
    np.testing.assert_allclose(model.mesh.bounds.size, expected.size, rtol=2e-3, atol=1e-3)
    assert (model.default_up_axis, model.default_texture_origin) == (expected.up, expected.origin)
    assert model.warnings == ()


@pytest.mark.parametrize("name", EXPECTED)
def test_sections_cover_all_triangles_in_turn(models: dict[str, CharacterModel], name: str) -> None:
    next_triangle = 0
    for section in models[name].mesh.sections:
        assert section.first_triangle == next_triangle
        next_triangle += section.triangle_count
    assert next_triangle == models[name].mesh.triangle_count


@pytest.mark.parametrize("name", EXPECTED)
def test_joints_and_influences(models: dict[str, CharacterModel], name: str) -> None:
    model, expected = models[name], EXPECTED[name]
    assert (model.skeleton.joint_count if model.skeleton else 0) == expected.joints
    assert (tuple(influence_counts(model.skin)) if model.skin else ()) == expected.influences
    if model.skin:
        np.testing.assert_allclose(model.skin.weights.sum(axis=1), 1.0, atol=1e-6)
        assert (model.skin.weights[:, 1:] <= model.skin.weights[:, :-1]).all()
        assert (model.skin.joints[model.skin.weights == 0.0] == 0).all()


@pytest.mark.parametrize("name", EXPECTED)
def test_timing(models: dict[str, CharacterModel], name: str) -> None:
    expected = EXPECTED[name]
    clips = models[name].clips
    assert len(clips) == (1 if expected.frames else 0)
    for clip in clips:
        assert len(clip.key_times) == expected.frames
        assert clip.duration == pytest.approx(expected.duration, rel=1e-6)
        assert clip.key_times[1] == pytest.approx(expected.step, rel=1e-6)


@pytest.mark.parametrize("name", EXPECTED)
def test_textures(models: dict[str, CharacterModel], name: str) -> None:
    materials = models[name].materials
    assert tuple(material.texture_path is not None for material in materials) == EXPECTED[name].textures
    for material in materials:
        if material.texture_path:
            assert material.texture_path.is_file()


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith("m")])
def test_numbers_equal_those_of_a_plain_parse(assets: Path, models: dict[str, CharacterModel], name: str) -> None:
    positions, normals, triangles = [], [], []
    start = 0
    for element in etree.parse(str(assets / "ezm" / name)).getroot().iter("vertexbuffer", "indexbuffer"):
        numbers = element.text.replace(",", " ").split()
        if element.tag == "indexbuffer":
            triangles.append(np.array(numbers, dtype=np.int64).reshape(-1, 3) + start)
            continue
        start = sum(map(len, positions))
        # None of the files has colours before the normals, so the first six columns are plain numbers.
        rows = np.array(numbers).reshape(int(element.get("count")), -1)[:, :6].astype(np.float64)
        positions.append(rows[:, :3])
        normals.append(rows[:, 3:])
    mesh = models[name].mesh
    np.testing.assert_array_equal(mesh.positions, np.concatenate(positions).astype(np.float32))
    np.testing.assert_array_equal(mesh.triangles, np.concatenate(triangles))
    # Stored normals are unit vectors up to 3e-4 at worst.
    np.testing.assert_allclose(mesh.normals, np.concatenate(normals), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-6)


def test_dude_in_detail(models: dict[str, CharacterModel]) -> None:
    model = models["dude/dude.ezm"]
    np.testing.assert_allclose(model.mesh.bounds.lo, (-29.31, -1.90, -7.66), atol=5e-3)
    np.testing.assert_allclose(model.mesh.bounds.hi, (28.70, 72.54, 9.76), atol=5e-3)
    names = [model.materials[section.material].name.partition(":")[2] for section in model.mesh.sections]
    assert names == ["headM", "jacketM", "pantsM", "upBodyM", "eyeBallM"]
    assert [model.materials[section.material].texture for section in model.mesh.sections] == [
        "head.jpg", "jacket.jpg", "pants.jpg", "upBodyC.jpg", "upBodyC.jpg",
    ]  # fmt: skip
    assert model.skeleton is not None
    assert len(model.skeleton.hierarchy.levels) + 1 == 15


@pytest.mark.parametrize(
    ("name", "frame", "size", "tolerance"),
    [
        ("dude/dude.ezm", 0, (28.2, 72.8, 43.2), 0.06),
        ("dude/dude.ezm", 30, (28.2, 72.8, 42.3), 0.06),
        ("clothsim_zup/ClothSim.ezm", 0, (0.875, 1.543, 1.584), 6e-4),
    ],
)
def test_skinned_box(
    models: dict[str, CharacterModel], name: str, frame: int, size: tuple[float, ...], tolerance: float
) -> None:
    model = models[name]
    pose = evaluate_pose(model, model.clips[0], float(model.clips[0].key_times[frame]))
    positions = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS).positions
    np.testing.assert_allclose(np.ptp(positions, axis=0), size, atol=tolerance)


def test_cloth_character_travels(models: dict[str, CharacterModel]) -> None:
    model = models["clothsim_zup/ClothSim.ezm"]
    first, last = (evaluate_pose(model, model.clips[0], time) for time in (0.0, model.clips[0].duration))
    travel = last.model_from_joint[:, :3, 3].mean(axis=0) - first.model_from_joint[:, :3, 3].mean(axis=0)
    assert travel[1] == pytest.approx(-30.0, abs=1.0)


def test_character_in_detail(assets: Path, models: dict[str, CharacterModel]) -> None:
    model = models["character/character.ezm"]
    assert model.skeleton is not None
    assert model.skin is not None
    counts = weighted_vertex_counts(model.skin, model.skeleton.joint_count)
    assert sum(count > 0 for count in counts) == 41
    (mesh,) = read_raw(assets / "ezm" / "character" / "character.ezm").meshes
    assert len(mesh.sections) == len(mesh.buffers) == 12
    used = [len(np.unique(section.triangles)) for section in mesh.sections[-2:]]
    assert [buffer.count for buffer in mesh.buffers[-2:]] == [820, 820]
    assert sorted(used) == [386, 434]


def test_beshon_in_detail(assets: Path) -> None:
    (mesh,) = read_raw(assets / "ezm" / "beshon" / "beshon.ezm").meshes
    assert [buffer.count for buffer in mesh.buffers] == [1087, 845]
    assert [section.buffer for section in mesh.sections] == [0, 1]


def test_export_holds_every_semantic(assets: Path) -> None:
    raw = read_raw(assets / "ezm" / "export" / "export.ezm")
    attributes = raw.meshes[0].buffers[0].attributes
    assert list(attributes) == [
        "position", "normal", "color", "texcoord1", "texcoord2", "texcoord3", "texcoord4", "tangent", "binormal",
        "blendweights", "blendindices", "interp1",
    ]  # fmt: skip
    np.testing.assert_array_equal(attributes["color"], np.full(3, 0xFFFFFFFF, np.uint32))
    # Every key holds a quaternion of zeros, which means "no rotation".
    np.testing.assert_array_equal(raw.clips[0].tracks[0].orientations, [[0, 0, 0, 1]] * 2)


def test_binary_twin_is_equal(models: dict[str, CharacterModel]) -> None:
    text, binary = models["crater/crater.ezm"].mesh, models["crater/crater.ezb"].mesh
    # Nine decimals in the text, single precision in both.
    np.testing.assert_allclose(text.positions, binary.positions, rtol=1.2e-7, atol=5e-10)
    np.testing.assert_allclose(text.normals, binary.normals, rtol=0, atol=1.2e-7)
    np.testing.assert_allclose(text.texcoords, binary.texcoords, rtol=1.2e-7, atol=5e-10)
    np.testing.assert_array_equal(text.triangles, binary.triangles)
    assert 0.0 <= text.texcoords[:, 1].min() < 0.01
    assert models["crater/crater.ezm"].materials[0].diffuse == models["crater/crater.ezb"].materials[0].diffuse


@pytest.mark.parametrize("name", ["crater/crater.ezm", "dude/dude.ezm"])
def test_faces_agree_with_normals(models: dict[str, CharacterModel], name: str) -> None:
    mesh = models[name].mesh
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.linalg.norm(faces, axis=1) < 1e-12
    along = np.einsum("ij,ij->i", faces, mesh.normals[mesh.triangles].sum(axis=1))
    assert (along[~flat] > 0.0).mean() >= 0.99
