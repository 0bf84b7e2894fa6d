"""The benchmark of compiling: four starts of the same scene, all of which build its programs."""

from sinew.sim.bench.compile import compile_rows


def test_rows_tell_the_first_start_and_what_was_kept_of_it() -> None:
    rows = compile_rows(1)
    assert [row.variant for row in rows] == [
        "first start", "second start", "second start, driver's cache alone", "second start, program binaries alone"
    ]  # fmt: skip
    assert all(row.ms_per_step_min > 0.0 and row.unit == "programs" for row in rows)
    assert len({row.size for row in rows}) == 1
    assert rows[0].size > 20
