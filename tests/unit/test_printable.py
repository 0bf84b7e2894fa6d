"""Names of files as terminals, logs and labels may show them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.notes import KEPT, Notes
from sinew.sim.printable import cell_text, counted, printable, printable_json, size_text, text_of_cell


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Körper 左手 🦴 ‍ –", "Körper 左手 🦴 ‍ –"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("a\r\nb\tc\0d", "a\\r\\nb\\tc\\x00d"),
        ("\x7f\x9b31m", "\\x7f\\x9b31m"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2066\u2069\u200e\u061c\u2028\u2029", "\\u2066\\u2069\\u200e\\u061c\\u2028\\u2029"),
        ("\udcff\ud800", "\\udcff\\ud800"),
    ],
)
def test_what_would_steer_becomes_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_text_is_shortened() -> None:
    assert printable("x" * 100, 10) == "x" * 9 + "…"
    assert len(printable("\x1b" * 100, 10)) == 10
    assert printable("x" * 10, 10) == "x" * 10


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_one_line_that_every_stream_takes(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    shown.encode()
    assert printable(shown) == shown


@given(st.dictionaries(st.text(), st.lists(st.text(st.characters(exclude_categories=())))))
def test_json_stays_the_same_to_programs(value: dict[str, list[str]]) -> None:
    text = printable_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(text) == value
    assert all(printable(row) == row for row in text.split("\n"))


def test_notes_keep_each_once_and_count_the_rest() -> None:
    notes = Notes(["a", "b", "a"])
    assert notes == ["a", "b"]
    notes.extend(str(number) for number in range(KEPT))
    assert len(notes) == KEPT + 1
    assert notes[-1] == "2 more warnings are not shown."
    copied = notes.copy()
    copied.append("x")
    copied.append("a")
    assert copied[-1] == "3 more warnings are not shown."
    assert notes[-1] == "2 more warnings are not shown."


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (40_000_000, "38.1 MiB"),
        (3 << 30, "3.0 GiB"),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_have_units_that_fit(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 vertices"), (1, "1 vertex"), (2000, "2,000 vertices")])
def test_one_thing_has_no_plural(count: int, text: str) -> None:
    assert counted(count, "vertex", "vertices") == text
    assert counted(count, "frame") == text.replace("vertices", "frames").replace("vertex", "frame")


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-a", "@SUM(1)", "\t=1", "'=1", "''=1", "-", "+"])
def test_formulas_are_text_in_cells(text: str) -> None:
    assert cell_text(text) == f"'{text}"
    assert text_of_cell(cell_text(text)) == text


@pytest.mark.parametrize("text", ["", "walk", "-1", "-0.5e-3", "-1 0 2", "+4", "it's", "'quoted'", "a=1"])
def test_numbers_and_words_stay_as_they_are_in_cells(text: str) -> None:
    assert cell_text(text) == text
    assert text_of_cell(text) == text


@given(st.text())
def test_every_text_comes_back_from_its_cell(text: str) -> None:
    assert text_of_cell(cell_text(text)) == text
