"""Text becomes the numbers that the format's description says, or a clear refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.ezm_text import CHUNK_BYTES, SMALL_BYTES, NumberFault, parse_hex, parse_numbers
from sinew.sim.assets.raw import LoadCancelled, LoadWatch

FLOAT_MAX = float(np.finfo(np.float32).max)
FLOAT_TINY = float(np.finfo(np.float32).tiny)
# Long enough for the bulk conversion; the number in front of it is what is tested.
FILLER = " 7" * SMALL_BYTES


@pytest.mark.parametrize("tail", ["", FILLER], ids=["few", "many"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\r\n ", []),
        (",,,", []),
        ("1 2\t3\r\n4,5 , 6,", [1, 2, 3, 4, 5, 6]),
        ("-0 0", [0, 0]),
        ("-0.000000003", [-3e-9]),
        (".5 5. +1 007", [0.5, 5, 1, 7]),
        ("1e3 -2E-2", [1000, -0.02]),
        ("1.2346$3f9e0652", [np.float32(1.2345679)]),
        ("99$00000000 1", [0, 1]),
        ("fltmax FMAX", [FLOAT_MAX, FLOAT_MAX]),
        ("fltmin fmin", [FLOAT_TINY, FLOAT_TINY]),
        ("true T", [1, 1]),
        ("1e400 -inf", [np.inf, -np.inf]),
        ("12345678901234567890123", [12345678901234567890123.0]),
    ],
)
def test_tokens(text: str, expected: list[float], tail: str) -> None:
    values = parse_numbers(text + tail)
    np.testing.assert_array_equal(values, [*expected, *[7.0] * (len(tail) // 2)])


def test_the_bits_after_the_dollar_sign_win() -> None:
    (value,) = parse_numbers("1.2346$3f9e0652")
    assert np.float32(value).view(np.uint32) == 0x3F9E0652


def test_nan_is_a_number_here() -> None:
    assert np.isnan(parse_numbers("nan")).all()


@pytest.mark.parametrize("tail", ["", FILLER], ids=["few", "many"])
@pytest.mark.parametrize(
    "token",
    [
        "abc",
        "1-2",
        "1.2.3",
        "--1",
        "1e",
        "0x10",
        "1_0",
        "١",
        "1$",
        "$",
        "1$xyz",
        "1$123456789",
        "null",
        "[1]",
        '"1"',
        ".",
    ],
)
def test_what_is_no_number_is_named(token: str, tail: str) -> None:
    with pytest.raises(NumberFault, match=r"not a number|no float bits") as caught:
        parse_numbers(f"1 {token} 2{tail}")
    assert repr(token) in str(caught.value)


def test_a_long_token_is_shortened_in_the_message() -> None:
    with pytest.raises(NumberFault) as caught:
        parse_numbers("x" * 100_000)
    assert len(str(caught.value)) < 100


@given(st.lists(st.floats(allow_nan=False), max_size=200), st.sampled_from([" ", ", ", ",", "\r\n", " ,\n  "]))
def test_any_float_survives(values: list[float], separator: str) -> None:
    np.testing.assert_array_equal(parse_numbers(separator.join(map(repr, values))), np.array(values, dtype=np.float64))


def test_pieces_join_seamlessly() -> None:
    values = np.arange(600_000) / 8.0
    text = " ".join(f"{value:.3f}," for value in values)
    assert len(text) > 3 * CHUNK_BYTES
    np.testing.assert_array_equal(parse_numbers(text), values)


def test_progress_rises_to_the_end() -> None:
    text = "1.25 " * (CHUNK_BYTES // 2)
    seen: list[float] = []
    watch = LoadWatch(seen.append)
    watch.total = len(text)
    parse_numbers(text, watch)
    assert len(seen) >= 3
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_load_can_be_cancelled_between_pieces() -> None:
    asked: list[None] = []

    def cancelled() -> bool:
        asked.append(None)
        return len(asked) == 2

    with pytest.raises(LoadCancelled):
        parse_numbers("1.25 " * CHUNK_BYTES, LoadWatch(None, cancelled))
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("tokens", "digits", "expected"),
    [(["FFFFFFFF", "00ff8000"], 8, [0xFFFFFFFF, 0x00FF8000]), (["a", "0B"], 2, [10, 11])],
)
def test_hexadecimal(tokens: list[str], digits: int, expected: list[int]) -> None:
    assert parse_hex(tokens, digits).tolist() == expected


@pytest.mark.parametrize("token", ["0xFF", "FFFFFFFFF", "-1", "G", "1.5", ""])
def test_what_is_not_hexadecimal_is_named(token: str) -> None:
    with pytest.raises(NumberFault, match="is not a hexadecimal number of up to 8 digits"):
        parse_hex(["0", token], 8)
