"""Records for the GPU: layout, empty lists, and what is left out."""

import re

import msgspec
import numpy as np

from sinew.shaders import ROOT
from sinew.sim.colliders.pack import COLLIDER_TEXELS, arranged, pack_colliders
from sinew.sim.colliders.state import ColliderShape
from tests.oracles.contact import RESTING_ACCELERATION
from tests.oracles.sweep import SWEEP_SLOP
from tests.unit.colliders.cases import collider, placed

MOVED = placed((1.0, 2.0, 4.0))


def constant(file: str, name: str) -> float:
    found = re.search(rf"const \w+ {name} = ([^;]+);", (ROOT / file).read_text(encoding="utf-8"))
    assert found is not None
    return float(found[1])


def test_both_sides_use_the_same_constants() -> None:
    assert constant("common/collide.glsl", "COLLIDER_TEXELS") == COLLIDER_TEXELS
    assert constant("common/collide.glsl", "RESTING_ACCELERATION") == RESTING_ACCELERATION
    assert constant("common/sweep.glsl", "SWEEP_SLOP") == SWEEP_SLOP


def test_no_colliders_are_no_records() -> None:
    packed = pack_colliders([], 1.0 / 60.0)
    assert packed.shape == (0, COLLIDER_TEXELS, 4)
    assert packed.dtype == np.float32


def test_layout_of_a_record() -> None:
    state = collider(ColliderShape.CAPSULE, placed((1, 2, 3)), MOVED, friction=0.25, restitution=0.5)
    packed = pack_colliders([state], 0.5)[0]
    np.testing.assert_allclose(packed[0], [1, 2, 3, 1.1 + 1.0], rtol=1e-6)
    np.testing.assert_allclose(packed[1], [0, 0, 1, 0])
    np.testing.assert_allclose(packed[2], [0, 0.8, 0, 0.3], rtol=1e-6)
    np.testing.assert_allclose(packed[3], [0, 0, 0, 1])
    assert packed[4, 3] == 0.0
    np.testing.assert_allclose(packed[5], [0.25, 0.5, 2.0, 0.0])


def test_every_shape_packs_finite_numbers_also_when_time_stands() -> None:
    states = [collider(shape, placed((0, 0, 0)), MOVED) for shape in ColliderShape]
    assert np.isfinite(pack_colliders(states, 1.0 / 60.0)).all()
    np.testing.assert_array_equal(pack_colliders(states, 0.0)[:, 5, 2], 0.0)


def test_defines_follow_what_there_is() -> None:
    still = [collider(ColliderShape.BOX), collider(ColliderShape.PLANE)]
    moving = [msgspec.structs.replace(still[0], world_from_end=MOVED), still[1]]
    for states, is_still in ((still, True), (moving, False), ([], True)):
        assert arranged(states)[1].defines["COLLIDE_STILL"] is is_still
