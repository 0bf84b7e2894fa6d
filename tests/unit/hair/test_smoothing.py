"""Curves that guides can follow, and what strands have beside them."""

import numpy as np

from sinew.sim.kinds.hair.imported import details, largest_turns, smooth_curves
from sinew.sim.kinds.hair.roots import unit


def test_curves_turn_little_keep_their_ends_and_leave_the_rest_as_detail() -> None:
    random = np.random.default_rng(5)
    wild = np.cumsum(random.normal(size=(200, 12, 3)) * 0.02 + [0.0, 0.01, 0.0], axis=1)
    turn = np.linspace(0.0, 2.0 * np.pi, 12)
    loops = np.stack([np.cos(turn), np.sin(turn), np.zeros(12)], axis=1)[None]
    loops[0, -1] = loops[0, 0]
    gentle = np.zeros((3, 12, 3))
    gentle[..., 1] = 0.02 * np.arange(12)
    knots = np.concatenate([wild, loops, gentle])
    curves, chords = smooth_curves(knots)
    assert largest_turns(curves).max() < 0.3 + 1e-6
    np.testing.assert_array_equal(curves[:, 0], knots[:, 0])
    np.testing.assert_allclose(curves[:200, -1], knots[:200, -1], atol=1e-12)
    np.testing.assert_array_equal(curves[-3:], gentle)
    edges = np.diff(curves, axis=1)
    np.testing.assert_allclose(np.linalg.norm(edges, axis=2), np.repeat(chords[:, None], 11, axis=1), rtol=1e-6)
    up = unit(edges[:, 0])
    level = unit(np.cross(up, [0.3, 0.5, 0.8]))
    parts = details(knots, curves, level, up)
    side = unit(np.cross(unit(edges), level[:, None]))
    axes = np.stack([unit(edges), side, np.cross(unit(edges), side)], axis=3)
    again = curves[:, 1:] + np.einsum("nkxa,nka->nkx", axes, parts[:, 1:])
    parallel = np.linalg.norm(np.cross(unit(edges), level[:, None]), axis=2) < 1e-6
    np.testing.assert_allclose(again[~parallel], knots[:, 1:][~parallel], atol=1e-9)
