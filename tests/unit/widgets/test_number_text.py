import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.model import LocalPose
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.maths import quaternion, transform
from sinew.sim.scene.params import Scale, check
from sinew.sim.scene.vectors import STOP_MAX, check_stops, values_at
from sinew.widgets.inspector.sections import local_placement, vector_text, world_placement
from sinew.widgets.inspector.stops import gap_beside, inserted, moved, removed, with_share, with_values
from sinew.widgets.number_text import NumberRange, NumberTextError, format_number, gain, nice_step, parse_number


def test_numbers_arithmetic_and_units_are_read():
    for text, unit, value in (
        (" 1,5 s", "s", 1.5), ("007", "", 7.0), ("\u22122", "", -2.0), ("(1 + 2) / 4", "", 0.75), ("1e-7", "", 1e-7),
        ("-0.5 ×", "×", -0.5), (".5", "", 0.5), ("2**9", "", 512.0), ("sqrt(2)*sqrt(2)", "", 2.0), ("pi", "", math.pi),
        ("max(1, 2.5)", "m", 2.5), ("2in", "m", 0.0508), ("1 m + 25 cm", "m", 1.25), ("pi/2 rad", "°", 90.0),
        ("1/2 in", "m", 0.0127), ("90 °", "°", 90.0), ("250 ms", "s", 0.25), ("36 km/h", "m/s", 10.0),
        ("500 g", "kg", 0.5), ("50 %", "", 0.5), ("9.81 m/s²", "m/s²", 9.81), ("1e-2 m", "m", 0.01),
    ):  # fmt: skip
        assert parse_number(text, unit) == pytest.approx(value, rel=1e-14)


def test_the_present_value_is_changed():
    for text, unit, value in (
        ("*2", "m", 3.0),
        ("/ 3", "m", 0.5),
        ("+=0.1", "m", 1.6),
        ("-= 50 cm", "m", 1.0),
        ("*=4", "m", 6.0),
        ("-2", "m", -2.0),
        ("+2", "m", 2.0),
        ("* sqrt(4)", "m", 3.0),
    ):
        assert parse_number(text, unit, 1.5) == pytest.approx(value)
        if (value != parse_number("2", unit) and text[0] in "*/") or "=" in text:
            with pytest.raises(NumberTextError, match="no number yet"):
                parse_number(text, unit)


def test_anything_else_is_refused_with_one_line():
    for text in (
        "", "   ", "abc", "1/0", "25 cm", "inf", "nan", "1e999", "True", "__import__('os')", "1;2", "(" * 60, "9" * 65,
        "9**9**9**9", "sqrt(-1)", "sqrt()", "exp(1e9)", "max(1, (2).real)", "*", "lambda: 1", "6 ft 1",
    ):  # fmt: skip
        with pytest.raises(NumberTextError) as error:
            parse_number(text)
        assert "\n" not in str(error.value)
        assert str(error.value)


def test_numbers_have_as_many_digits_as_the_field_says():
    for value, decimals, decimals_max, text in (
        (1.0, 1, 2, "1.0"),
        (1.05, 1, 2, "1.05"),
        (1.054, 1, 2, "1.05"),
        (3.0, 0, None, "3"),
        (23.0, 0, 2, "23"),
        (120.0, 0, 0, "120"),
        (-0.0, 1, None, "0.0"),
        (-0.001, 2, None, "0.00"),
        (1e-7, None, None, "1e-07"),
        (0.43219, None, None, "0.4322"),
    ):
        assert format_number(value, decimals, decimals_max) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_shown_text_reads_back_within_its_precision(value, decimals):
    assert parse_number(format_number(value, decimals)) == pytest.approx(value, abs=0.5000001 * 10.0**-decimals)


SPEED = NumberRange(lo=-4.0, hi=4.0, step=0.1)
COMPLIANCE = NumberRange(lo=0.0, soft=(1e-9, 1e-3), scale=Scale.LOG)


def test_a_linear_drag_moves_by_half_a_step_per_pixel_and_lands_on_the_grid():
    assert gain(False, False) == 1.0
    assert SPEED.moved(0.0, 10.0, gain(True, False)) == pytest.approx(SPEED.moved(0.0, 10.0, 1.0) / 10.0)
    assert SPEED.moved(0.0, 10.0, gain(False, True)) == pytest.approx(SPEED.moved(0.0, 10.0, 1.0) * 10.0)
    assert [nice_step(rough) for rough in (1.0, 0.3, 7.0, 640.0)] == pytest.approx([1.0, 0.2, 5.0, 500.0])
    value = 0.0
    for _ in range(30):
        value = SPEED.stepped(value, 1.0, 1.0)
    assert value == 3.0, "rounding errors do not gather"
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


@given(st.floats(-1e3, 1e3), st.floats(-4.0, 4.0), st.sampled_from([0.1, 1.0, 10.0]))
def test_a_drag_never_leaves_the_hard_range(raw, start, factor):
    assert -4.0 <= SPEED.settled(raw, start=start, factor=factor) <= 4.0


def test_texts_have_no_negative_zero():
    assert vector_text(np.array([-1e-9, 1.0, -2.5])) == "0.0000  1.0000  -2.5000"
    assert vector_text(np.array([90.0, -0.001]), digits=2, unit="°") == "90.00°  0.00°"


def test_placements():
    turn = quaternion.from_euler_degrees(np.array([0.0, 90.0, 0.0]))
    local = LocalPose(np.array([[1.0, 2.0, 3.0]]), turn[None], np.array([[2.0, 2.0, 2.0]]))
    matrix = transform.compose(local.positions, local.orientations, local.scales)
    pose = SimpleNamespace(local=local, model_from_joint=matrix)
    assert local_placement(pose, 0).position.tolist() == [1.0, 2.0, 3.0]
    moved = np.eye(4)
    moved[:3, 3] = 10.0
    world = world_placement(pose, 0, moved)
    assert world.position == pytest.approx([11.0, 12.0, 13.0])
    assert world.scale == pytest.approx([2.0, 2.0, 2.0])
    assert world.texts()[1] == "0.00°  90.00°  0.00°"
    assert world_placement(pose, 0, None).position == pytest.approx([1.0, 2.0, 3.0])


STOPS = ((0.0, 0.0), (0.4, 1.0), (0.8, 0.5))
UNIT = st.floats(0.0, 1.0)
LISTS = st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=STOP_MAX).map(lambda stops: tuple(sorted(stops)))


def test_a_stop_moves_between_its_neighbours():
    assert moved(STOPS, 1, 0.6) == ((0.0, 0.0), (0.6, 1.0), (0.8, 0.5))
    assert moved(STOPS, 1, 0.9)[1] == (0.8, 1.0)
    assert moved(STOPS, 1, -1.0)[1] == (0.0, 1.0)
    assert moved(STOPS, 0, 0.3, (0.7,))[0] == (0.3, 0.7)
    assert moved(STOPS, 2, 1.5)[2] == (1.0, 0.5)


def test_a_typed_share_is_taken_as_it_is_and_may_pass_neighbours():
    assert with_share(STOPS, 1, 0.123456789) == (((0.0, 0.0), (0.123456789, 1.0), (0.8, 0.5)), 1)
    assert with_share(STOPS, 1, 0.95) == (((0.0, 0.0), (0.8, 0.5), (0.95, 1.0)), 2)
    assert with_share(STOPS, 2, 0.1) == (((0.0, 0.0), (0.1, 0.5), (0.4, 1.0)), 1)
    assert with_share(STOPS, 1, 0.8) == (((0.0, 0.0), (0.8, 1.0), (0.8, 0.5)), 1)


def test_a_new_stop_changes_nothing_that_is_seen():
    stops, index = inserted(STOPS, 0.6)
    assert (stops[index], index) == ((0.6, 0.75), 2)
    for share in (0.1, 0.5, 0.6, 0.7, 1.0):
        assert values_at(stops, [share])[0] == pytest.approx(values_at(STOPS, [share])[0])
    assert inserted(STOPS, 0.6, (0.2,))[0][2] == (0.6, 0.2)


def test_there_is_always_a_stop_and_never_too_many():
    assert removed(STOPS, 0) == (STOPS[1:], 0)
    assert removed(STOPS, 2) == (STOPS[:2], 1)
    assert removed(STOPS[:1], 0) == (STOPS[:1], 0)
    full = tuple((index / STOP_MAX, 0.0) for index in range(STOP_MAX))
    assert inserted(full, 0.5)[0] == full
    assert inserted(full, 1.0) == (full, STOP_MAX - 1)
    assert [gap_beside(STOPS, index) for index in (0, 2)] == pytest.approx([0.2, 0.9])
    assert [gap_beside(((0.0, 0.0), (1.0, 1.0)), 1), gap_beside(((0.5, 0.0),), 0)] == pytest.approx([0.5, 0.75])


@given(LISTS, st.data(), UNIT, UNIT)
def test_every_edit_leaves_stops_that_an_emitter_takes(stops, data, share, value):
    index = data.draw(st.integers(0, len(stops) - 1))
    typed, place = with_share(stops, index, share)
    assert typed[place] == (share, stops[index][1])
    edits = (
        moved(stops, index, share, (value,)),
        typed,
        inserted(stops, share)[0],
        removed(stops, index)[0],
        with_values(stops, index, (value,)),
    )
    for edited in edits:
        check_stops(edited, "opacity over life")
        assert check(EmitterSettings, "opacity_over_life", edited) == edited
        assert all(0.0 <= before[0] <= after[0] <= 1.0 for before, after in itertools.pairwise(edited))
