"""The tree over the particles of a cloth holds each of them once, and near ones together."""

import numpy as np
import pytest

from sinew.sim.kinds.cloth.self_contact import EMPTY, FAN, LEAF_MAX, contact_tree, first_of_level


@pytest.mark.parametrize("count", [1, 2, 8, 9, 31, 33, 500, 2304])
def test_every_particle_has_one_place(count: int) -> None:
    tree = contact_tree(np.random.default_rng(1).normal(size=(count, 3)))
    held = tree.order[tree.order != EMPTY]
    np.testing.assert_array_equal(np.sort(held), np.arange(count))
    assert tree.leaf_size <= LEAF_MAX
    assert len(tree.order) == tree.leaf_count * tree.leaf_size
    leaves = tree.leaves(count)
    assert all(particle in tree.order.reshape(-1, tree.leaf_size)[leaves[particle]] for particle in range(count))


def test_the_levels_follow_each_other() -> None:
    tree = contact_tree(np.random.default_rng(1).normal(size=(500, 3)))
    assert [first_of_level(level) for level in range(4)] == [0, 1, 1 + FAN, 1 + FAN + FAN * FAN]
    assert tree.first_place == first_of_level(tree.depth) + tree.leaf_count
    assert tree.node_count == tree.first_place + len(tree.order)


def test_leaves_of_a_sheet_are_small_patches() -> None:
    column, row = np.meshgrid(np.arange(64.0), np.arange(64.0))
    places = np.stack([column, row, 0.0 * row], axis=-1).reshape(-1, 3)
    leaves = places[contact_tree(places).order].reshape(-1, 4, 3)
    assert np.ptp(leaves, axis=1).max() == 1.0


def test_the_order_is_the_same_every_time_even_among_equals() -> None:
    places = np.zeros((100, 3))
    np.testing.assert_array_equal(contact_tree(places).order, contact_tree(places).order)
