import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.scene.params import Scale
from sinew.widgets.number_text import NumberRange, gain, nice_step

SPEED = NumberRange(lo=-4.0, hi=4.0, step=0.1)
COMPLIANCE = NumberRange(lo=0.0, soft=(1e-9, 1e-3), scale=Scale.LOG)


def test_modifiers_scale_the_movement():
    assert gain(False, False) == 1.0
    assert SPEED.moved(0.0, 10.0, gain(True, False)) == pytest.approx(SPEED.moved(0.0, 10.0, 1.0) / 10.0)
    assert SPEED.moved(0.0, 10.0, gain(False, True)) == pytest.approx(SPEED.moved(0.0, 10.0, 1.0) * 10.0)


def test_a_linear_drag_moves_by_half_a_step_per_pixel_and_lands_on_the_grid():
    raw = SPEED.moved(1.0, 7.0, 1.0)
    assert raw == pytest.approx(1.35)
    assert SPEED.settled(raw, start=1.0, factor=1.0) in (1.3, 1.4)
    assert SPEED.settled(1.234, start=1.0, factor=0.1) == pytest.approx(1.23)


def test_a_drag_stays_in_the_soft_range_but_never_jumps_back_into_it():
    intensity = NumberRange(lo=0.0, hi=1000.0, soft=(0.0, 5.0), step=0.1)
    assert intensity.settled(9.0, start=1.0, factor=1.0) == 5.0
    assert intensity.settled(60.0, start=50.0, factor=1.0) == 50.0
    assert intensity.settled(40.0, start=50.0, factor=1.0) == 40.0
    assert intensity.clamped(2000.0) == 1000.0


def test_a_log_drag_multiplies_and_crosses_the_span_in_300_pixels():
    assert COMPLIANCE.moved(1e-9, 300.0, 1.0) == pytest.approx(1e-3)
    assert COMPLIANCE.settled(1.23456e-5, start=1e-6, factor=1.0) == 1.23e-5
    assert COMPLIANCE.settled(1.23456e-5, start=1e-6, factor=0.1) == 1.235e-5


def test_a_log_field_reaches_zero_below_its_span_and_leaves_it_again():
    assert COMPLIANCE.settled(5e-10, start=1e-9, factor=1.0) == 0.0
    assert COMPLIANCE.moved(0.0, 100.0, 1.0) > 1e-9


def test_whole_numbers_move_by_whole_steps():
    columns = NumberRange(lo=2, hi=512, whole=True)
    assert columns.unit_step == 2.0
    assert columns.stepped(10, 1, 1.0) == 12
    assert float(columns.settled(10.6, start=10, factor=0.1)).is_integer()
    assert columns.stepped(10, 1, 0.1) == 11


def test_repeated_steps_do_not_gather_rounding_errors():
    value = 0.0
    for _ in range(30):
        value = SPEED.stepped(value, 1.0, 1.0)
    assert value == 3.0


@pytest.mark.parametrize(("rough", "step"), [(1.0, 1.0), (0.3, 0.2), (0.02, 0.02), (7.0, 5.0), (640.0, 500.0)])
def test_nice_steps(rough, step):
    assert nice_step(rough) == pytest.approx(step)


@given(st.floats(-1e3, 1e3), st.floats(-4.0, 4.0), st.sampled_from([0.1, 1.0, 10.0]))
def test_a_drag_never_leaves_the_hard_range(raw, start, factor):
    assert -4.0 <= SPEED.settled(raw, start=start, factor=factor) <= 4.0
