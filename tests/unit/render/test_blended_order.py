"""What shows through is drawn from far to near, wherever the pose has it."""

import numpy as np

from sinew.sim.assets.model import Skin
from sinew.sim.render.surface import DrawRange, anchors_of, farthest_first
from tests.gl.render.worlds import mesh_of


def test_equally_far_ones_keep_their_order() -> None:
    assert farthest_first([1.0, 3.0, 1.0, np.inf, 3.0]) == [3, 1, 4, 0, 2]


def test_middles_follow_the_joint_that_moves_most_of_them() -> None:
    corners = np.array([[0, 0, 0], [2, 0, 0], [0, 4, 0], [5, 5, 5], [6, 5, 5], [5, 7, 5]])
    mesh = mesh_of(corners, np.arange(6).reshape(2, 3))
    weights = np.array([[0.6, 0.4], [0.2, 0.8], [0.3, 0.7], [1, 0], [1, 0], [0.9, 0.1]], np.float32)
    skin = Skin(np.tile(np.array([2, 1], np.uint16), (6, 1)), weights, 2)
    ranges = [DrawRange(0, 1, 1, False), DrawRange(0, 0, 1, False)]
    anchors = anchors_of(mesh, skin, ranges)
    palette = np.tile(np.eye(4), (3, 1, 1))
    palette[1, 0, 3], palette[2, 1, 3] = 10.0, 20.0
    placement = np.diag([2.0, 2.0, 2.0, 1.0])
    np.testing.assert_allclose(anchors.posed(placement, palette), [[11, 52, 10], [22, 4, 0]])
    still = anchors_of(mesh, None, ranges).posed(np.eye(4), palette[:0])
    np.testing.assert_allclose(still, [[5.5, 6, 5], [1, 2, 0]])
