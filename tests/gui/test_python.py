"""The Python panel: input, completion, history, undo, Stop and the limit, and scripts that are dropped."""

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QTextCursor
from PySide6.QtTest import QTest

from sinew.sim.scene.scene import ParamRef
from sinew.widgets.messages import Severity
from sinew.widgets.theme import colours
from tests.gui.editor_harness import Session, add_cloth, messages, picture, positions, settled, trigger


@pytest.fixture
def console(fresh):
    fresh.window.docks.reveal("python")
    fresh.python.view.output.clear()
    yield fresh.python
    fresh.window.docks["python"].close()


def write(console, text: str) -> None:
    console.view.input.setPlainText(text)
    console.view.input.moveCursor(QTextCursor.MoveOperation.End)


def entered(console, text: str) -> str:
    """What the panel prints for an input that is typed."""
    console.view.output.clear()
    write(console, text)
    QTest.keyClick(console.view.input, Qt.Key.Key_Return)
    return console.view.output.toPlainText()


def test_an_input_edits_the_open_project_as_one_entry(fresh, console) -> None:
    cloth = add_cloth(fresh)
    stack = fresh.document.undo_stack
    before, count = fresh.document.scene, stack.count()
    assert entered(console, "selected") == f">>> selected\n<cloth '{fresh.document.selected.name}'>\n"
    text = f"cloth = project.nodes['{cloth}']; cloth.density = 0.7; cloth.set(substeps=9)"
    assert entered(console, text) == f">>> {text}\n"
    settings = fresh.document.scene.node(cloth).settings
    assert (settings.density, settings.substeps) == (0.7, 9)
    assert stack.count() == count + 1
    assert stack.undo_text.startswith("Python: cloth = ")
    assert "-1" in entered(console, "cloth.density = -1")
    assert stack.count() == count + 1
    entered(console, "project.undo()")
    assert fresh.document.scene == before
    assert "<project 'untitled'>" in entered(console, "project")


def test_blocks_take_more_lines(console) -> None:
    view = console.view
    write(console, "for i in range(2):")
    QTest.keyClick(view.input, Qt.Key.Key_Return)
    assert view.input.toPlainText() == "for i in range(2):\n    "
    QTest.keyClicks(view.input, "print(i * 21)")
    QTest.keyClick(view.input, Qt.Key.Key_Return)
    QTest.keyClick(view.input, Qt.Key.Key_Return)
    assert view.output.toPlainText().endswith("0\n21\n")
    assert view.input.toPlainText() == ""
    assert entered(console, "a = 4\nb = 5\nprint(a * b)").endswith("20\n")


def test_errors_are_red_and_nothing_ends_the_editor(fresh, console) -> None:
    assert "ZeroDivisionError" in entered(console, "1 / 0")
    cursor = console.view.output.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    cursor.movePosition(cursor.MoveOperation.Left)
    assert cursor.charFormat().foreground().color() == QColor(colours().error)
    assert "invalid syntax" in entered(console, "a b")
    assert "ended with 5" in entered(console, "raise SystemExit(5)")
    assert "EOFError" in entered(console, "input()")
    assert "Error" in entered(console, "x = " + "+".join("1" * 10_000))
    assert "Leave: now" in entered(console, "class Leave(BaseException): ...\n\nraise Leave('now')")
    assert fresh.window.isVisible()
    assert len(entered(console, "print('x' * 10_000_000)")) < 110_000
    assert entered(console, "for i in range(20_000): print(i)\n").count("\n") < 6000


def test_tab_completes_and_arrows_recall(console) -> None:
    view = console.view
    entered(console, "first = 1")
    entered(console, "second = 2")
    view.input.setPlainText("draft")
    for expected in ("second = 2", "first = 1"):
        QTest.keyClick(view.input, Qt.Key.Key_Up)
        assert view.input.toPlainText() == expected
    for expected in ("second = 2", "draft"):
        QTest.keyClick(view.input, Qt.Key.Key_Down)
        assert view.input.toPlainText() == expected
    write(console, "project.simu")
    QTest.keyClick(view.input, Qt.Key.Key_Tab)
    assert view.input.toPlainText().startswith("project.simulate")
    view.output.clear()
    write(console, "project.s")
    QTest.keyClick(view.input, Qt.Key.Key_Tab)
    assert "project.save(" in view.output.toPlainText()
    view.input.clear()


def test_the_history_and_the_limit_are_kept(session) -> None:
    editor = session.start()
    entered(editor.python, "x = 5")
    editor.python.view.limit.setValue(25)
    session.close(editor)
    editor = session.start()
    assert editor.python.view.input.history[-1] == "x = 5"
    assert editor.python.view.limit.value() == 25


def test_steps_and_images_leave_the_playback_alone(fresh, console) -> None:
    cloth = add_cloth(fresh)
    settled(fresh)
    before = positions(fresh, cloth)
    entered(console, "project.simulate(steps=12)\nfound = selected.arrays()['positions']")
    entered(console, "image = project.render(size=(80, 60))")
    assert console.names["found"].shape == (64, 3)
    assert console.names["image"].shape == (60, 80, 3)
    assert (console.names["found"] != before).any()
    np.testing.assert_array_equal(positions(fresh, cloth), before)
    assert picture(fresh).std() > 0.0
    entered(console, "selected.columns = 5; project.step(2)")
    entered(console, "count = len(selected.arrays()['positions']), project.steps")
    assert console.names["count"][0] == 40


def test_stop_ends_a_simulation(fresh, console) -> None:
    add_cloth(fresh)
    console.view.input.setFocus()
    started, focused = [], []

    def stop() -> None:
        started.append(console.view.stop.isEnabled())
        focused.append(fresh.window.focusWidget())
        QTest.keyClick(fresh.viewport, Qt.Key.Key_Delete)  # blocked
        QTest.mouseClick(console.view.stop, Qt.MouseButton.LeftButton)

    QTimer.singleShot(300, fresh.window, stop)
    text = entered(console, "project.simulate(steps=1_000_000)")
    assert started == [True]
    assert "KeyboardInterrupt" in text
    assert len(fresh.document.scene.nodes) == 1
    assert not console.view.stop.isEnabled()
    assert [fresh.window.focusWidget()] == focused, "a click on Stop leaves the focus where it is"
    assert text.count("File ") == 1


def test_the_limit_ends_a_loop_without_calls(console) -> None:
    console.view.limit.setValue(1)
    begun = time.monotonic()
    text = entered(console, "n = 0\nwhile True:\n    n += 1\n\n")
    assert "KeyboardInterrupt" in text
    assert time.monotonic() - begun > 0.9
    assert entered(console, "print(n > 0)").endswith("True\n")
    console.view.limit.setValue(10)


def test_a_dropped_script_asks_every_time_and_is_one_entry(fresh, console, tmp_path: Path) -> None:
    cloth = add_cloth(fresh)
    script = tmp_path / "tune.py"
    script.write_text(
        "import sinew\n"
        "with sinew.open() as live:\n"
        "    live.nodes[selected.id].density = 0.6\n"
        "project.nodes[selected.id].substeps = 11\n"
        "print(live is project, __name__)\n"
    )
    assert fresh.features["saving"].drop_text([str(script)], "") == "Drop to run tune.py on this project"
    stack = fresh.document.undo_stack
    count, before = stack.count(), fresh.document.scene
    fresh.features["saving"].drop([str(script)], "")
    assert (fresh.dialogs.asked, fresh.document.scene) == (["run tune.py"], before)
    fresh.dialogs.runs = True
    fresh.features["saving"].drop([str(script)], "")
    settings = fresh.document.scene.node(cloth).settings
    assert (settings.density, settings.substeps) == (0.6, 11)
    assert (stack.count(), stack.undo_text) == (count + 1, "Run tune.py")
    assert "True __main__" in console.view.output.toPlainText()
    script.write_text("project.nodes[selected.id].density = 0.2\nraise ValueError('no')\n")
    fresh.features["saving"].drop([str(script)], "")
    assert fresh.document.scene.node(cloth).settings.density == 0.6
    assert "line 2: ValueError: no" in messages(fresh, Severity.ERROR)[-1]
    assert fresh.dialogs.asked == ["run tune.py"] * 3
    fresh.dialogs.runs = False


def test_the_last_change_is_copied_as_python(fresh, console) -> None:
    add_cloth(fresh)
    fresh.document.set_value(ParamRef(fresh.document.selected.id, "transform", "position"), (0, 2, 0))
    trigger(fresh, "edit.copy_python")
    text = QGuiApplication.clipboard().text()
    changed = fresh.document.scene
    fresh.document.undo_stack.undo()
    entered(console, text)
    assert fresh.document.scene == changed


def test_a_long_call_is_not_ended_by_the_limit(fresh, console, monkeypatch) -> None:
    add_cloth(fresh)
    console.view.limit.setValue(1)
    drawn = type(console.project)._drawn

    def slow(project):
        if project.gl_blocks:
            time.sleep(1.5)
        return drawn(project)

    monkeypatch.setattr(type(console.project), "_drawn", slow)
    assert "KeyboardInterrupt" not in entered(console, "image = project.render(size=(32, 24))")
    assert console.names["image"].shape == (24, 32, 3)
    console.view.limit.setValue(10)


def test_models_are_those_of_the_editor(console, fresh, arm, qtbot) -> None:
    editor = fresh
    Session(qtbot).load(editor, arm)
    assert editor.viewport._accepts("tune.py")
    entered(console, "image = project.render(size=(64, 48))")
    assert console.names["image"].std() > 1.0
    entered(console, "selected.visible = False\nempty = project.render(size=(64, 48))")
    assert (console.names["image"] != console.names["empty"]).any()
    assert picture(editor).shape[2] == 4
