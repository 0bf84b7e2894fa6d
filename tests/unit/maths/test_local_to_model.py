"""Evaluation order and hierarchy product against plain recursion."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.hierarchy import CycleError, build_hierarchy, model_from_local
from sinew.sim.maths.transform import compose


@st.composite
def forests(draw):
    """Parents of up to 40 joints in any order, several roots allowed."""
    count = draw(st.integers(1, 40))
    sorted_parents = [draw(st.integers(-1, joint - 1)) for joint in range(count)]
    order = draw(st.permutations(range(count)))
    parents = np.full(count, -1)
    for joint, parent in enumerate(sorted_parents):
        parents[order[joint]] = order[parent] if parent >= 0 else -1
    return parents


def random_local(count: int) -> np.ndarray:
    random = np.random.default_rng(count)
    turns = Q.normalised(random.normal(size=(count, 4)))
    return compose(random.normal(size=(count, 3)), turns, random.uniform(0.8, 1.2, (count, 3)))


def by_recursion(local: np.ndarray, parents: np.ndarray, joint: int) -> np.ndarray:
    parent = int(parents[joint])
    return local[joint] if parent < 0 else by_recursion(local, parents, parent) @ local[joint]


@given(forests())
def test_levels_hold_every_joint_once_with_its_parent_a_level_earlier(parents):
    hierarchy = build_hierarchy(parents)
    roots = np.flatnonzero(parents < 0)
    levels = [roots, *hierarchy.levels]
    assert sorted(np.concatenate(levels).tolist()) == list(range(len(parents)))
    for earlier, level in itertools.pairwise(levels):
        assert set(parents[level].tolist()) <= set(earlier.tolist())
    np.testing.assert_array_equal(hierarchy.order[hierarchy.places], np.arange(len(parents)))


@given(forests())
def test_model_matrices_are_products_along_the_ancestors(parents):
    local = random_local(len(parents))
    model = model_from_local(local, build_hierarchy(parents))
    for joint in range(len(parents)):
        np.testing.assert_allclose(model[joint], by_recursion(local, parents, joint), rtol=1e-9, atol=1e-9)


def test_many_frames_at_once_equal_one_by_one():
    parents = np.array([2, 0, -1, 1, 2])
    hierarchy = build_hierarchy(parents)
    local = np.stack([random_local(5) @ random_local(6)[:5] for _ in range(3)], axis=1)
    local[:, 1] = local[:, 1] @ local[:, 0]
    together = model_from_local(local, hierarchy)
    for frame in range(3):
        np.testing.assert_allclose(together[:, frame], model_from_local(local[:, frame], hierarchy), atol=1e-12)


def test_the_local_matrices_are_not_changed():
    local = random_local(4)
    before = local.copy()
    model_from_local(local, build_hierarchy([-1, 0, 1, 1]))
    np.testing.assert_array_equal(local, before)


@pytest.mark.parametrize(("parents", "joint"), [([0], 0), ([-1, 2, 1], 1), ([-1, 0, 4, 2, 3], 2)])
def test_a_cycle_is_refused_and_named(parents, joint):
    with pytest.raises(CycleError) as caught:
        build_hierarchy(parents)
    assert caught.value.joint == joint


@pytest.mark.parametrize("parents", [[-2], [-1, 2], [5]])
def test_a_parent_out_of_range_is_refused(parents):
    with pytest.raises(ValueError, match="out of range"):
        build_hierarchy(parents)
