import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.export.atomic_file import atomic_file, atomic_path, write_atomically
from sinew.sim.notes import NOTES_MAX, Notes
from sinew.sim.printable import cell_text, counted, printable, printable_json, size_text, text_of_cell


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_an_interruption_leaves_what_was_there(tmp_path: Path, interruption: type[BaseException]) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")

    def write() -> None:
        with atomic_file(tmp_path / "a.bin") as file:
            file.write(b"half")
            raise interruption

    with pytest.raises(interruption):
        write()
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o640)
    (tmp_path / "link.bin").symlink_to("a.bin")
    with atomic_file(tmp_path / "link.bin") as file:
        file.write(b"new")
        assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "link.bin"]
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o640


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.bin").mkdir()
    with pytest.raises(OSError, match=r"a\.bin"), atomic_file(tmp_path / "a.bin") as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("writer", [atomic_file, atomic_path])
def test_a_folder_that_takes_no_files_is_reported_with_the_name_of_the_target(tmp_path: Path, writer: Any) -> None:
    target = Path("/sys/a.bin") if os.path.isdir("/sys") else tmp_path / "none" / "a.bin"
    with pytest.raises(OSError, match="a") as caught, writer(target):
        raise AssertionError("the work has begun")
    assert caught.value.filename == str(target)


def test_control_characters_become_visible() -> None:
    for text, shown in (
        ("Körper 左手 🦴 ‍ –", "Körper 左手 🦴 ‍ –"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("a\r\nb\tc\0d", "a\\r\\nb\\tc\\x00d"),
        ("\x7f\x9b31m", "\\x7f\\x9b31m"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2066\u2069\u200e\u061c\u2028\u2029", "\\u2066\\u2069\\u200e\\u061c\\u2028\\u2029"),
        ("\udcff\ud800", "\\udcff\\ud800"),
    ):
        assert printable(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_one_line_that_every_stream_takes(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    shown.encode()
    assert printable(shown) == shown
    assert len(printable(text * 20, 10)) <= 10
    assert text_of_cell(cell_text(text)) == text


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.lists(st.text(st.characters(exclude_categories=())))))
def test_json_stays_the_same_to_programs(value: dict[str, list[str]]) -> None:
    text = printable_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(text) == value
    assert all(printable(row) == row for row in text.split("\n"))


def test_notes_keep_each_once_and_count_the_rest() -> None:
    notes = Notes(["a", "b", "a"])
    assert notes == ["a", "b"]
    notes.extend(str(number) for number in range(NOTES_MAX))
    assert len(notes) == NOTES_MAX + 1
    assert notes[-1] == "2 more warnings are not shown."
    copied = notes.copy()
    copied.append("x")
    copied.append("a")
    assert copied[-1] == "3 more warnings are not shown."
    assert notes[-1] == "2 more warnings are not shown."


def test_sizes_have_units_that_fit() -> None:
    sizes = {0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 3 << 30: "3.0 GiB", 5 << 50: "5120.0 TiB"}
    for size, text in sizes.items():
        assert size_text(size) == text
    assert [counted(count, "vertex", "vertices") for count in (1, 2000)] == ["1 vertex", "2,000 vertices"]
    assert [counted(count, "frame") for count in (0, 1)] == ["0 frames", "1 frame"]


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-a", "@SUM(1)", "\t=1", "'=1", "''=1", "-", "+"])
def test_formulas_are_text_in_cells(text: str) -> None:
    assert cell_text(text) == f"'{text}"
    assert text_of_cell(cell_text(text)) == text


@pytest.mark.parametrize("text", ["", "walk", "-1", "-0.5e-3", "-1 0 2", "+4", "it's", "'quoted'", "a=1"])
def test_numbers_and_words_stay_as_they_are_in_cells(text: str) -> None:
    assert cell_text(text) == text
    assert text_of_cell(text) == text


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    with pytest.raises(FileNotFoundError, match=f"the folder {re.escape(str(folder))} does not exist"):
        write_atomically(folder / "a.json", b"")
    with pytest.raises(FileNotFoundError, match=r"the folder .*gone does not exist"), atomic_path(folder / "a.mp4"):
        pass
