import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.widgets.cheat_sheet import CheatSheet, ShortcutEntry, _parts

ENTRIES = [
    ShortcutEntry("View", "Orbit", "Middle drag or Alt+Left drag", "Turns the camera about its target."),
    ShortcutEntry("View", "Frame selection", "F or Num ."),
    ShortcutEntry("Edit", "Undo", "Ctrl+Z"),
]


@pytest.fixture
def sheet(show):
    return show(CheatSheet(ENTRIES), 500, 500)


def test_all_lines_are_shown_in_groups(sheet):
    assert sheet.shown_entries() == ENTRIES
    assert [sheet.tree.topLevelItem(row).text(0) for row in range(2)] == ["View", "Edit"]
    assert not sheet.isModal()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ctrl", ["Undo"]),
        ("view drag", ["Orbit"]),
        ("CAMERA", ["Orbit"]),
        ("edit undo", ["Undo"]),
        ("", ["Orbit", "Frame selection", "Undo"]),
    ],
)
def test_typing_filters(sheet, text, found):
    QTest.keyClicks(sheet.search, text)
    assert [entry.text for entry in sheet.shown_entries()] == found


def test_groups_without_a_line_vanish(sheet):
    sheet.search.setText("undo")
    assert sheet.tree.topLevelItem(0).isHidden()
    assert not sheet.tree.topLevelItem(1).isHidden()


def test_escape_clears_the_search_then_closes(sheet):
    sheet.search.setText("zzz")
    assert sheet.empty.isVisible()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert sheet.shown_entries() == ENTRIES
    assert sheet.isVisible()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()


def test_new_entries_keep_the_search(sheet):
    sheet.search.setText("redo")
    sheet.set_entries([*ENTRIES, ShortcutEntry("Edit", "Redo", "Ctrl+Y")])
    assert [entry.text for entry in sheet.shown_entries()] == ["Redo"]


@pytest.mark.parametrize(
    ("keys", "caps"),
    [
        ("Ctrl+Z", ["Ctrl", "Z"]),
        ("Ctrl++", ["Ctrl", "+"]),
        ("+", ["+"]),
        ("F or Num .", ["F", "Num ."]),
        ("", []),
    ],
)
def test_keys_become_caps(keys, caps):
    assert [text for text, is_cap in _parts(keys) if is_cap] == caps
