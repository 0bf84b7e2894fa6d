"""Edges of a triangle list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.render.surface import unique_edges

corners = st.integers(0, 2**32 - 1) | st.integers(0, 6)


def brute_force(triangles: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(edge) for edge in sorted({tuple(sorted(pair)) for a, b, c in triangles
                                           for pair in ((a, b), (b, c), (c, a))})]  # fmt: skip


@given(st.lists(st.tuples(corners, corners, corners), min_size=1, max_size=40))
def test_every_edge_once_and_sorted(triangles):
    before = np.array(triangles, np.uint32)
    given_triangles = before.copy()
    assert unique_edges(given_triangles).tolist() == brute_force(triangles)
    np.testing.assert_array_equal(given_triangles, before)


def test_no_triangles_have_no_edges():
    assert unique_edges(np.zeros((0, 3), np.uint32)).shape == (0, 2)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_grid_has_the_edges_that_euler_counts(size):
    """V - E + F = 1 for a disc."""
    index = np.arange((size + 1) ** 2).reshape(size + 1, size + 1)
    a, b, c, d = index[:-1, :-1].ravel(), index[:-1, 1:].ravel(), index[1:, 1:].ravel(), index[1:, :-1].ravel()
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).astype(np.uint32)
    assert index.size - len(unique_edges(triangles)) + len(triangles) == 1
