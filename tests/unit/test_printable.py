from sinew.sim.printable import numbered


def test_numbers_are_the_smallest_free_ones() -> None:
    taken = {"a", "a 2", "a 4"}
    assert [numbered("a", taken) for _ in range(3)] == ["a 3", "a 5", "a 6"]
    assert numbered("b", taken, "_") == "b"
    assert numbered("b", taken, "_") == "b_2"


def test_many_equal_names_get_numbers_in_order() -> None:
    taken = set[str]()
    names = [numbered("a", taken) for _ in range(20_000)]
    assert names == ["a", *(f"a {number}" for number in range(2, 20_001))]
