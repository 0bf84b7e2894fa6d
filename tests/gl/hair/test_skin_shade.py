"""Skin below strands is darker in the standard look."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sinew.sim.assets.model import CharacterModel, Skin
from sinew.sim.gl.context import Context
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.view import Look
from tests.gl.render.worlds import Stage, light_node, make_stage, model_node, quad, straight_skeleton
from tests.model_samples import mesh_of, model_of

COLUMNS = 16


def sheet() -> CharacterModel:
    """A sheet of 2 x 2 m; the second joint has the weight of its left half."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, COLUMNS + 1), [0.5, 2.5])
    positions = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    first = np.arange(COLUMNS)
    above = first + COLUMNS + 1
    faces = np.concatenate([np.stack([first, first + 1, above + 1], 1), np.stack([first, above + 1, above], 1)])
    weights = np.zeros((len(positions), 4), np.float32)
    weights[:, 1] = positions[:, 0] < 0.0
    weights[:, 0] = 1.0 - weights[:, 1]
    joints = np.tile(np.array([0, 1, 0, 0], np.uint16), (len(positions), 1))
    return model_of(mesh_of(positions, faces), skeleton=straight_skeleton(2, 2.0), skin=Skin(joints, weights, 2))


@pytest.fixture
def stage(context: Context) -> Iterator[Stage]:
    made = make_stage(context)
    made.show({"skin": sheet(), "bald": model_of(quad(0.4, 0.4, (0.0, 1.0, 0.8)))})
    yield made
    made.release()


def picture(stage: Stage, *, visible: bool = True, look: Look = Look.STANDARD, **changes: Any) -> np.ndarray:
    settings = HairSettings(
        source=HairSource.FACES, guides=50, children=10000, density_bone="joint 1", length=0.2, root_radius=1e-3,
        lean=0.0, disorder=0.0,
        **changes,
    )  # fmt: skip
    hair = Node(id="hair", settings=settings, attachment=Attachment(node="skin"), visible=visible)
    stage.look(model_node("skin"), model_node("bald"), light_node((1.0, 3.0, 4.0), shadow=False), hair, look=look)
    stage.engine.refresh(0.0)
    return stage.picture()


def test_skin_below_strands_is_darker_and_other_skin_is_not(stage: Stage) -> None:
    shaded, plain = picture(stage), picture(stage, skin_shade=0.0)
    difference = (plain - shaded).max(axis=2)
    assert difference.min() >= 0
    assert (difference[:, 92:] == 0).all(), "a face beside the hair"
    seen = (difference > 10)[35:85, 35:70]
    assert seen.mean() > 0.3
    less = (plain - picture(stage, skin_shade=0.2)).max(axis=2)[35:85, 35:70][seen]
    assert 3 < np.median(less) < np.median(difference[35:85, 35:70][seen]) - 5
    bald = difference[73:81, 76:84]
    np.testing.assert_array_equal(bald, 0, "another model")


def test_hidden_hair_and_the_classic_look_have_no_shade(stage: Stage) -> None:
    picture(stage)
    hidden = picture(stage, visible=False)
    np.testing.assert_array_equal(hidden, picture(stage, visible=False, skin_shade=0.0))
    classic = picture(stage, look=Look.CLASSIC)
    np.testing.assert_array_equal(classic, picture(stage, look=Look.CLASSIC, skin_shade=0.0))
