import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.number_value import NumberTextError, format_number, parse_number


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("23.4", "", 23.4),
        (" 1,5 s", "s", 1.5),
        ("007", "", 7.0),
        ("\u22122", "", -2.0),
        ("24*2+1", "", 49.0),
        ("(1 + 2) / 4", "", 0.75),
        ("1e-7", "", 1e-7),
        ("-0.5 ×", "×", -0.5),
        (".5", "", 0.5),
    ],
)
def test_numbers_and_arithmetic_are_read(text, unit, value):
    assert parse_number(text, unit) == value


@pytest.mark.parametrize(
    "text",
    ["", "   ", "abc", "1/0", "2**9", "inf", "nan", "1e999", "True", "__import__('os')", "1;2", "(" * 60, "9" * 65],
)
def test_anything_else_is_refused_with_one_line(text):
    with pytest.raises(NumberTextError) as error:
        parse_number(text)
    assert "\n" not in str(error.value)
    assert str(error.value)


@pytest.mark.parametrize(
    ("value", "decimals", "decimals_max", "text"),
    [
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
    ],
)
def test_numbers_are_shown_with_as_many_digits_as_asked(value, decimals, decimals_max, text):
    assert format_number(value, decimals, decimals_max) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_shown_text_reads_back_within_its_precision(value, decimals):
    assert parse_number(format_number(value, decimals)) == pytest.approx(value, abs=0.5000001 * 10.0**-decimals)
