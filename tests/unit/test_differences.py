import numpy as np

from sinew.app.jobs.verify import Difference
from sinew.sim.kinds.differences import difference_text, differing, state_fields
from sinew.sim.kinds.packing import State


def test_the_element_that_differs_most_is_named_with_both_values_and_the_amount() -> None:
    here, there = np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32)
    assert differing({"p": here}, {"p": there}) == ()
    there[1, 2] = -0.0
    assert difference_text("p", here, there) == "p[1, 2] is 0 instead of -0, which differ in the sign of 0 only"
    there[2, 1] = 1e-41
    assert difference_text("p", here, there) == "p[2, 1] is 0 instead of 9.99966584e-42, 1e-41 apart"
    there[0, 3] = 0.5
    assert difference_text("p", here, there) == "p[0, 3] is 0 instead of 0.5, 0.5 apart"
    there[1, 1] = np.nan
    assert difference_text("p", here, there) == "p[1, 1] is 0 instead of nan"
    assert differing({"p": here, "q": here}, {"p": there, "q": here}) == ("p",)


def test_other_shapes_types_and_missing_arrays_are_named() -> None:
    here = np.zeros((3, 4), np.float32)
    assert difference_text("p", here, here[:2]) == "p is float32[3, 4], the other is float32[2, 4]"
    assert difference_text("p", here, None) == "p is float32[3, 4], the other is missing"
    assert differing({"p": here}, {}) == ("p",)
    assert difference_text("n", np.array(["a"]), np.array(["b"])) == "n[0] is a instead of b"
    assert difference_text("i", np.array([1, 5]), np.array([1, 7])) == "i[1] is 5 instead of 7, 2 apart"


def test_fields_of_nested_states_have_names() -> None:
    records = np.zeros(2, [("position", "f4", 4), ("velocity", "f4", 4)])
    fields = state_fields(State({"count": 3, "inner": State({"time": 1.5}, records)}, np.eye(4)).packed())
    assert {name: array.shape for name, array in fields.items()} == {
        "count": (1,), "inner.time": (1,), "inner.position": (2, 4), "inner.velocity": (2, 4), "array 0": (4, 4),
    }  # fmt: skip


def test_verify_names_the_field_of_a_state_where_no_array_differs() -> None:
    records = np.zeros(2, [("position", "f4", 4)])
    other = records.copy()
    other["position"][1, 3] = 2e-40
    difference = Difference(7)
    places = {"positions": np.zeros((2, 3), np.float32)}
    difference.take(7, places, places)
    difference.take_states(State({}, records).packed(), State({}, other).packed())
    text = "step 7 is the first that differs; position[1, 3] is 0 instead of 2.00000323e-40, 2e-40 apart at step 7"
    assert str(difference) == text


def test_verify_names_array_element_values_and_amount() -> None:
    here, there = (np.zeros((2, 3), np.float32) for _ in range(2))
    there[1, 0] = 0.25
    difference = Difference(4)
    difference.take(4, {"positions": here, "velocities": here}, {"positions": there, "velocities": here})
    difference.take_states(b"", b"")
    assert str(difference) == (
        "step 4 is the first that differs in its positions, by up to 0.25 m, at step 4 in particle 1"
        " (0.250, 0.000, 0.000); positions[1, 0] is 0 instead of 0.25, 0.25 apart at step 4"
    )
