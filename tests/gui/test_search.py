"""Searches: a setting in the inspector, and the guide."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.editor_harness import settled, trigger


@pytest.fixture
def inspector(fresh):
    fresh.edits.add("cloth")
    settled(fresh)
    yield fresh.panels.inspector
    fresh.panels.inspector.search.close_row()


def names(inspector):
    return [row.ref.name for row in inspector.tree.found]


def test_a_setting_is_found_by_label_heading_tip_and_name(fresh, inspector):
    tree, count = inspector.tree, len(inspector.tree.settings())
    tree.topLevelItem(0).setExpanded(False)
    tree.verticalScrollBar().setValue(40)
    trigger(fresh, "edit.find")
    search = inspector.search
    assert search.isVisible()
    search.line.setText("bend stiffness")
    assert names(inspector)[0] == "bend_stiffness"
    assert all(not section.isHidden() and section.isExpanded() for section in {row.parent() for row in tree.found})
    assert search.state.text().startswith(f"{len(names(inspector))} of {count}")
    QTest.keyClick(search.line, Qt.Key.Key_Return)
    assert tree.found[0].editor.isAncestorOf(QApplication.focusWidget()) or not fresh.window.isActiveWindow()
    for words, name in (("air_drag", "air_drag"), ("TRANSFORM scale", "scale")):
        search.line.setText(words)
        assert name in names(inspector)
    search.line.setText("silkk")
    assert search.state.text() == "No setting contains \u201csilkk\u201d."
    assert names(inspector) == []
    QTest.keyClick(search.line, Qt.Key.Key_Escape)
    assert search.line.text() == ""
    QTest.keyClick(search.line, Qt.Key.Key_Escape)
    assert not search.isVisible()
    assert not tree.topLevelItem(0).isExpanded(), "as it was"
    assert len(names(inspector)) > 20
    tree.topLevelItem(0).setExpanded(True)


def test_settings_that_do_not_apply_stay_hidden_and_are_counted(fresh, inspector):
    trigger(fresh, "edit.find")
    inspector.search.line.setText("garment")
    assert not [name for name in names(inspector) if name.startswith("garment_")]
    assert "more do not apply now" in inspector.search.state.text()


def test_another_selection_keeps_the_words(fresh, inspector):
    trigger(fresh, "edit.find")
    inspector.search.line.setText("substeps")
    assert "substeps" in names(inspector)
    assert len(names(inspector)) < 6
    fresh.edits.add("emitter")
    settled(fresh)
    assert "substeps" in names(inspector)
    assert len(names(inspector)) < 6
    assert inspector.search.line.text() == "substeps"


def test_the_key_asks_the_focused_panel(fresh, inspector):
    fresh.window.docks.reveal("kernel")
    panel = fresh.kind_panels["kernel"]
    panel.text.setFocus()
    if panel.text.hasFocus():
        trigger(fresh, "edit.find")
        assert panel.find.isVisible()
        assert not inspector.search.isVisible()
        panel.find.close_row()


def test_the_guide_lists_pages_with_all_words(fresh):
    trigger(fresh, "help.guide")
    guide = fresh.features["helping"].guide
    count = sum(not guide.list.item(row).isHidden() for row in range(guide.list.count()))
    guide.search.setText("bend stiffness")
    shown = [guide.list.item(row).text() for row in range(guide.list.count()) if not guide.list.item(row).isHidden()]
    assert 0 < len(shown) < count
    assert all(text.endswith(")") for text in shown)
    assert guide.list.currentItem().text() in shown
    marks = guide.page.extraSelections()
    assert {mark.cursor.selectedText().casefold() for mark in marks} <= {"bend", "stiffness"}
    guide.find_next()
    first = guide.page.textCursor().selectionStart()
    guide.find_next()
    assert guide.page.textCursor().selectionStart() > first
    guide.find_former()
    assert guide.page.textCursor().selectionStart() == first
    QTest.keyClick(guide.search, Qt.Key.Key_Escape)
    assert not guide.page.extraSelections()
    assert guide.isVisible()
    guide.close()
