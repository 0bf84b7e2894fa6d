"""Every glTF model at hand opens, or is refused for a stated reason."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.clip import CurveClip
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import Interpolation
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from tests.gltf_answers import Answer

MODELS = 55
PACKAGES = {"EXT_meshopt_compression": "meshopt", "KHR_draco_mesh_compression": "DracoPy"}
AT_ONCE = Answer("InterpolationTest/glTF/InterpolationTest.gltf", (-4.6564, -2.15946, -1), (4.7033, 11, 1.00367))


def models(assets: Path) -> list[Path]:
    folder = assets / "gltf"
    if not folder.is_dir():
        pytest.skip("the glTF models are not at hand")
    return sorted(path for path in folder.rglob("*") if path.suffix in (".gltf", ".glb"))


def test_every_model_opens(assets: Path) -> None:
    found = models(assets)
    assert len(found) >= MODELS
    for path in found:
        missing = [name for key, name in PACKAGES.items() if key in path.read_bytes().decode("latin-1")]
        missing = [name for name in missing if importlib.util.find_spec(name) is None]
        if missing:
            with pytest.raises(ModelError, match=f"needs the package {missing[0]}$"):
                load_model(path)
            continue
        model = load_model(path)
        assert model.mesh.vertex_count, path
        assert model.mesh.triangles.max() < model.mesh.vertex_count
        for time in (None, *(0.37 * clip.duration for clip in model.clips[:1])):
            pose = bind_pose(model) if time is None else evaluate_pose(model, model.clips[0], time)
            posed = skin(
                model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres, pose.local.weights
            ).positions
            assert np.isfinite(posed).all(), path


def test_nothing_needs_a_warning_but_textures(assets: Path) -> None:
    for path in models(assets):
        try:
            warnings = load_model(path).warnings
        except ModelError:
            continue
        assert all("Textures" in warning for warning in warnings), (path, warnings)


def test_all_clips_at_once(assets: Path) -> None:
    path = assets / "gltf" / AT_ONCE.file
    if not path.is_file():
        pytest.skip("the model is not at hand")
    channels = [channel for clip in read_raw(path).clips for channel in clip.channels]
    model = load_model(path)
    assert model.skeleton is not None
    pose = evaluate_pose(model, CurveClip("all", channels, model.skeleton), 0.6)
    AT_ONCE.check(skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions)


def test_skins_of_real_models(assets: Path) -> None:
    path = assets / "gltf" / "CesiumMan" / "glTF-Binary" / "CesiumMan.glb"
    if not path.is_file():
        pytest.skip("the model is not at hand")
    model = load_model(path)
    assert model.skin is not None
    assert model.skin.palette is not None
    assert len(model.skin.palette.entry_joints) == 19
    assert model.materials[0].embedded is not None
    local = model.clips[0].sample(0.0, Interpolation.LINEAR)
    assert len(local.positions) == 22
