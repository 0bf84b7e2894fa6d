"""Upper end of the difference ramp."""

import math

from hypothesis import given
from hypothesis import strategies as st

from sinew.app.viewport.frame_info import nice_ceiling


@given(st.floats(1e-200, 1e200))
def test_the_smallest_step_of_1_2_5_that_is_not_below(value):
    ceiling = nice_ceiling(value)
    assert value <= ceiling <= 2.5000001 * value
    power = 10.0 ** math.floor(math.log10(ceiling) + 1e-9)
    assert min(abs(ceiling / power - step) for step in (1.0, 2.0, 5.0)) < 1e-6


def test_round_values_stay_and_others_go_up():
    pairs = {1.0: 1.0, 1.1: 2.0, 2.0: 2.0, 2.1: 5.0, 5.0: 5.0, 5.1: 10.0, 9.9: 10.0, 0.03: 0.05, 1234.0: 2000.0}
    for value, expected in pairs.items():
        assert math.isclose(nice_ceiling(value), expected)
