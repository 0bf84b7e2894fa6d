from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sinew.widgets.cheat_sheet import CheatSheet, ShortcutEntry, _parts, sheet_dialog

ENTRIES = [
    ShortcutEntry("View", "Orbit", "Middle drag or Alt+Left drag", "Turns the camera about its target."),
    ShortcutEntry("View", "Frame selection", "F or Num ."),
    ShortcutEntry("Edit", "Undo", "Ctrl+Z"),
]


def test_lines_are_grouped_and_filtered_by_what_is_typed(show):
    sheet = CheatSheet(ENTRIES)
    parent = show(QWidget(), 10, 10)
    dialog = sheet_dialog("Keys", sheet, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    assert sheet.shown_entries() == ENTRIES
    assert [sheet.tree.topLevelItem(row).text(0) for row in range(2)] == ["View", "Edit"]
    for text, found in (("ctrl", ["Undo"]), ("view drag", ["Orbit"]), ("CAMERA", ["Orbit"]), ("edit undo", ["Undo"])):
        sheet.search.clear()
        QTest.keyClicks(sheet.search, text)
        assert [entry.text for entry in sheet.shown_entries()] == found
    assert [sheet.tree.topLevelItem(row).isHidden() for row in range(2)] == [True, False]
    sheet.search.setText("redo")
    sheet.set_entries([*ENTRIES, ShortcutEntry("Edit", "Redo", "Ctrl+Y")])
    assert [entry.text for entry in sheet.shown_entries()] == ["Redo"], "the search stays"
    sheet.search.setText("zzz")
    assert sheet.empty.isVisible()
    QTest.keyClick(sheet.search, Qt.Key.Key_Escape)
    assert len(sheet.shown_entries()) == 4
    assert dialog.isVisible(), "Escape clears the search first"
    QTest.keyClick(sheet.search, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_keys_become_caps():
    for keys, caps in (
        ("Ctrl+Z", ["Ctrl", "Z"]), ("Ctrl++", ["Ctrl", "+"]), ("+", ["+"]), ("F or Num .", ["F", "Num ."]), ("", []),
    ):  # fmt: skip
        assert [text for text, is_cap in _parts(keys) if is_cap] == caps
