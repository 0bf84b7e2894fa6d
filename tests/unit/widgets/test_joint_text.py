from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.model import LocalPose
from sinew.sim.maths import quaternion, transform
from sinew.sim.maths.quaternion import to_euler_degrees
from sinew.widgets.inspector.sections import local_placement, vector_text, world_placement

angle = st.floats(-180.0, 180.0, allow_nan=False)


@given(x=angle, y=angle, z=angle)
def test_euler_angles_turn_as_the_quaternion_does(x, y, z):
    q = quaternion.from_euler_degrees(np.array([x, y, z]))
    again = quaternion.from_euler_degrees(to_euler_degrees(q))
    assert np.abs(quaternion.to_matrix(again) - quaternion.to_matrix(q)).max() < 1e-7


@pytest.mark.parametrize("y", [90.0, -90.0])
def test_euler_angles_at_the_pole(y):
    q = quaternion.from_euler_degrees(np.array([25.0, y, 40.0]))
    again = quaternion.from_euler_degrees(to_euler_degrees(q))
    assert np.abs(quaternion.to_matrix(again) - quaternion.to_matrix(q)).max() < 1e-7


def test_simple_turns_are_told_as_they_were_given():
    for angles in ((30.0, 0.0, 0.0), (0.0, 45.0, 0.0), (0.0, 0.0, -60.0), (10.0, 20.0, 30.0)):
        assert to_euler_degrees(quaternion.from_euler_degrees(np.array(angles))) == pytest.approx(angles, abs=1e-9)


def test_texts_have_no_negative_zero():
    assert vector_text(np.array([-1e-9, 1.0, -2.5])) == "0.0000  1.0000  -2.5000"
    assert vector_text(np.array([90.0, -0.001]), digits=2, unit="°") == "90.00°  0.00°"


def test_placements():
    turn = quaternion.from_euler_degrees(np.array([0.0, 90.0, 0.0]))
    local = LocalPose(np.array([[1.0, 2.0, 3.0]]), turn[None], np.array([[2.0, 2.0, 2.0]]))
    matrix = transform.compose(local.positions, local.orientations, local.scales)
    pose = SimpleNamespace(local=local, model_from_joint=matrix)
    assert local_placement(pose, 0).position.tolist() == [1.0, 2.0, 3.0]
    moved = np.eye(4)
    moved[:3, 3] = 10.0
    world = world_placement(pose, 0, moved)
    assert world.position == pytest.approx([11.0, 12.0, 13.0])
    assert world.scale == pytest.approx([2.0, 2.0, 2.0])
    assert world.texts()[1] == "0.00°  90.00°  0.00°"
    assert world_placement(pose, 0, None).position == pytest.approx([1.0, 2.0, 3.0])
