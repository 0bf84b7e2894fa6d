import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QMenu,
    QWidget,
)

from sinew.app.project.project_file import save_project
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.printable import printable
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import Selection, ViewState
from tests.gui.editor_harness import sample

TURN, ESCAPE = "\u202e", "\x1b[31m"
STEERING = f"{ESCAPE}{TURN}<b>bold</b>&x"


@pytest.fixture
def hostile(tmp_path):
    """A project whose names, also those of a model's parts, hold what steers terminals, labels and menus."""
    path = sample("tiny", tmp_path)
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'(?<=name=")(\w+)(?=")', rf"\1{TURN}&lt;b&gt;bold&lt;/b&gt;&amp;x", text)
    text = re.sub(r'(?<=parent=")(\w+)(?=")', rf"\1{TURN}&lt;b&gt;bold&lt;/b&gt;&amp;x", text)
    path.write_text(text, encoding="utf-8")
    model = load_model(path)
    assert TURN in model.skeleton.names[0]
    assert TURN in model.clips[0].name
    bone = model.skeleton.names[1]
    nodes = (
        Node(id="m", name=f"Model {STEERING}", settings=ModelSettings(path=str(path), clip=model.clips[0].name)),
        Node(id="c", name=f"Cloth {STEERING}", settings=ClothSettings(columns=4, rows=4)),
        Node(id="e", name=f"Emitter {STEERING}", attachment=Attachment(node="m", bone=bone),
             settings=EmitterSettings(density_bone=bone)),
    )  # fmt: skip
    project = tmp_path / f"hostile {TURN}<b>&x.sinew"
    save_project(project, Scene(nodes=nodes, view=ViewSettings(bones=True)), ViewState())
    return project, bone


def cells(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[QModelIndex]:
    for row in range(model.rowCount(parent)):
        for column in range(model.columnCount(parent)):
            yield model.index(row, column, parent)
        yield from cells(model, model.index(row, 0, parent))


def shown_texts(root: QWidget) -> Iterator[tuple[str, str, str]]:
    """Where, how and what: every text of a window, "plain", "rich" where markup would count, "menu" where & does."""
    for widget in [root, *root.findChildren(QWidget)]:
        where = f"{type(widget).__name__} {widget.objectName()}"
        yield f"{where} tip", "rich", widget.toolTip()
        yield f"{where} title", "plain", widget.windowTitle()
        if isinstance(widget, QLabel):
            yield where, "plain" if widget.textFormat() is Qt.TextFormat.PlainText else "rich", widget.text()
        if isinstance(widget, QAbstractButton):
            yield where, "menu", widget.text()
        if isinstance(widget, QGroupBox | QMenu):
            yield where, "menu", widget.title()
        views = [widget.model()] if isinstance(widget, QAbstractItemView | QComboBox) and widget.model() else []
        for model in views:
            for index in cells(model, QModelIndex()):
                for role, kind in ((Qt.ItemDataRole.DisplayRole, "plain"), (Qt.ItemDataRole.ToolTipRole, "rich")):
                    if isinstance(data := index.data(role), str):
                        yield f"{where} {kind} cell", kind, data
    for action in root.findChildren(QAction):
        yield f"action {action.objectName()}", "menu", action.text()
        yield f"action {action.objectName()} status", "plain", action.statusTip()
        if action.toolTip() != re.sub("&(.)", r"\1", action.text()):  # Qt's own, which menus do not show
            yield f"action {action.objectName()} tip", "rich", action.toolTip()


def complaints(root: QWidget) -> list[str]:
    found = []
    for where, kind, text in shown_texts(root):
        lines = text.split("\n")
        if any(line != printable(line) for line in lines):
            found.append(f"{where}: {text!r}")
        if kind == "rich" and "<b>" in text:
            found.append(f"{where} is markup: {text!r}")
        if kind == "menu" and re.search(r"(?<!&)&x(?!t)", text):
            found.append(f"{where} makes a key: {text!r}")
    return sorted(set(found))


def test_names_from_files_steer_nothing(fresh, hostile, qtbot):
    project, bone = hostile
    with qtbot.waitSignal(fresh.files.opened, timeout=60000):
        fresh.files.open(project)
    qtbot.waitUntil(lambda: not fresh.store.loading and not fresh.uploads.uploading, timeout=60000)
    fresh.recent.add(project)
    found = []
    fresh.features["measuring"].measure(True)
    for selection in (
        Selection(node="m"), Selection(node="m", bone=bone), Selection(node="c"), Selection(node="e"),
        Selection(view=True),
    ):  # fmt: skip
        fresh.document.select(selection)
        fresh.viewport.repaint()
        for _ in range(3):
            QApplication.processEvents()
        found += complaints(fresh.window)
        for menu in fresh.window.findChildren(QMenu):
            menu.aboutToShow.emit()
        found += complaints(fresh.window)
    fresh.document.rename("c", f"again {TURN}&x")
    found += complaints(fresh.window)
    fresh.features["measuring"].measure(False)
    assert sorted(set(found)) == []
