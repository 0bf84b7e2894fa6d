import dataclasses
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.animation.palette import lbs_rows
from sinew.sim.animation.pose import Pose, Warps
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Mesh, Skin, Targets
from sinew.sim.characters import skinning as system
from sinew.sim.characters.deformers.settings import Bend, Bulge, Deformer, Extent, Taper, Twist, Wave
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from tests.gl.back_ends import ON_BOTH
from tests.gl.skinning_cases import assert_equals_reference, cloud, pose_of, random_pose, random_skin
from tests.model_samples import mesh_of

LBS, DQS, DQS_SCALE = SkinningMethod.LBS, SkinningMethod.DQS, SkinningMethod.DQS_SCALE


@ON_BOTH
@pytest.mark.parametrize(("influences", "tangents"), [(1, True), (4, False), (5, True), (8, True)])
def test_every_number_of_influences(context: Context, library: ShaderLibrary, influences: int, tangents: bool) -> None:
    random = np.random.default_rng(influences)
    mesh, skin = cloud(500, random, tangents=tangents), random_skin(500, 30, influences, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    for method in SkinningMethod:
        assert_equals_reference(skinned, mesh, skin, random_pose(30, random), method)


@ON_BOTH
@pytest.mark.parametrize("scale", [(0.5, 2.0), (-1.5, -0.5)], ids=["uneven", "mirrored"])
@pytest.mark.parametrize("method", SkinningMethod)
def test_scaled_and_mirrored_joints(context, library, method, scale):
    random = np.random.default_rng(7)
    mesh, skin = cloud(2000, random, tangents=True), random_skin(2000, 20, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    for _ in range(3):
        assert_equals_reference(skinned, mesh, skin, random_pose(20, random, spread=0.3, scale=scale), method)


@ON_BOTH
@pytest.mark.parametrize("method", SkinningMethod)
def test_a_thousand_joints(context: Context, library: ShaderLibrary, method: SkinningMethod) -> None:
    random = np.random.default_rng(8)
    mesh = cloud(5000, random)
    large, small = random_skin(5000, 1000, 4, random), random_skin(5000, 3, 4, random)
    for skin, joints in ((large, 1000), (small, 3)):
        skinned = SkinnedMesh(context, library, mesh, skin)
        assert_equals_reference(skinned, mesh, skin, random_pose(joints, random), method)
    assert sum(label.startswith("Program:") for label in context.live) == 1


@pytest.mark.parametrize("method", [DQS, DQS_SCALE])
def test_signs_of_dual_quaternions_do_not_matter(context, library, monkeypatch, method):
    random = np.random.default_rng(9)
    mesh, skin = cloud(1000, random), random_skin(1000, 12, 8, random)
    pose = random_pose(12, random)
    plain = system.palette_texels

    def flipped(pose: Pose, method: SkinningMethod) -> np.ndarray:
        texels = plain(pose, method).copy()
        texels[::2, :2] *= -1.0
        return texels

    skinned = SkinnedMesh(context, library, mesh, skin)
    assert_equals_reference(skinned, mesh, skin, pose, method)
    before = skinned.read()
    monkeypatch.setattr(system, "palette_texels", flipped)
    skinned.invalidate()
    assert_equals_reference(skinned, mesh, skin, pose, method)
    np.testing.assert_allclose(skinned.read()["position"], before["position"], atol=1e-5)


def test_flattened_joints_give_finite_normals(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(12)
    mesh, skin = cloud(200, random), random_skin(200, 4, 1, random)
    matrices = compose(np.zeros((4, 3)), np.tile(quaternion.IDENTITY, (4, 1)), np.array([[1.0, 0.0, 1.0]] * 4))
    skinned = SkinnedMesh(context, library, mesh, skin)
    assert_equals_reference(skinned, mesh, skin, pose_of(matrices), LBS)
    skinned.skin(pose_of(np.zeros((4, 4, 4))), LBS)
    assert np.isfinite(skinned.read()["normal"]).all()


def test_a_mesh_without_skin_is_unchanged(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(13)
    mesh = cloud(50, random, tangents=True)
    skinned = SkinnedMesh(context, library, mesh, None)
    skinned.skin(random_pose(3, random), LBS)
    np.testing.assert_array_equal(skinned.read()["position"][:, :3], mesh.positions)
    np.testing.assert_allclose(skinned.read()["tangent"], mesh.tangents, atol=1e-6)


def test_the_bind_pose_is_there_from_the_start(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(14)
    mesh, skin = cloud(50, random), random_skin(50, 3, 3, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    np.testing.assert_array_equal(skinned.read()["position"][:, :3], mesh.positions)
    skinned.skin(random_pose(3, random), LBS)
    assert np.abs(skinned.read()["position"][:, :3] - mesh.positions).max() > 0.1
    assert skinned.skin(None, LBS)
    np.testing.assert_array_equal(skinned.read()["position"][:, :3], mesh.positions)
    assert not skinned.skin(None, DQS), "the bind pose is the same by every method"


def test_the_same_pose_is_not_skinned_twice(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(15)
    mesh, skin = cloud(50, random), random_skin(50, 3, 3, random)
    pose = random_pose(3, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    assert [skinned.skin(pose, LBS), skinned.skin(pose, LBS), skinned.skin(pose, DQS)] == [True, False, True]
    assert skinned.write_count == 2
    skinned.invalidate()
    assert skinned.skin(pose, DQS)


def test_a_pose_with_too_few_joints_is_refused(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(16)
    skinned = SkinnedMesh(context, library, cloud(50, random), random_skin(50, 30, 4, random))
    with pytest.raises(ValueError, match="pose of 2 joints"):
        skinned.skin(random_pose(2, random), LBS)


@ON_BOTH
def test_normals_of_any_length_come_out_as_units_and_zero_stays_zero(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(17)
    mesh, skin = cloud(50, random), random_skin(50, 3, 3, random)
    normals = mesh.normals * np.linspace(0.1, 30.0, 50, dtype=np.float32)[:, None]
    normals[::10] = 0.0
    mesh = dataclasses.replace(mesh, normals=normals)
    skinned = SkinnedMesh(context, library, mesh, skin)
    for method in SkinningMethod:
        assert_equals_reference(skinned, mesh, skin, random_pose(3, random, scale=(0.5, 2.0)), method)
        assert not skinned.read()["normal"][::10].any()


@ON_BOTH
@pytest.mark.parametrize("skinned_mesh", [True, False])
def test_an_empty_mesh_is_allowed(context: Context, library: ShaderLibrary, skinned_mesh: bool) -> None:
    empty = np.zeros((0, 3), np.float32)
    mesh = dataclasses.replace(cloud(1, np.random.default_rng(18)), positions=empty, normals=empty)
    skin = Skin(np.zeros((0, 4), np.uint16), np.zeros((0, 4), np.float32), 0) if skinned_mesh else None
    skinned = SkinnedMesh(context, library, mesh, skin)
    skinned.skin(random_pose(2, np.random.default_rng(19)), LBS)
    assert skinned.read().shape == (0,)


def test_release_leaves_nothing_and_may_be_repeated(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(20)
    skinned = SkinnedMesh(context, library, cloud(50, random), random_skin(50, 3, 3, random))
    skinned.skin(random_pose(3, random), LBS)
    skinned.release()
    skinned.release()
    library.release()
    assert context.live == []


def test_palette_texels_are_what_the_shaders_read() -> None:
    random = np.random.default_rng(21)
    pose = random_pose(5, random, scale=(0.5, 2.0))
    np.testing.assert_array_equal(system.palette_texels(pose, LBS), lbs_rows(pose.palette))
    assert [system.palette_texels(pose, method).shape for method in SkinningMethod] == [(5, 3, 4), (5, 2, 4), (5, 5, 4)]
    assert all(system.palette_texels(pose, method).dtype == np.float32 for method in SkinningMethod)


MORPH_VERTICES, MORPH_JOINTS = 4000, 10
RUNS = [(0, MORPH_VERTICES), (0, 1), (MORPH_VERTICES - 1, 1), (100, 700), (500, 2000), (3000, 1000)]


def morphing(random: np.random.Generator, *, tangents: bool) -> Mesh:
    firsts, counts = np.array(RUNS, np.int32).T
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    deltas = np.zeros((int(counts.sum()), 3 if tangents else 2, 4), np.float32)
    deltas[..., :3] = 0.5 * random.normal(size=(*deltas.shape[:2], 3))
    names = tuple("abcde")
    targets = Targets(
        firsts, counts, starts, np.array([0, 1, 2, 3, 4, 3], np.int32), deltas, names, np.zeros(5), np.zeros(5, bool)
    )
    return dataclasses.replace(cloud(MORPH_VERTICES, random, tangents=tangents), targets=targets)


def weighed(pose: Pose, weights: list[float]) -> Pose:
    return msgspec.structs.replace(pose, local=msgspec.structs.replace(pose.local, weights=np.array(weights)))


@pytest.mark.parametrize("tangents", [False, True])
@pytest.mark.parametrize("method", SkinningMethod)
def test_morph_targets_before_skinning(context, library, method, tangents):
    random = np.random.default_rng(4)
    mesh, skin = morphing(random, tangents=tangents), random_skin(MORPH_VERTICES, MORPH_JOINTS, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    for weights in ([0.0] * 5, [1.0, 0, 0, 0, 0], [0.3, 1.0, -1.0, 0.25, 0.5], [-0.5, 2.0, 0, 1e-9, 1.5]):
        assert_equals_reference(skinned, mesh, skin, weighed(random_pose(MORPH_JOINTS, random), weights), method)


def test_morph_targets_of_weight_zero_change_no_bit(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(4)
    mesh, skin = morphing(random, tangents=False), random_skin(MORPH_VERTICES, MORPH_JOINTS, 4, random)
    plain = SkinnedMesh(context, library, dataclasses.replace(mesh, targets=None), skin)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = random_pose(MORPH_JOINTS, random)
    plain.skin(pose)
    skinned.skin(weighed(pose, [0.0] * 5))
    np.testing.assert_array_equal(skinned.read()["position"], plain.read()["position"])


ANIMATED = ("dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm")
loaded = cache(load_model)


def sample(assets: Path, name: str) -> CharacterModel:
    path = assets / "ezm" / name
    if not path.is_file():
        pytest.skip(f"no sample model {name}")
    return loaded(path)


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", ANIMATED)
def test_sample_characters_at_random_times(context, library, assets, name, method):
    model = sample(assets, name)
    skinned = SkinnedMesh(context, library, model.mesh, model.skin)
    random = np.random.default_rng(len(name))
    assert model.clips
    for clip in model.clips:
        for time in random.uniform(0.0, clip.duration, 3):
            pose = evaluate_pose(model, clip, float(time), up_axis=model.default_up_axis)
            assert_equals_reference(skinned, model.mesh, model.skin, pose, method)


VERTICES, JOINTS = 3000, 6
LISTS: list[list[Deformer]] = [
    [Bulge()], [Twist()], [Bend()], [Bend(angle=0.2)], [Taper()], [Wave()],
    [Twist(angle=120.0, start=20.0, end=60.0), Bulge(height=6.0), Bend(angle=-40.0), Taper(factor=1.5), Wave()],
]  # fmt: skip


def warped(pose: Pose, mesh: Mesh, deformers: list[Deformer], bones: tuple[int, ...] | None = None) -> Pose:
    extent = Extent(mesh.bounds, is_z_up=False)
    functions = tuple(deformer.function for deformer in deformers)
    values = np.array([deformer.values(extent, 0.3) for deformer in deformers])
    warps = Warps(functions, values, bones or (-1,) * len(deformers), np.zeros(3))
    return msgspec.structs.replace(pose, warps=warps)


def sheet(random: np.random.Generator) -> tuple[Mesh, Skin]:
    mesh = cloud(VERTICES, random, tangents=True)
    corners = np.sort(random.integers(0, VERTICES, (2 * VERTICES, 3)), axis=1).astype(np.uint32)
    return dataclasses.replace(mesh, triangles=corners), random_skin(VERTICES, JOINTS, 4, random)


@pytest.mark.parametrize("deformers", LISTS, ids=lambda case: "+".join(deformer.function for deformer in case))
def test_deformers_before_skinning(context: Context, library: ShaderLibrary, deformers: list[Deformer]) -> None:
    random = np.random.default_rng(8)
    mesh, skin = cloud(VERTICES, random, tangents=True), random_skin(VERTICES, JOINTS, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = warped(random_pose(JOINTS, random), mesh, deformers)
    assert_equals_reference(skinned, mesh, skin, pose, SkinningMethod.LBS)


def test_deformers_limited_to_a_bone(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(8)
    mesh, skin = sheet(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = random_pose(JOINTS, random)
    for bones in ((2, -1, 4), (5, 5, 2)):
        posed = warped(pose, mesh, [Twist(angle=60.0), Bulge(height=2.0), Taper(factor=1.3)], bones)
        assert_equals_reference(skinned, mesh, skin, posed, SkinningMethod.LBS)


def box() -> Mesh:
    corners, normals, triangles = [], [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            first, normal = len(corners), side * np.eye(3)[axis]
            for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corners.append(normal + one * np.eye(3)[(axis + 1) % 3] + other * np.eye(3)[(axis + 2) % 3])
                normals.append(normal)
            order = (0, 1, 2, 0, 2, 3) if side > 0 else (0, 2, 1, 0, 3, 2)
            triangles += [[first + order[0], first + order[1], first + order[2]],
                          [first + order[3], first + order[4], first + order[5]]]  # fmt: skip
    return mesh_of(corners, triangles, normals=normals)


@pytest.mark.parametrize("before", [[], [Twist(angle=50.0)], [Taper(factor=1.4), Bend(angle=30.0)]])
def test_a_bulge_does_not_tear_hard_edges(context: Context, library: ShaderLibrary, before: list[Deformer]) -> None:
    mesh = box()
    skinned = SkinnedMesh(context, library, mesh, None)
    pose = warped(pose_of(np.zeros((0, 4, 4))), mesh, [*before, Bulge(height=20.0)])
    assert_equals_reference(skinned, mesh, None, pose, SkinningMethod.LBS)
    skinned.skin(pose)
    places = skinned.read()["position"][:, :3]
    _, corner_of = np.unique(mesh.positions, axis=0, return_inverse=True)
    for corner in range(8):
        three = places[corner_of.ravel() == corner]
        assert len(three) == 3
        np.testing.assert_allclose(three, three[:1].repeat(3, axis=0), atol=1e-6)
    if not before:
        moved = places - mesh.positions
        assert (np.linalg.norm(moved, axis=1) > 0.01).all()
        np.testing.assert_allclose(moved / np.linalg.norm(moved, axis=1, keepdims=True),
                                   mesh.positions / np.sqrt(3.0), atol=1e-4)  # fmt: skip
        normals = skinned.read()["normal"][:, :3][corner_of.ravel() == 0]
        assert (np.abs(normals[[0, 1, 2]] - normals[[1, 2, 0]]).max(axis=1) > 0.1).all(), "edges stay hard"
