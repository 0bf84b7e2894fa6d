"""Skeletons: what is accepted, bind matrices and their inverses."""

import numpy as np
import pytest

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.maths import quaternion as Q

TURN = Q.from_axis_angle([0.0, 0.0, 1.0], np.pi / 2)


def arm(**changes):
    """Hand, elbow, shoulder in that order: every parent comes after its child."""
    parts = {
        "names": ["hand", "elbow", "shoulder"],
        "parents": [1, 2, -1],
        "positions": [[2.0, 0, 0], [1.0, 0, 0], [0.0, 5, 0]],
        "orientations": [Q.IDENTITY, TURN, TURN],
        "scales": np.ones((3, 3)),
    }
    return build_skeleton(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"names": ["hand", "elbow", "hand"]}, "'hand' is used 2 times"),
        ({"parents": [1, 0, -1]}, "'hand' has no root"),
        ({"parents": [1, 2, 2]}, "has no root"),
        ({"parents": [1, 2, 3]}, "parent 3 of joint 'shoulder'"),
        ({"parents": [1, 2]}, "parents have shape"),
        ({"positions": np.zeros((3, 2))}, r"positions have shape \(3, 2\)"),
        ({"scales": [[1, 1, 1], [1, np.nan, 1], [1, 1, 1]]}, "scale of joint 'elbow' is not finite"),
        (
            {"names": [], "parents": [], "positions": [], "orientations": [], "scales": []},
            "at least one joint",
        ),
    ],
)
def test_what_makes_no_skeleton_is_refused_in_one_line(changes, text):
    with pytest.raises(ValueError, match=text):
        arm(**changes)


def test_parents_may_follow_their_children():
    skeleton = arm()
    assert [level.tolist() for level in skeleton.hierarchy.levels] == [[1], [0]]
    np.testing.assert_allclose(skeleton.model_from_bind[:, :3, 3], [[-2, 6, 0], [0, 6, 0], [0, 5, 0]], atol=1e-15)


def test_inverse_bind_takes_every_joint_to_the_origin():
    skeleton = arm(scales=[[1, 2, 1], [0.5, 1, 1], [3, 3, 3]])
    product = skeleton.bind_from_model @ skeleton.model_from_bind
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-12)


def test_scale_is_inherited_through_the_product():
    skeleton = arm(scales=[[1, 1, 1], [1, 1, 1], [2, 2, 2]])
    np.testing.assert_allclose(skeleton.model_from_bind[0, :3, 3], [-4, 7, 0], atol=1e-14)


def test_orientations_are_normalised_and_zero_is_the_identity():
    skeleton = arm(orientations=[[0, 0, 0, 0], 3.0 * TURN, TURN])
    np.testing.assert_allclose(skeleton.bind_orientations, [Q.IDENTITY, TURN, TURN])


def test_a_zero_scale_leaves_everything_finite():
    skeleton = arm(scales=[[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert np.isfinite(skeleton.bind_from_model).all()


def test_joints_are_found_by_name():
    skeleton = arm()
    assert skeleton.index("elbow") == 1
    with pytest.raises(KeyError):
        skeleton.index("knee")


def test_a_chain_of_ten_thousand_joints_builds():
    count = 10_000
    positions = np.tile([0.0, 1.0, 0.0], (count, 1))
    skeleton = build_skeleton(
        [str(index) for index in range(count)],
        np.arange(count) - 1,
        positions,
        np.tile(Q.IDENTITY, (count, 1)),
        np.ones((count, 3)),
    )
    np.testing.assert_allclose(skeleton.model_from_bind[-1, :3, 3], [0, count, 0])
