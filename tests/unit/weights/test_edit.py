import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew import resources
from sinew.sim.assets.influences import Influences, influences_in
from sinew.sim.assets.load import load_model
from sinew.sim.skin.weights.edit import WeightTable, opposite_joints
from tests.unit.weights.cylinders import AROUND, cylinder

Float64 = npt.NDArray[np.float64]


def table_of(model: object) -> WeightTable:
    return WeightTable.of(model.mesh, model.skeleton, influences_in(model))  # type: ignore[attr-defined]


def table(seed: int = 1) -> WeightTable:
    """The humanoid with random weights."""
    model = load_model(resources.path("models") / "humanoid" / "humanoid.ezm")
    random, shape = np.random.default_rng(seed), (model.mesh.vertex_count, 5)
    weights = random.dirichlet(np.ones(5), shape[0])
    assert model.skeleton is not None
    return WeightTable.of(model.mesh, model.skeleton, Influences(random.integers(0, 60, shape), weights))


HUMANOID = table()


def dense(one: WeightTable) -> Float64:
    found = np.zeros((len(one.joints), one.skeleton.joint_count))
    np.add.at(found, (np.arange(len(found))[:, None], one.joints), one.weights)
    return found


@pytest.mark.slow
@given(
    st.integers(0, 59), st.lists(st.integers(0, 59), max_size=6), st.floats(-1.5, 1.5),
    st.integers(0, 1000), st.sampled_from(["paint", "add", "smooth", "prune", "mirror"]),
)  # fmt: skip
def test_any_change_keeps_sums_and_locked_bones(
    joint: int, locked: list[int], amount: float, seed: int, verb: str
) -> None:
    one = HUMANOID.copy()
    one.locked = frozenset(locked)
    random = np.random.default_rng(seed)
    rows = np.unique(random.integers(0, len(one.joints), 300))
    before = dense(one)
    match verb:
        case "paint":
            one.paint(joint, rows, np.full(len(rows), amount))
        case "add":
            one.add(joint, rows, random.uniform(-1.0, 1.0, len(rows)) * amount)
        case "smooth":
            one.smooth(rows, random.uniform(0.0, 1.0, len(rows)))
        case "prune":
            one.prune(1 + seed % 8, rows)
        case _:
            one.mirror(from_right=bool(seed % 2))
    after = dense(one)
    assert (one.weights >= 0.0).all()
    np.testing.assert_allclose(after.sum(axis=1), 1.0, atol=1e-12)
    if verb in ("paint", "add"):
        np.testing.assert_allclose(after[:, sorted(one.locked)], before[:, sorted(one.locked)], atol=1e-12)
    if verb == "paint" and joint not in locked:
        free = 1.0 - before[:, sorted(one.locked)].sum(axis=1)
        assert (after[rows, joint] >= np.clip(amount, 0.0, free[rows]) - 1e-9).all()


def test_painting_against_a_simple_reference() -> None:
    one, rows = HUMANOID.copy(), np.arange(0, 2000, 3)
    before = dense(one)
    one.locked = frozenset((3, 7))
    one.paint(12, rows, np.linspace(0.0, 0.9, len(rows)))
    expected = before[rows].copy()
    for number, value in enumerate(np.linspace(0.0, 0.9, len(rows))):
        row = expected[number]
        free = 1.0 - row[3] - row[7]
        value = min(value, free)
        others = np.array([index not in (3, 7, 12) for index in range(len(row))])
        row[others] *= (free - value) / row[others].sum()
        row[12] = value
    np.testing.assert_allclose(dense(one)[rows], expected, atol=1e-9)


def test_smoothing_against_a_simple_reference() -> None:
    one, rows = HUMANOID.copy(), np.array([5, 700, 4000])
    before = dense(one)
    one.smooth(rows, np.array([1.0, 0.5, 0.0]))
    after = dense(one)
    for row, share in zip(rows, (1.0, 0.5, 0.0), strict=True):
        near = one.pairs[one.pairs[:, 0] == row, 1]
        mixed = before[row] + 0.5 * share * (before[near].mean(axis=0) - before[row])
        mixed[np.argsort(-mixed)[8:]] = 0.0
        np.testing.assert_allclose(after[row], mixed / mixed.sum(), atol=1e-9)
    untouched = np.setdiff1d(np.arange(len(before)), rows)
    np.testing.assert_array_equal(after[untouched], before[untouched])


def test_a_bone_that_has_all_gives_to_its_parent() -> None:
    model = cylinder(5, weights=np.ones(5 * AROUND))
    one = table_of(model)
    one.add(1, np.arange(10), np.full(10, -0.25))
    np.testing.assert_allclose(one.of_joint(0)[:10], 0.25)
    np.testing.assert_allclose(one.of_joint(1)[:10], 0.75)
    np.testing.assert_array_equal(one.of_joint(1)[10:], 1.0)
    root = table_of(cylinder(5))
    root.add(0, np.arange(10), np.full(10, -0.25))
    np.testing.assert_allclose(root.of_joint(0), 1.0)  # there is no other bone


def test_mirrored_weights_have_the_bones_of_the_other_side() -> None:
    model = load_model(resources.path("models") / "humanoid" / "humanoid.ezm")
    one = table_of(model)
    left = model.skeleton.index("forearm_l")  # type: ignore[union-attr]
    right = model.skeleton.index("forearm_r")  # type: ignore[union-attr]
    assert opposite_joints(one.skeleton)[left] == right
    own = dense(one)
    rows = np.flatnonzero((one.places[:, 0] > 0.01) & (one.of_joint(left) > 0.1))
    one.add(left, rows, np.full(len(rows), 0.3))
    changed = one.of_joint(left)[rows]
    assert one.mirror() == 0
    np.testing.assert_allclose(one.of_joint(right)[one.images[rows]], changed, atol=1e-12)
    one.mirror()
    assert np.abs(dense(one)[rows] - own[rows]).max() > 0.01


@pytest.mark.parametrize(
    ("name", "other"),
    [("Left Arm", "Right Arm"), ("mixamorig:RightHand", "mixamorig:LeftHand"), ("Bip01 L Thigh", "Bip01 R Thigh"),
     ("upper_arm.L", "upper_arm.R"), ("J_Bip_R_Foot", "J_Bip_L_Foot"), ("thigh_l", "thigh_r"), ("RIGHTEYE", "LEFTEYE")],
)  # fmt: skip
def test_names_of_the_other_side(name: str, other: str) -> None:
    model = cylinder(3, names=(name, other))
    assert opposite_joints(model.skeleton).tolist() == [1, 0]  # type: ignore[arg-type]
    alone = cylinder(3, names=(name, "spine_lower"))
    assert opposite_joints(alone.skeleton).tolist() == [0, 1]  # type: ignore[arg-type]
