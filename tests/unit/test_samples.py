"""The sample models and projects: sound as files, natural as motion; models equal to what their sources make."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sinew import resources
from sinew.app.files.project_file import load_project
from sinew.resources import make_samples
from sinew.resources.samples import arm_model, head_model, tiny_model, walk
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.images import load_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

MODELS = resources.path("models")
PROJECTS = resources.path("projects")


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(MODELS / "humanoid" / "humanoid.ezm")


@pytest.fixture(scope="module")
def arm() -> CharacterModel:
    return load_model(MODELS / "arm" / "arm.ezm")


@pytest.fixture(scope="module")
def tiny() -> CharacterModel:
    return load_model(MODELS / "tiny" / "tiny.ezm")


def joints_at(model: CharacterModel, clip: str, frame: int) -> tuple[Float64, Float64]:
    """World matrices of the joints (B, 4, 4) and the palette (B, 4, 4) at a key of a clip."""
    chosen = model.clip(clip)
    time = float(chosen.key_times[frame])
    pose = evaluate_pose(model, chosen, time, interpolation=Interpolation.LINEAR, lock_root=False, up_axis="Y")
    return pose.model_from_joint, pose.palette


def skinned(model: CharacterModel, clip: str, frame: int, method: SkinningMethod) -> Float64:
    _, palette = joints_at(model, clip, frame)
    return skin(model.mesh, model.skin, palette, method).positions


def frames_of(model: CharacterModel, clip: str) -> range:
    return range(len(model.clip(clip).key_times))


def welded(model: CharacterModel) -> npt.NDArray[np.int64]:
    """Triangles whose corners name places instead of vertices: seams of the texture closed."""
    _, place = np.unique(model.mesh.positions, axis=0, return_inverse=True)
    return place.reshape(-1)[model.mesh.triangles.astype(np.int64)]


def edges(triangles: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Directed edges, shape (3 T, 2)."""
    return np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])


@pytest.mark.parametrize("name", ["humanoid", "arm", "tiny", "cape"])
def test_a_sample_loads_without_a_warning(name: str) -> None:
    model = load_model(MODELS / name / f"{name}.ezm")
    assert model.warnings == ()
    assert model.default_up_axis == "Y"
    for material in model.materials:
        assert material.texture_path is not None


def test_the_humanoid_is_rich_enough(humanoid: CharacterModel) -> None:
    assert humanoid.skeleton is not None
    assert humanoid.skeleton.joint_count >= 40
    assert humanoid.mesh.vertex_count >= 5000
    assert len(humanoid.mesh.sections) >= 4
    assert [clip.name for clip in humanoid.clips] == ["walk", "turn", "wave"]
    assert humanoid.skin is not None
    assert humanoid.skin.influence_max == 4


def test_the_humanoid_stands_on_the_floor_and_faces_the_front(humanoid: CharacterModel) -> None:
    lo, hi = humanoid.mesh.bounds.lo, humanoid.mesh.bounds.hi
    assert lo[1] == pytest.approx(0.0, abs=0.002)
    assert 1.70 < hi[1] < 1.90
    assert lo[0] == pytest.approx(-hi[0], abs=0.002)
    assert humanoid.skeleton is not None
    places = humanoid.skeleton.model_from_bind[:, :3, 3]
    assert places[humanoid.skeleton.index("toes_l"), 2] > places[humanoid.skeleton.index("foot_l"), 2] + 0.05
    assert places[humanoid.skeleton.index("hand_l"), 0] > 0.2


def test_the_samples_together_are_small() -> None:
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) < 7_000_000


@pytest.mark.parametrize("name", ["humanoid", "arm"])
def test_a_mesh_is_closed_and_wound_outwards(name: str, request: pytest.FixtureRequest) -> None:
    model: CharacterModel = request.getfixturevalue(name)
    triangles = welded(model)
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    directed = edges(triangles)
    each, counts = np.unique(directed, axis=0, return_counts=True)
    assert counts.max() == 1
    backwards = np.unique(directed[:, ::-1], axis=0)
    assert np.array_equal(each, backwards)
    corners = model.mesh.positions.astype(np.float64)[model.mesh.triangles]
    assert np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() > 0.0


@pytest.mark.parametrize("name", ["humanoid", "arm"])
def test_normals_agree_with_the_faces(name: str, request: pytest.FixtureRequest) -> None:
    mesh = request.getfixturevalue(name).mesh
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(faces, axis=1)
    assert areas.min() > 1e-9
    along = np.einsum("ij,ij->i", faces / areas[:, None], mesh.normals[mesh.triangles].mean(axis=1))
    assert (along > 0.0).mean() > 0.995


def test_texture_coordinates_stay_in_the_image(humanoid: CharacterModel, arm: CharacterModel) -> None:
    for model in (humanoid, arm):
        assert model.mesh.texcoords.min() >= 0.0
        assert model.mesh.texcoords.max() <= 1.0


def test_weights_are_smooth_over_the_surface(humanoid: CharacterModel) -> None:
    assert humanoid.skin is not None
    assert humanoid.skeleton is not None
    weights = np.zeros((humanoid.mesh.vertex_count, humanoid.skeleton.joint_count))
    np.put_along_axis(weights, humanoid.skin.joints.astype(np.int64), humanoid.skin.weights, axis=1)
    # Slots without weight name joint 0 and would overwrite it; joint 0 moves nothing here.
    weights[:, 0] = 1.0 - weights[:, 1:].sum(axis=1)
    assert np.abs(weights[:, 0]).max() < 1e-6
    pairs = edges(humanoid.mesh.triangles.astype(np.int64))
    moved = 0.5 * np.abs(weights[pairs[:, 0]] - weights[pairs[:, 1]]).sum(axis=1)
    assert moved.max() < 0.60
    assert np.quantile(moved, 0.95) < 0.30


def test_equal_places_move_together(humanoid: CharacterModel) -> None:
    _, place, count = np.unique(humanoid.mesh.positions, axis=0, return_inverse=True, return_counts=True)
    posed = skinned(humanoid, "walk", 5, SkinningMethod.LBS)
    total = np.zeros((len(count), 3))
    np.add.at(total, place.reshape(-1), posed)
    assert np.abs(posed - (total / count[:, None])[place.reshape(-1)]).max() < 1e-6


@pytest.mark.parametrize("clip", ["walk", "wave", "turn"])
def test_a_clip_ends_as_it_begins(humanoid: CharacterModel, clip: str) -> None:
    first, _ = joints_at(humanoid, clip, 0)
    last, _ = joints_at(humanoid, clip, len(humanoid.clip(clip).key_times) - 1)
    assert np.abs(first - last).max() < 2e-4


@pytest.mark.parametrize("clip", ["walk", "turn", "wave"])
def test_no_joint_jumps(humanoid: CharacterModel, clip: str) -> None:
    turns = np.stack([quaternion.from_matrix(joints_at(humanoid, clip, f)[0][:, :3, :3])
                      for f in frames_of(humanoid, clip)])  # fmt: skip
    between = np.degrees(2.0 * quaternion.arc(turns[1:], quaternion.aligned(turns[:-1], turns[1:])))
    assert between.max() < 30.0
    assert np.abs(np.diff(between, axis=0)).max() < 12.0


@pytest.mark.parametrize("clip", ["walk", "turn", "wave"])
@pytest.mark.parametrize("side", ["_l", "_r"])
def test_knees_never_bend_backwards(humanoid: CharacterModel, clip: str, side: str) -> None:
    assert humanoid.skeleton is not None
    thigh, shin, foot = (humanoid.skeleton.index(name + side) for name in ("thigh", "shin", "foot"))
    for frame in frames_of(humanoid, clip):
        world, _ = joints_at(humanoid, clip, frame)
        upper, lower = (world[b, :3, 3] - world[a, :3, 3] for a, b in ((thigh, shin), (shin, foot)))
        hinge = np.cross(upper, lower) / np.linalg.norm(upper) / np.linalg.norm(lower)
        to_the_left = -world[thigh, :3, 0]
        bend = np.degrees(np.arcsin(np.clip(np.dot(hinge, to_the_left), -1.0, 1.0)))
        assert bend > 1.0, f"{clip} frame {frame}"


def shoe_vertices(model: CharacterModel, side: float) -> npt.NDArray[np.intp]:
    """Vertices of one shoe."""
    section = next(s for s in model.mesh.sections if model.materials[s.material].name == "shoes")
    rows = model.mesh.triangles[section.first_triangle : section.first_triangle + section.triangle_count]
    vertices = np.unique(rows)
    return vertices[side * model.mesh.positions[vertices, 0] > 0.0].astype(np.intp)


@pytest.mark.parametrize("clip", ["walk", "turn", "wave"])
def test_feet_stay_above_the_floor(humanoid: CharacterModel, clip: str) -> None:
    shoes = np.concatenate([shoe_vertices(humanoid, 1.0), shoe_vertices(humanoid, -1.0)])
    step = 1 if clip == "walk" else 4
    for frame in frames_of(humanoid, clip)[::step]:
        lowest = skinned(humanoid, clip, frame, SkinningMethod.LBS)[shoes, 1].min()
        assert lowest > -0.010
        assert lowest < 0.010, "one foot is always on the floor"


@pytest.mark.parametrize(("side", "shift"), [(1.0, 0), (-1.0, walk.STEPS // 2)])
def test_walking_feet_do_not_slide_on_the_treadmill(humanoid: CharacterModel, side: float, shift: int) -> None:
    """Between the heel's landing and its rise the sole moves with the treadmill; then the ball does until toe-off."""
    shoes = shoe_vertices(humanoid, side)
    sole = shoes[humanoid.mesh.positions[shoes, 1] < 0.004]
    depth = humanoid.mesh.positions[sole, 2]
    speed = walk.STRIDE / (walk.STEPS * walk.FRAME_STEP)
    for part, first, last in (((-0.09, 0.18), 0.10, 0.32), ((0.08, 0.18), 0.10, 0.54)):
        chosen = sole[(depth > part[0]) & (depth < part[1])]
        tracks = []
        for number in range(int(first * walk.STEPS) + 1, int(last * walk.STEPS)):
            frame = (number + shift) % walk.STEPS
            posed = skinned(humanoid, "walk", frame, SkinningMethod.LBS)[chosen]
            tracks.append(posed + np.array([0.0, 0.0, speed * number * walk.FRAME_STEP]))
        travel = np.ptp(np.stack(tracks), axis=0)
        assert travel[:, [0, 2]].max() < 0.020


def test_the_walk_has_a_heel_strike_and_swings_the_arms_against_the_legs(humanoid: CharacterModel) -> None:
    assert humanoid.skeleton is not None
    world, _ = joints_at(humanoid, "walk", 0)
    place = {name: world[humanoid.skeleton.index(name), :3, 3] for name in humanoid.skeleton.names}
    assert place["foot_l"][2] > 0.2 > -0.1 > place["foot_r"][2]
    assert place["toes_l"][1] > place["foot_l"][1] - 0.06, "the toes are up when the heel lands"
    assert place["hand_r"][2] > place["hand_l"][2] + 0.2


def test_the_wave_raises_the_right_hand_above_the_head(humanoid: CharacterModel) -> None:
    assert humanoid.skeleton is not None
    heights = [joints_at(humanoid, "wave", f)[0][:, 1, 3] for f in frames_of(humanoid, "wave")]
    hand = np.array([height[humanoid.skeleton.index("middle_3_r")] for height in heights])
    head = np.array([height[humanoid.skeleton.index("head")] for height in heights])
    assert (hand - head).max() > 0.1
    assert (hand - head)[[0, -1]].max() < -0.5


def test_the_head_leads_the_turn(humanoid: CharacterModel) -> None:
    assert humanoid.skeleton is not None
    joints = [humanoid.skeleton.index(name) for name in ("head", "hips")]
    ahead = []
    for frame in range(8, 40):
        world, _ = joints_at(humanoid, "turn", frame)
        head, hips = (world[j, :3, :3] @ humanoid.skeleton.model_from_bind[j, :3, :3].T for j in joints)
        relative = hips.T @ head
        ahead.append(np.degrees(np.arctan2(relative[0, 2], relative[2, 2])))
    assert max(ahead) > 15.0
    assert min(ahead) > -3.0


def radius_at_the_twist(model: CharacterModel, method: SkinningMethod) -> float:
    """Smallest distance of the tube's skin from its axis when the twist is complete."""
    along = model.mesh.positions[:, 0] - arm_model.ORIGIN[0]
    tube = (along > 0.10) & (along < 1.15)
    posed = skinned(model, "twist", arm_model.FRAMES // 2, method)[tube]
    return float(np.hypot(posed[:, 1] - arm_model.ORIGIN[1], posed[:, 2]).min())


def test_the_twisted_arm_collapses_only_under_linear_blending(arm: CharacterModel) -> None:
    assert radius_at_the_twist(arm, SkinningMethod.LBS) < 0.2 * arm_model.RADIUS
    assert radius_at_the_twist(arm, SkinningMethod.DQS) > 0.99 * arm_model.RADIUS


@pytest.mark.parametrize(("clip", "angle"), [("twist", arm_model.TWIST), ("bend", arm_model.BEND)])
def test_the_arm_turns_as_far_as_it_says(arm: CharacterModel, clip: str, angle: float) -> None:
    assert arm.skeleton is not None
    world, _ = joints_at(arm, clip, arm_model.FRAMES // 2)
    turn = quaternion.from_matrix(world[arm.skeleton.index("hand"), :3, :3])
    assert np.degrees(2.0 * quaternion.arc(turn, quaternion.IDENTITY)) == pytest.approx(angle, abs=1e-3)


@pytest.mark.parametrize(
    ("method", "expected"),
    [(SkinningMethod.LBS, tiny_model.FRAME_1_LBS), (SkinningMethod.DQS, tiny_model.FRAME_1_DQS)],
)
def test_the_strip_is_where_the_hand_calculation_says(
    tiny: CharacterModel, method: SkinningMethod, expected: tuple[tuple[float, float, float], ...]
) -> None:
    assert np.abs(skinned(tiny, "nod", 1, method) - np.array(expected)).max() < 1e-6
    moved = np.array(tiny_model.POSITIONS) + np.array([1.0, 0.0, 0.0])
    assert np.abs(skinned(tiny, "nod", 2, method) - moved).max() < 1e-6


def assert_same_model(one: CharacterModel, other: CharacterModel) -> None:
    """Meshes with targets bit-identical, images to the pixel."""
    np.testing.assert_array_equal(one.mesh.positions, other.mesh.positions)
    for mesh in (one.mesh, other.mesh):
        assert mesh.targets is not None
        assert mesh.targets.names == head_model.TARGETS
        np.testing.assert_array_equal(mesh.targets.deltas, one.mesh.targets.deltas)
    for mine, theirs in zip(one.materials, other.materials, strict=True):
        assert replace(mine, embedded=None) == replace(theirs, embedded=None)
        for image, twin in zip(mine.images, theirs.images, strict=True):
            assert np.array_equal(load_image(image), load_image(twin))


def assert_same_files(made: list[Path], folder: Path) -> None:
    """Models equal to the byte, images to the pixel: their compression belongs to the library at hand."""
    assert made
    for path in made:
        shipped = (MODELS / path.relative_to(folder)).read_bytes()
        if path.suffix == ".png":
            images = [np.asarray(Image.open(io.BytesIO(data))) for data in (shipped, path.read_bytes())]
            assert np.array_equal(*images), path.name
        elif path.suffix == ".glb":
            assert_same_model(load_model(MODELS / path.relative_to(folder)), load_model(path))
        else:
            assert path.read_bytes() == shipped, path.name


def test_small_samples_are_made_the_same_again(tmp_path: Path) -> None:
    assert_same_files(
        [
            path
            for make in (make_samples.make_tiny, make_samples.make_arm, make_samples.make_cape, make_samples.make_head)
            for path in make(tmp_path)
        ],
        tmp_path,
    )


@pytest.mark.campaign
def test_the_humanoid_is_made_the_same_again(tmp_path: Path) -> None:
    assert_same_files(make_samples.make_humanoid(tmp_path), tmp_path)


SHIPPED = sorted(path.stem for path in PROJECTS.glob("*.sinew"))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_sample_project_opens_without_a_warning(name: str) -> None:
    project = load_project(PROJECTS / f"{name}.sinew")
    assert project.warnings == ()
    assert project.migrated_from is None
    for node in project.scene.of_kind("model"):
        model = load_model(Path(node.settings.path))
        assert node.settings.clip in [clip.name for clip in model.clips]
