import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.widgets.number_text import NumberTextError, format_number, parse_number


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
        ("2**9", "", 512.0),
        ("sqrt(2)*sqrt(2)", "", 2.0),
        ("max(1, 2.5)", "m", 2.5),
        ("pi", "", math.pi),
        ("25 cm", "m", 0.25),
        ("2in", "m", 0.0508),
        ("1 m + 25 cm", "m", 1.25),
        ("6 ft 1", "m", None),
        ("90 deg", "°", 90.0),
        ("pi/2 rad", "°", 90.0),
        ("1/2 in", "m", 0.0127),
        ("1 rad", "°", 180.0 / math.pi),
        ("90 °", "°", 90.0),
        ("250 ms", "s", 0.25),
        ("36 km/h", "m/s", 10.0),
        ("500 g", "kg", 0.5),
        ("50 %", "", 0.5),
        ("9.81 m/s²", "m/s²", 9.81),
        ("1e-2 m", "m", 0.01),
    ],
)
def test_numbers_arithmetic_and_units_are_read(text, unit, value):
    if value is None:
        with pytest.raises(NumberTextError):
            parse_number(text, unit)
    else:
        assert parse_number(text, unit) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("*2", "m", 3.0),
        ("/ 3", "m", 0.5),
        ("+=0.1", "m", 1.6),
        ("-= 50 cm", "m", 1.0),
        ("*=4", "m", 6.0),
        ("-2", "m", -2.0),
        ("+2", "m", 2.0),
        ("* sqrt(4)", "m", 3.0),
    ],
)
def test_the_present_value_is_changed(text, unit, value):
    assert parse_number(text, unit, 1.5) == pytest.approx(value)
    if (value != parse_number("2", unit) and text[0] in "*/") or "=" in text:
        with pytest.raises(NumberTextError, match="no number yet"):
            parse_number(text, unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "abc",
        "1/0",
        "25 cm",
        "inf",
        "nan",
        "1e999",
        "True",
        "__import__('os')",
        "1;2",
        "(" * 60,
        "9" * 65,
        "9**9**9**9",
        "sqrt(-1)",
        "sqrt()",
        "exp(1e9)",
        "max(1, (2).real)",
        "*",
        "lambda: 1",
    ],
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
