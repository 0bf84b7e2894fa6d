"""Expressions against a matrix in double precision, and their settings."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.app.headless.variants import _converted
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.rig import Expression, Rig
from sinew.sim.cache.sweep import axis_of
from sinew.sim.characters.character import shaped, shapes
from sinew.sim.characters.expressions import expression_weights
from sinew.sim.characters.playing import pose_of
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.params import ParamError, validated, weights_from
from sinew.sim.scene.scene import Node, Scene
from tests.vrm_samples import vrm

TARGETS = ("eyes", "smile", "open")


@pytest.fixture
def model(tmp_path: Path) -> CharacterModel:
    return vrm().load(tmp_path)


def weights(model: CharacterModel, *expressions: Expression, **values: float) -> np.ndarray:
    assert model.mesh.targets is not None
    return expression_weights(Rig(expressions=expressions), model.mesh.targets, values)


def test_values_times_the_matrix_of_the_expressions(model: CharacterModel) -> None:
    generator = np.random.default_rng(3)
    matrix = generator.uniform(size=(5, 3))
    parts = [Expression(f"e{row}", tuple(zip(TARGETS, matrix[row].tolist(), strict=True))) for row in range(5)]
    for _ in range(20):
        values = generator.uniform(size=5)
        found = weights(model, *parts, **{f"e{row}": float(value) for row, value in enumerate(values)})
        np.testing.assert_allclose(found, values @ matrix, rtol=1e-14)


def test_binary_expressions_are_off_or_on(model: CharacterModel) -> None:
    blink = Expression("blink", (("eyes", 0.9),), is_binary=True)
    for value, expected in ((0.0, 0.0), (0.5, 0.0), (0.501, 0.9), (1.0, 0.9)):
        assert weights(model, blink, blink=value)[0] == expected


def test_expressions_suppress_others(model: CharacterModel) -> None:
    blink, mouth = Expression("blinkLeft", (("eyes", 1.0),)), Expression("aa", (("open", 1.0),))
    happy = Expression("happy", (("smile", 1.0),), overrides=(("blink", "blend"), ("mouth", "block")))
    sad = Expression("sad", (), overrides=(("blink", "blend"),))
    values = {"happy": 0.25, "sad": 0.125, "blinkLeft": 0.8, "aa": 0.5}
    np.testing.assert_allclose(weights(model, blink, mouth, happy, sad, **values), [0.8 * 0.625, 0.25, 0.0], rtol=1e-15)
    values |= {"happy": 0.75, "sad": 0.75}
    np.testing.assert_allclose(weights(model, blink, mouth, happy, sad, **values), [0.0, 0.75, 0.0])
    binary = Expression("sad", (), True, (("blink", "blend"),))
    assert weights(model, blink, binary, sad=0.5, blinkLeft=0.8)[0] == 0.8, "the value counts after the edge"
    assert weights(model, blink, binary, sad=0.6, blinkLeft=0.8)[0] == 0.0
    on_off = Expression("blink", (("eyes", 1.0),), is_binary=True)
    assert weights(model, on_off, sad, sad=0.001, blink=1.0)[0] == 0.0, "never partly there"
    own = Expression("blink", (("eyes", 1.0),), overrides=(("blink", "block"),))
    assert weights(model, own, blink=0.7)[0] == 0.7, "the own group is not suppressed"


def test_expressions_are_added_to_the_clip_and_the_targets(model: CharacterModel) -> None:
    assert not shapes(ModelSettings())
    settings = ModelSettings(expressions=(("wink", 0.5), ("unknown", 1.0)), target_weights=(("eyes", 0.25),))
    pose = shaped(pose_of(model, settings, 0.0, (0.0, 0.0)), settings, model, 0.0)
    np.testing.assert_allclose(pose.local.weights, [0.25 + 0.5, 0.5 * 0.8, 0.0])
    alone = msgspec.structs.replace(settings, solo_target="smile")
    pose = shaped(pose_of(model, alone, 0.0, (0.0, 0.0)), alone, model, 0.0)
    np.testing.assert_allclose(pose.local.weights, [0.0, 0.4, 0.0])


def test_settings_accept_values_from_0_to_1() -> None:
    assert validated(ModelSettings(), expressions=(("a", 1.0),)).expressions == (("a", 1.0),)
    with pytest.raises(ParamError, match="expressions"):
        validated(ModelSettings(), expressions=(("a", 1.1),))


def test_sweeps_set_expressions() -> None:
    scene = Scene(nodes=(Node(id="model-1", name="Girl", settings=ModelSettings()),))
    axis = axis_of(scene, "Girl.expressions=happy=0,happy=0.5+blink=1")
    assert axis.values == ((("happy", 0.0),), (("happy", 0.5), ("blink", 1.0)))
    made = _converted(ModelSettings, "expressions", "happy=0.5+blink=1")
    assert made == ModelSettings(expressions=(("happy", 0.5), ("blink", 1.0)))
    assert weights_from("a=b=0.5") == [("a=b", 0.5)]
    for text in ("Girl.expressions=happy", "Girl.expressions=happy=2"):
        with pytest.raises(ParamError):
            axis_of(scene, text)
