"""The dock Kernel: a student doubles the gravity, breaks the text, mends it, and undoes it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew import shaders
from sinew.app.files.project_file import save_project
from sinew.app.kinds.kernel.panel import KernelPanel, marked_line
from sinew.sim.gl.errors import ShaderMessage
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.kernel.kind import KernelSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from tests.gui.editor_harness import picture

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
SHEET = Node(id="sheet", name="Sheet", settings=ClothSettings(columns=8, rows=8, substeps=64))
PATIENCE = 240_000


@pytest.fixture
def panel(editor, qtbot) -> KernelPanel:
    editor.document.replace_scene(Scene(nodes=(SHEET,)))
    editor.document.select(Selection(node="sheet"))
    picture(editor)
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
    assert not panel.tabs.isEnabled()


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


@pytest.mark.parametrize("answer", [True, False])
def test_a_project_with_kernels_asks_once(editor, qtbot, tmp_path, monkeypatch, answer):
    asked: list[list[str]] = []
    monkeypatch.setattr(editor.dialogs, "use_kernels", lambda files: asked.append(files) or answer, raising=False)
    node = Node(id="k", name="Kernel", settings=KernelSettings(file=FILE, base=SHIPPED, text=SHIPPED + "\n// own\n"))
    save_project(tmp_path / "a.sinew", Scene(nodes=(SHEET, node)), ViewState())
    editor.files.open(tmp_path / "a.sinew")
    qtbot.waitUntil(lambda: asked == [[FILE]], timeout=PATIENCE)
    picture(editor)
    library = editor.client.engine.library
    qtbot.waitUntil(lambda: bool(library.texts) is answer, timeout=PATIENCE)
    assert library.takes_texts is answer
    note = editor.kind_panels["kernel"].note(node, None)
    assert ("not used" in note) is not answer


def test_a_missing_semicolon_is_marked_in_its_line():
    text = "float a = 1.0\n\n// comment\nfloat b;\n"
    assert marked_line(ShaderMessage("f", 4, "syntax error, unexpected FLOAT, expecting ',' or ';'"), text) == 1
    assert marked_line(ShaderMessage("f", 4, "undeclared identifier"), text) == 4
