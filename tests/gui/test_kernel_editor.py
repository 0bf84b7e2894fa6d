"""The dock Kernel: a student doubles the gravity, breaks the text, mends it, and undoes it."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew import shaders
from sinew.app.kinds.kernel.panel import KernelPanel
from sinew.app.project.project_file import save_project
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.kernel.kind import KernelSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from tests.conftest import slow
from tests.gui.editor_harness import play, set_values, settled

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
SHEET = Node(id="sheet", name="Sheet", settings=ClothSettings(columns=8, rows=8, substeps=64))
PATIENCE = 240_000


@pytest.fixture
def panel(editor, qtbot) -> KernelPanel:
    editor.document.replace_scene(Scene(nodes=(SHEET,)))
    editor.document.select(Selection(node="sheet"))
    settled(editor)
    panel = editor.kind_panels["kernel"]
    panel.edit(FILE)
    return panel


def replaced(panel: KernelPanel, old: str, new: str) -> None:
    """Selects a part of the text and types another one."""
    place = panel.text.toPlainText().index(old)
    cursor = panel.text.textCursor()
    cursor.setPosition(place)
    cursor.setPosition(place + len(old), cursor.MoveMode.KeepAnchor)
    panel.text.setTextCursor(cursor)
    QTest.keyClicks(panel.text, new)


@pytest.mark.slow
def test_gravity_is_doubled_broken_mended_and_undone(editor, qtbot, panel):
    document, library = editor.document, editor.client.engine.library
    assert document.selected.settings == KernelSettings(file=FILE, base=SHIPPED, text=SHIPPED)
    assert panel.widget.isVisible()
    assert panel.text.toPlainText() == SHIPPED
    replaced(panel, "acceleration = u_gravity", "acceleration = 2.0 * u_gravity")
    qtbot.waitUntil(lambda: "2.0 * u_gravity" in library.texts.get(FILE, ""), timeout=PATIENCE)
    assert document.undo_stack.undo_text == f"Edit {FILE}"
    qtbot.waitUntil(lambda: "after 60 steps" in panel.difference.text(), timeout=PATIENCE)
    assert "cost " in panel.difference.text()
    assert not panel.difference.text().startswith("0 m")
    assert "m from the float64 reference after one step (the largest of 4)" in panel.difference.text()
    qtbot.waitUntil(lambda: "of 64: " in panel.value.text(), timeout=PATIENCE)

    line = SHIPPED.splitlines().index(next(text for text in SHIPPED.splitlines() if "acceleration = u_gravity" in text))
    replaced(panel, "2.0 * u_gravity", "2.0 * u_gravitas")
    qtbot.waitUntil(lambda: panel.messages.count() > 0, timeout=PATIENCE)
    assert panel.messages.item(0).text().startswith(f"{FILE}:{line + 1}: ")
    assert "does not compile" in panel.note(document.selected, None)
    replaced(panel, "u_gravitas", "u_gravity")
    qtbot.waitUntil(lambda: panel.messages.count() == 0, timeout=PATIENCE)
    while document.undo_stack.undo_text == f"Edit {FILE}":
        document.undo_stack.undo()
    qtbot.waitUntil(lambda: panel.text.toPlainText() == SHIPPED, timeout=PATIENCE)
    qtbot.waitUntil(lambda: library.texts.get(FILE) == SHIPPED, timeout=PATIENCE)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: not library.texts, timeout=PATIENCE)
    assert panel.add_button.isVisible()


def test_a_kernel_is_switched_off_and_reverted(editor, qtbot, panel):
    library = editor.client.engine.library
    replaced(panel, "acceleration = u_gravity", "acceleration = 3.0 * u_gravity")
    qtbot.waitUntil(lambda: "3.0 * u_gravity" in library.texts.get(FILE, ""), timeout=PATIENCE)
    QTest.mouseClick(panel.on, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not library.texts, timeout=PATIENCE)
    QTest.mouseClick(panel.on, Qt.MouseButton.LeftButton)
    QTest.mouseClick(panel.revert, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: library.texts.get(FILE) == SHIPPED, timeout=PATIENCE)
    assert panel.text.toPlainText() == SHIPPED
    panel.tabs.setCurrentWidget(panel.generated)
    qtbot.waitUntil(lambda: "#version" in panel.generated.toPlainText(), timeout=PATIENCE)


@pytest.mark.parametrize("answer", [False, slow(True)])
def test_a_project_with_kernels_asks_once(editor, qtbot, tmp_path, monkeypatch, answer):
    asked: list[list[str]] = []
    monkeypatch.setattr(editor.dialogs, "use_kernels", lambda files: asked.append(files) or answer, raising=False)
    node = Node(id="k", name="Kernel", settings=KernelSettings(file=FILE, base=SHIPPED, text=SHIPPED + "\n// own\n"))
    save_project(tmp_path / "a.sinew", Scene(nodes=(SHEET, node)), ViewState())
    editor.files.open(tmp_path / "a.sinew")
    qtbot.waitUntil(lambda: asked == [[FILE]], timeout=PATIENCE)
    settled(editor)
    library = editor.client.engine.library
    qtbot.waitUntil(lambda: bool(library.texts) is answer, timeout=PATIENCE)
    assert library.takes_texts is answer
    note = editor.kind_panels["kernel"].note(node, None)
    assert ("not used" in note) is not answer


def test_lines_of_no_program_are_grey(editor, qtbot, panel):
    lines = SHIPPED.splitlines()
    assert panel.text.note_of(1) == "", "no program uses the file before the first step"
    play(editor, 1)
    grey = lines.index("    self_contact(id, first, own.velocity, u_substep, change, push);") + 1
    qtbot.waitUntil(lambda: panel.text.note_of(grey) == "Not compiled in this scene", timeout=PATIENCE)
    assert panel.text.note_of(lines.index("void run(int id) {") + 1) == ""
    assert editor.document.undo_stack.undo_text != f"Edit {FILE}", "colours are no edit"
    set_values(editor, "sheet", self_collision=True)
    play(editor, 1)
    qtbot.waitUntil(lambda: panel.text.note_of(grey) == "", timeout=PATIENCE)


def test_text_is_found(editor, panel):
    panel.tabs.setCurrentWidget(panel.text)
    panel.text.moveCursor(QTextCursor.MoveOperation.Start)
    panel.find.open_row()
    assert panel.find.isVisible()
    QTest.keyClicks(panel.find.line, "u_gravity")
    first = panel.text.textCursor().selectionStart()
    assert first == SHIPPED.index("u_gravity")
    QTest.keyClick(panel.find.line, Qt.Key.Key_Return)
    second = panel.text.textCursor().selectionStart()
    assert second == SHIPPED.index("u_gravity", first + 1)
    panel.find.find_text(back=True)
    assert panel.text.textCursor().selectionStart() == first
    panel.tabs.setCurrentWidget(panel.shipped)
    QTest.keyClick(panel.find.line, Qt.Key.Key_Return)
    assert panel.shipped.textCursor().selectedText() == "u_gravity"
    QTest.keyClicks(panel.find.line, "no such name")
    assert panel.find.missing.text() == "Not found"
    panel.find.close_row()
    assert not panel.find.isVisible()


def test_undo_is_the_one_of_the_document(panel):
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    QApplication.sendEvent(panel.text, event)
    assert not event.isAccepted()


def test_one_element_is_read_alone(editor, panel):
    array = editor.client.engine.simulation.systems["sheet"].arrays()["velocities"]
    with editor.viewport.gl_current():
        for index in (0, 63):
            assert list(array.element(index)) == list(array.read()[index])
