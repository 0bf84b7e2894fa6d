import io
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sinew import resources
from sinew.app.project.project_file import load_project
from sinew.resources import make_samples
from sinew.resources.samples import head_model, tiny_model
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.images import load_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod

Float64 = npt.NDArray[np.float64]

MODELS = resources.path("models")
PROJECTS = resources.path("projects")


def joints_at(model: CharacterModel, clip: str, frame: int) -> tuple[Float64, Float64]:
    """World matrices of the joints (B, 4, 4) and the palette (B, 4, 4) at a key of a clip."""
    chosen = model.clip(clip)
    time = float(chosen.key_times[frame])
    pose = evaluate_pose(model, chosen, time, interpolation=Interpolation.LINEAR, lock_root=False, up_axis="Y")
    return pose.model_from_joint, pose.palette


def skinned(model: CharacterModel, clip: str, frame: int, method: SkinningMethod) -> Float64:
    _, palette = joints_at(model, clip, frame)
    return skin(model.mesh, model.skin, palette, method).positions


@pytest.mark.parametrize("name", ["humanoid", "arm", "tiny", "cape"])
def test_a_sample_loads_without_a_warning(name: str) -> None:
    model = load_model(MODELS / name / f"{name}.ezm")
    assert model.warnings == ()
    assert model.default_up_axis == "Y"
    for material in model.materials:
        assert material.texture_path is not None


def assert_same_model(one: CharacterModel, other: CharacterModel) -> None:
    np.testing.assert_array_equal(one.mesh.positions, other.mesh.positions)
    for mesh in (one.mesh, other.mesh):
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


def test_sample_projects_open_without_a_warning() -> None:
    loaded = cache(load_model)
    for path in PROJECTS.glob("*.sinew"):
        project = load_project(path)
        assert project.warnings == ()
        assert project.migrated_from is None
        for node in project.scene.of_kind("model"):
            assert node.settings.clip in [clip.name for clip in loaded(Path(node.settings.path)).clips]


def test_the_strip_is_where_the_hand_calculation_says() -> None:
    tiny = load_model(MODELS / "tiny" / "tiny.ezm")
    moved = np.array(tiny_model.POSITIONS) + np.array([1.0, 0.0, 0.0])
    known = ((SkinningMethod.LBS, tiny_model.FRAME_1_LBS), (SkinningMethod.DQS, tiny_model.FRAME_1_DQS))
    for method, expected in known:
        assert np.abs(skinned(tiny, "nod", 1, method) - np.array(expected)).max() < 1e-6
        assert np.abs(skinned(tiny, "nod", 2, method) - moved).max() < 1e-6
