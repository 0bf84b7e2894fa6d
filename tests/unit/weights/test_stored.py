import base64
import dataclasses
import json
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import ProjectError, load_project, save_project
from sinew.sim.assets.influences import Influences, influences_in, with_influences
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Palette, Skin
from sinew.sim.characters.settings import ModelSettings, model_settings
from sinew.sim.characters.weights import WHOLE, SkinWeights, packed, quantised, taken_over, weighted
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.unit.weights.cylinders import AROUND, cylinder, upper_weights

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
RAMP = np.linspace(0.0, 1.0, 9 * AROUND)


def dense(model: CharacterModel) -> dict[str, np.ndarray]:
    assert model.skeleton is not None
    assert model.skin is not None
    return {name: model.skin.weights_of(number) for number, name in enumerate(model.skeleton.names)}


def random_influences(model: CharacterModel, width: int, seed: int = 3) -> Influences:
    random = np.random.default_rng(seed)
    assert model.skeleton is not None
    shape = model.mesh.vertex_count, width
    return Influences(random.integers(0, model.skeleton.joint_count, shape), random.dirichlet(np.ones(width), shape[0]))


@pytest.mark.parametrize("width", [1, slow(3), 4, slow(7), slow(8)])
def test_stored_weights_come_back_within_the_last_of_16_bits(width: int) -> None:
    model = load_model(HUMANOID)
    made = with_influences(model, random_influences(model, width))
    found, fault = weighted(model, (packed(model, random_influences(model, width)),))
    assert fault == ""
    before, after = dense(made), dense(found)
    assert max(np.abs(after[name] - before[name]).max() for name in before) <= 1.0 / WHOLE + 1e-7
    assert packed(found, influences_in(found)) == packed(model, random_influences(model, width))  # type: ignore[arg-type]


def test_whole_numbers_sum_and_are_nearest() -> None:
    weights = np.random.default_rng(4).dirichlet(np.ones(8), 1000)
    whole = quantised(weights)
    np.testing.assert_array_equal(whole.sum(axis=1), WHOLE)
    assert np.abs(whole - weights * WHOLE).max() < 1.0


def test_models_without_changes_are_the_same_object() -> None:
    model = cylinder(9, weights=RAMP)
    assert weighted(model, ()) == (model, "")


def test_weights_of_other_meshes_and_bones_are_not_used_and_say_why() -> None:
    model = cylinder(9, weights=RAMP)
    stored = packed(model, influences_in(model))  # type: ignore[arg-type]
    other = cylinder(11)
    same, fault = weighted(other, (stored,))
    assert same is other
    assert fault.startswith("the changed weights are not used: they are of a mesh of 216 vertices with other triangles")
    _, fault = weighted(cylinder(9, names=("lower", "top")), (stored,))
    assert fault == "the changed weights are not used: the model has no bone 'upper'"
    _, fault = weighted(dataclasses.replace(model, skeleton=None, skin=None), (stored,))
    assert fault == "the changed weights are not used: the model has no bones"


@pytest.mark.parametrize(("place", "scale"), [((0.0, 0.0, 0.0), 1.0), ((9.0, -2.0, 1.0), 20.0)])
def test_weights_of_the_mesh_before_are_taken_over(place: tuple[float, float, float], scale: float) -> None:
    model = cylinder(9, weights=RAMP)
    stored = packed(model, influences_in(model))  # type: ignore[arg-type]
    other = cylinder(17, place=place, scale=scale)
    taken, note = taken_over(other, stored)
    made, fault = weighted(other, (taken,))
    assert (note, fault) == ("", "")
    np.testing.assert_allclose(upper_weights(made).reshape(-1, AROUND)[::2].ravel(), upper_weights(model), atol=1e-4)
    with pytest.raises(ValueError, match="none of the 2 bones"):
        taken_over(cylinder(17, names=("a", "b")), stored)
    taken, note = taken_over(cylinder(9, names=("lower", "b")), stored)
    assert note == "1 bones of the changed weights are missing"
    assert taken.bones == ("lower",)


def palette_model(second: np.ndarray) -> CharacterModel:
    """A cylinder whose upper bone has two entries, and whose skin has no entry for the lower one."""
    model = cylinder(9)
    assert model.skeleton is not None
    bind = model.skeleton.bind_from_model
    palette = Palette(np.array([1, 1]), np.stack([bind[1], second @ bind[1]]), np.zeros((2, 3)))
    joints = np.zeros((model.mesh.vertex_count, 4), np.uint16)
    joints[::2, 0] = 1
    weights = np.zeros((model.mesh.vertex_count, 4), np.float32)
    weights[:, 0] = 1.0
    return dataclasses.replace(model, skin=Skin(joints, weights, 1, palette))


def test_a_palette_gets_entries_for_other_bones() -> None:
    model = palette_model(np.eye(4))
    assert model.skeleton is not None
    made = with_influences(model, Influences(np.tile([[0, 1]], (216, 1)), np.tile([[0.25, 0.75]], (216, 1))))
    assert made.skin is not None
    assert made.skin.palette is not None
    assert made.skin.palette.entry_joints.tolist() == [1, 1, 0]
    np.testing.assert_allclose(made.skin.palette.bind_from_mesh[2], model.skeleton.bind_from_model[0], atol=1e-12)
    np.testing.assert_allclose(upper_weights(made), 0.75)


def test_bones_that_are_bound_in_two_ways_are_refused() -> None:
    moved = np.eye(4)
    moved[0, 3] = 0.5
    model = palette_model(moved)
    stored = packed(model, Influences(np.zeros((216, 1), np.intp), np.ones((216, 1))))
    same, fault = weighted(model, (stored,))
    assert same is model
    assert fault == "the changed weights are not used: parts of the model are bound to the same bones in different ways"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"joints": "?"}, "joints: not compressed base64"),
        ({"weights": "AAAA"}, "weights: not compressed base64"),
        ({"count": 5}, "joints: has not 20 bytes"),
        ({"influences": 1}, "joints: has not 432 bytes"),
        ({"bones": ("lower",)}, "joints: 1 of 1 bones"),
        ({"places": ""}, "places: "),
    ],
)
def test_damaged_weights_are_refused_with_the_reason(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    model = cylinder(9, weights=RAMP)
    stored = packed(model, influences_in(model))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=reason):
        msgspec.structs.replace(stored, **change)
    path = tmp_path / "a.sinew"
    settings = ModelSettings(path=str(HUMANOID), weights=(stored,))
    save_project(path, Scene(nodes=(Node(id="m", settings=settings),)), ViewState())
    assert model_settings(load_project(path).scene.node("m")).weights == (stored,)
    content = json.loads(path.read_text())
    (node,) = content["nodes"]
    node["model"]["weights"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(ProjectError, match=reason.split(":")[0]):
        load_project(path)


def test_compressed_data_that_unpack_to_more_are_refused() -> None:
    bomb = base64.b64encode(zlib.compress(bytes(1 << 24))).decode()
    with pytest.raises(ValueError, match="joints: has not 8 bytes"):
        SkinWeights(count=4, influences=1, topology="x", bones=("a",), joints=bomb, weights=bomb, places=bomb)


@pytest.mark.parametrize("models", [(), slow(("a.glb", "a.ezm"))])
def test_the_command_makes_and_writes_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], models: tuple[str, ...]
) -> None:
    pytest.importorskip("scipy")
    made = [tmp_path / name for name in (*models, "a.sinew")]
    for path in made:
        assert main(["weights", str(HUMANOID), "--automatic", "--output", str(path)]) == 0
        assert f"{path}: 21,510 vertices, 59 bones, 4 per vertex" in capsys.readouterr().out
    stored = model_settings(load_project(made[-1]).scene.characters[0]).weights
    expected = dense(weighted(load_model(HUMANOID), stored)[0])
    for path in made[:-1]:
        found = dense(load_model(path))
        assert max(np.abs(found[name] - expected[name]).max() for name in expected) <= 1.0 / WHOLE
    assert main(["weights", str(made[-1]), "--allow-outside", "--mirror", "left", "--influences", "2", "--smooth", "1",
                 "--output", str(tmp_path / "b.ezm")]) == 0  # fmt: skip
    assert "2 per vertex" in capsys.readouterr().out
    again = load_model(tmp_path / "b.ezm")
    assert again.skin is not None
    assert again.skin.influence_max == 2


def test_the_command_refuses_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    arm, out = resources.path("models") / "arm" / "arm.ezm", str(tmp_path / "a.glb")
    for words, reason in (
        ([str(arm), "--from", str(HUMANOID)], "no bone of humanoid.ezm has a name of a bone of arm.ezm"),
        ([str(arm), "--section", "coat"], "arm.ezm has no section 'coat'; it has stripes"),
        ([str(arm), "--node", "leg"], "there is no character 'leg'; there are: arm"),
        ([str(resources.path("models") / "cape" / "cape.ezm"), "--automatic"], "the model has no bones"),
    ):
        assert main(["weights", *words, "--output", out]) == 1
        said = capsys.readouterr().err.strip().splitlines()
        assert reason in said[-1], said
    assert not Path(out).exists()
