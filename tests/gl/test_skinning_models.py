"""Skinning on the GPU against the reference, on every clip of the sample characters at ten random times."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from tests.gl.skinning_cases import assert_equals_reference

ANIMATED = ("dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm")
STATIC = ("beshon/beshon.ezm", "crater/crater.ezm", "woodchunk/woodChunkmesh.ezm")

TIME_COUNT = 10

loaded = cache(load_model)


def sample(assets: Path, name: str) -> CharacterModel:
    path = assets / "ezm" / name
    if not path.is_file():
        pytest.skip(f"no sample model {name}")
    return loaded(path)


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", ANIMATED)
def test_clips_at_random_times(
    context: Context, library: ShaderLibrary, assets: Path, name: str, method: SkinningMethod
) -> None:
    model = sample(assets, name)
    skinned = SkinnedMesh(context, library, model.mesh, model.skin)
    random = np.random.default_rng(len(name))
    assert model.clips
    for clip in model.clips:
        for time in random.uniform(0.0, clip.duration, TIME_COUNT):
            pose = evaluate_pose(model, clip, float(time), up_axis=model.default_up_axis)
            assert_equals_reference(skinned, model.mesh, model.skin, pose, method)


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", [*ANIMATED, "character/character.ezm"])
def test_bind_pose_returns_the_stored_vertices(
    context: Context, library: ShaderLibrary, assets: Path, name: str, method: SkinningMethod
) -> None:
    model = sample(assets, name)
    skinned = SkinnedMesh(context, library, model.mesh, model.skin)
    assert_equals_reference(skinned, model.mesh, model.skin, evaluate_pose(model, None, 0.0), method)
    tolerance = 1e-5 * max(model.mesh.bounds.extent, float(np.abs(model.mesh.positions).max()))
    np.testing.assert_allclose(skinned.read()["position"][:, :3], model.mesh.positions, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", STATIC)
def test_static_models_pass_through(context: Context, library: ShaderLibrary, assets: Path, name: str) -> None:
    model = sample(assets, name)
    skinned = SkinnedMesh(context, library, model.mesh, model.skin)
    assert not skinned.deforms
    assert_equals_reference(skinned, model.mesh, model.skin, evaluate_pose(model, None, 0.0), SkinningMethod.LBS)
    np.testing.assert_array_equal(skinned.read()["position"][:, :3], model.mesh.positions)
