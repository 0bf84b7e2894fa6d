import importlib.util
from typing import Any

import numpy as np
import pytest

from sinew import resources
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.influences import with_influences
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.weights import weighted
from sinew.sim.skin.weights import sparse
from sinew.sim.skin.weights.edit import strongest
from sinew.sim.skin.weights.heat import bone_heat, segments_of, warming_joints
from sinew.sim.skin.weights.make import WeightOptions, automatic
from sinew.sim.skin.weights.sparse import WeightsError
from tests.synthetic_models import synthetic_character
from tests.unit.weights.cylinders import AROUND, RADIUS, cylinder, upper_weights

pytest.importorskip("scipy")

FAR = (40.0, -3.0, 7.0)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 4.0])
@pytest.mark.parametrize(("place", "scale"), [((0.0, 0.0, 0.0), 1.0), (FAR, 0.01), (FAR, 30.0)])
def test_a_cylinder_has_the_known_falloff(sharpness: float, place: tuple[float, float, float], scale: float) -> None:
    model = cylinder(place=place, scale=scale)
    found = bone_heat(model.mesh, segments_of(model.skeleton, np.array([0, 1])), sharpness)  # type: ignore[arg-type]
    assert found.unreached == 0
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    rings = found.weights.reshape(-1, AROUND, 2)
    height = np.linspace(-1.0, 1.0, len(rings))
    rate = np.sqrt(sharpness) / RADIUS  # w'' = rate² w with w = 1/2 at the joint and no flow through the ends
    beyond = 0.5 * np.cosh(rate * (1.0 - np.abs(height))) / np.cosh(rate)
    expected = np.where(height < 0.0, beyond, 1.0 - beyond)
    assert np.abs(rings[:, :, 1].mean(axis=1) - expected).max() < 0.004 * max(sharpness, 1.0)
    assert np.abs(rings[:, :, 0] - rings[::-1, :, 1]).max() < 1e-3  # float32 positions far from the origin


def test_a_cylinder_at_the_origin_is_mirrored_exactly() -> None:
    model = cylinder()
    found = bone_heat(model.mesh, segments_of(model.skeleton, np.array([0, 1])))  # type: ignore[arg-type]
    rings = found.weights.reshape(-1, AROUND, 2)
    assert np.abs(rings[:, :, 0] - rings[::-1, :, 1]).max() < 1e-6
    assert (np.diff(rings[:, :, 1].mean(axis=1)) > 0.0).all()


def test_a_piece_that_no_bone_reaches_takes_the_nearest_and_is_counted() -> None:
    facing_in = np.array([[[0.6, 0.4, 0.0], [0.6, 0.6, 0.1], [0.6, 0.6, -0.1]]])
    model = cylinder(extra=facing_in)
    model.mesh.normals[-3:] = (-1.0, 0.0, 0.0)  # the bones are in front of it
    stored, note = automatic(model, WeightOptions())
    made, _ = weighted(model, (stored,))
    np.testing.assert_array_equal(upper_weights(made)[-3:], 1.0)
    assert note == "3 vertices that no bone reaches take the nearest one"


@pytest.mark.slow
def test_a_walk_with_automatic_weights_stays_near_the_one_with_an_artists() -> None:
    model = load_model(resources.path("models") / "humanoid" / "humanoid.ezm")
    joints = warming_joints(model)
    heat = bone_heat(model.mesh, segments_of(model.skeleton, joints))  # type: ignore[arg-type]
    made = with_influences(model, strongest(heat.weights, heat.joints, 4))
    clip = next(clip for clip in model.clips if "walk" in clip.name)
    errors = []
    for time in np.linspace(0.0, clip.duration, 8, endpoint=False):
        pose = evaluate_pose(model, clip, float(time), interpolation=Interpolation.LINEAR)
        both = [
            skin(one.mesh, one.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions for one in (model, made)
        ]
        errors.append(np.linalg.norm(both[0] - both[1], axis=1))
    assert np.sqrt(np.mean(np.square(errors))) < 0.007
    assert 0.5 * np.abs(np.diff([_dense(one) for one in (model, made)], axis=0)).sum(axis=2).mean() < 0.2


def _dense(model: Any) -> Any:
    return np.stack([model.skin.weights_of(joint) for joint in range(model.skeleton.joint_count)], axis=1)


def test_what_cannot_be_made_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cylinder()
    bare = synthetic_character(20)
    with pytest.raises(WeightsError, match="no triangles"):
        automatic(bare, WeightOptions())
    monkeypatch.setattr(sparse, "DENSE_MAX", 100)
    with pytest.raises(WeightsError, match="984 vertices × 2 bones are more than 100 weights"):
        automatic(model, WeightOptions())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(WeightsError, match=r"needs the package scipy: pip install 'sinew\[weights\]'"):
        automatic(model, WeightOptions())
