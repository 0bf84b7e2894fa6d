"""Preferences, shortcuts, the history menu and the search for commands."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sinew.app.editor.edit_menu import HISTORY_MAX, fill_history
from sinew.app.editor.help_dialogs import search_commands
from sinew.app.editor.preferences import LookChoices, Page, PlaybackChoices, Preferences
from sinew.app.session.shortcut_editor import ShortcutEditor
from sinew.sim.gl.back_end import BackEndChoice
from sinew.widgets.theme import ThemeMode
from tests.gui.editor_harness import Session, settled, trigger


@pytest.fixture
def settings(tmp_path):
    return QSettings(str(tmp_path / "a.ini"), QSettings.Format.IniFormat)


def opened(settings, applied=None):
    take = (applied if applied is not None else []).append
    return Preferences(
        settings, (Page("look", "Look", LookChoices(), take), Page("playback", "Playback", PlaybackChoices(), take))
    )


def test_values_are_applied_stored_and_reset(settings):
    applied = []
    preferences = opened(settings, applied)
    assert applied == [LookChoices(), PlaybackChoices()]
    preferences.change("look", theme=ThemeMode.DARK)
    preferences.change("playback", whole_frames=False)
    assert applied[2:] == [LookChoices(theme=ThemeMode.DARK), PlaybackChoices(whole_frames=False)]
    again = opened(QSettings(settings.fileName(), QSettings.Format.IniFormat))
    assert again["look"].theme is ThemeMode.DARK
    assert again["playback"] == PlaybackChoices(whole_frames=False)
    again.reset("playback")
    assert opened(settings)["playback"] == PlaybackChoices()


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [("look/theme", "blue", ThemeMode.AUTO), ("look/theme", ["a"], ThemeMode.AUTO), ("theme", "dark", ThemeMode.DARK),
     ("playback/rate", "1e9", 30.0), ("playback/rate", "nan", 30.0), ("playback/rate", "25", 25.0),
     ("playback/whole_frames", "maybe", True), ("scrub_on_frames", "false", False)],
)  # fmt: skip
def test_values_that_cannot_be_read_are_the_default_and_old_names_are_known(settings, name, value, read):
    settings.setValue(name, value)
    preferences = opened(settings)
    assert read in (preferences["look"].theme, preferences["playback"].rate, preferences["playback"].whole_frames)


def test_the_window_changes_what_it_shows_at_once(fresh):
    trigger(fresh, "edit.preferences")
    window = fresh.features["objects"].preferences_window
    assert [window.titles.item(row).text() for row in range(window.titles.count())] == [
        "Look", "Playback", "Simulation", "Files", "Shortcuts",
    ]  # fmt: skip
    form = window.forms["simulation"]
    form._set_value("back_end", BackEndChoice.TF)
    assert fresh.client.back_end is BackEndChoice.TF
    window.show_page(2)
    window.reset.click()
    assert fresh.client.back_end is BackEndChoice.AUTO
    assert form.settings.back_end is BackEndChoice.AUTO
    assert fresh.motions.maps is not None
    window.forms["files"]._set_value("remember_bone_maps", False)
    assert fresh.motions.maps is None
    window.forms["playback"]._set_value("rate", 24.0)
    assert fresh.document.scene.playback.rate == 24.0, "of an untouched scene"
    trigger(fresh, "file.new")
    assert fresh.document.scene.playback.rate == 24.0
    trigger(fresh, "play.whole_frames")
    assert not window.forms["playback"].settings.whole_frames
    for name in ("files", "playback"):
        fresh.preferences.reset(name)
    window.show_page(4)
    assert not window.reset.isVisible()
    window.close()


def test_a_pause_goes_back_to_a_frame(fresh, tiny, qtbot):
    Session(qtbot).load(fresh, tiny)
    playback = fresh.playback
    for direction, time, frame in ((1, 0.36, 10.0), (-1, 0.36, 11.0), (1, 11.0 / 30.0, 11.0)):
        playback.scrub(time)
        playback.toggle(direction)
        playback.toggle(direction)
        assert playback.playhead.time * 30.0 == pytest.approx(frame, abs=1e-6)
    fresh.preferences.change("playback", whole_frames=False)
    playback.scrub(0.36)
    playback.toggle()
    playback.toggle()
    assert playback.playhead.time == pytest.approx(0.36, abs=0.02)
    assert abs(playback.playhead.time * 30.0 % 1.0 - 0.5) < 0.45
    fresh.preferences.reset("playback")


# --- shortcuts ------------------------------------------------------------------------------------------------------


@pytest.fixture
def editor(fresh, show):
    made = show(ShortcutEditor(fresh.window.actions_table), 500, 500)
    yield made
    fresh.window.actions_table.rebind_all()


def chosen(editor, words):
    editor.sheet.search.setText(words)
    QTest.keyClick(editor.sheet.search, Qt.Key.Key_Return)
    assert editor.row.isVisible()


def test_a_key_is_changed_shown_and_stored(fresh, editor):
    actions = fresh.window.actions_table
    chosen(editor, "single step")
    assert editor.name.text() == "Single Step:"
    QTest.keyClick(editor.keys, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert actions.keys("simulate.step") == ("Ctrl+J",)
    assert actions["simulate.step"].shortcut() == QKeySequence("Ctrl+J")
    assert "(Ctrl+J)" in actions["simulate.step"].toolTip()
    assert fresh.settings.value("shortcuts/simulate.step") == "Ctrl+J"
    assert [entry.keys for entry in editor.sheet.shown_entries()] == ["Ctrl+J"]
    chosen(editor, "single step")
    editor.none.click()
    assert actions.keys("simulate.step") == ()
    assert fresh.settings.value("shortcuts/simulate.step") == ""
    chosen(editor, "single step")
    editor.reset.click()
    assert actions.keys("simulate.step") == ("Alt+.",)
    assert not fresh.settings.contains("shortcuts/simulate.step")


def test_a_key_of_another_action_is_taken_away_only_on_request(fresh, editor):
    actions = fresh.window.actions_table
    chosen(editor, "single step")
    QTest.keyClick(editor.keys, Qt.Key.Key_Space)
    assert editor.state.text() == "Space is Play / Pause."
    editor.cancel.click()
    assert (actions.keys("simulate.step"), actions.keys("play.toggle")) == (("Alt+.",), ("Space",))
    chosen(editor, "single step")
    QTest.keyClick(editor.keys, Qt.Key.Key_Space)
    editor.use.click()
    assert (actions.keys("simulate.step"), actions.keys("play.toggle")) == (("Space",), ())
    editor.reset_all.click()
    assert (actions.keys("simulate.step"), actions.keys("play.toggle")) == (("Alt+.",), ("Space",))
    assert actions.rebound == []
    # The first key of an action changes, others stay.
    actions.rebind("edit.redo", "Ctrl+J")
    assert actions.keys("edit.redo") == ("Ctrl+J", "Ctrl+Shift+Z")


@pytest.mark.parametrize(
    ("key", "text"), [(Qt.Key.Key_Left, "The timeline uses Left."), (Qt.Key.Key_Return, "Return confirms.")]
)
def test_keys_of_the_system_are_refused(fresh, editor, key, text):
    chosen(editor, "single step")
    QTest.keyClick(editor.keys, key)
    assert editor.state.text() == text
    assert fresh.window.actions_table.keys("simulate.step") == ("Alt+.",)
    QTest.keyClick(editor.keys, Qt.Key.Key_Escape)
    assert not editor.row.isVisible()


def test_stored_keys_that_cannot_be_read_are_ignored_and_unknown_ones_kept(fresh, qtbot):
    stored = {"shortcuts/play.next": "Left", "shortcuts/play.first": "no key at all", "shortcuts/other.thing": "Ctrl+J",
              "shortcuts/play.last": "", "shortcuts/play.in": "O"}  # fmt: skip
    for name, value in stored.items():
        fresh.settings.setValue(name, value)
    fresh.settings.sync()
    other = Session(qtbot).start()
    actions = other.window.actions_table
    assert [actions.keys(f"play.{name}") for name in ("next", "first", "last", "in", "out")] == [
        (".",), ("Ctrl+Home",), (), ("O",), (),
    ]  # fmt: skip
    assert other.settings.value("shortcuts/other.thing") == "Ctrl+J"
    for name in stored:
        other.settings.remove(name)
    other.settings.sync()
    other.window.close()


def test_commands_are_found_by_name_and_run_on_enter(fresh):
    sheet = search_commands(fresh.window)
    grid = fresh.document.scene.view.grid
    sheet.search.setText("overlays grid")
    QTest.keyClick(sheet.search, Qt.Key.Key_Down)
    QTest.keyClick(sheet.search, Qt.Key.Key_Return)
    QApplication.processEvents()
    settled(fresh)
    assert fresh.document.scene.view.grid is not grid
    sheet = search_commands(fresh.window)
    sheet.search.setText("ungroup")
    QTest.keyClick(sheet.search, Qt.Key.Key_Return)
    assert "Select" in fresh.window._hint.text(), "why it is not available"
    sheet.window().close()


# --- history --------------------------------------------------------------------------------------------------------


def test_the_history_lists_entries_and_goes_to_one(fresh, tmp_path):
    stack = fresh.document.undo_stack
    for _ in range(3):
        fresh.edits.add("light")
    fresh.files.save_to(tmp_path / "a.sinew")
    fresh.edits.add("light")
    stack.undo()

    menu = QMenu()

    def lines():
        menu.clear()
        fill_history(menu, stack)
        return menu.actions()

    texts = [action.text() for action in lines()]
    assert texts[-1] == "Opened"
    assert len(texts) == 5
    assert texts[1].endswith(" (saved)")
    assert [action.isChecked() for action in lines()] == [False, True, False, False, False]
    lines()[3].trigger()
    assert (stack.index, len(fresh.document.scene.nodes)) == (1, 1)
    lines()[0].trigger()
    assert len(fresh.document.scene.nodes) == 4
    lines()[4].trigger()
    assert not fresh.document.scene.nodes
    for _ in range(HISTORY_MAX + 10):
        fresh.edits.add("light")
    assert len(lines()) == HISTORY_MAX
    assert lines()[0].isChecked()
    button = fresh.window.menus.toolbar.widgetForAction(fresh.window.actions_table["edit.undo"])
    button.menu().aboutToShow.emit()
    assert len(button.menu().actions()) == HISTORY_MAX
