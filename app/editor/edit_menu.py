import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu

from sinew.app.document.history import UndoHistory
from sinew.app.document.python_text import python_text
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.editor.main_window import MainWindow
from sinew.app.editor.session import Session
from sinew.app.project.node_text import FORMAT
from sinew.app.project.project_json import ProjectError
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.menus import HISTORY
from sinew.app.viewport.handle_tool import HandleTool
from sinew.app.viewport.tools import ViewportTools
from sinew.sim.kinds.contract import Submenu
from sinew.sim.scene.handles import HandleMode
from sinew.sim.scene.scene import Node
from sinew.widgets.code_editor import FindRow
from sinew.widgets.texts import menu_text

T = TypeVar("T")


def find(session: Session) -> None:
    """Opens the row that finds text in the focused panel, else the one of the inspector."""
    widget = QApplication.focusWidget()
    while widget is not None:
        rows = [child for child in widget.children() if isinstance(child, FindRow)]
        if rows:
            rows[0].open_row()
            return
        widget = widget.parentWidget()
    session.window.docks.reveal("inspector")
    session.panels.inspector.search.open_row()


HISTORY_MAX = 30
"""Entries of the menu History."""


def edit_menu(session: Session, show_preferences: Callable[[], object]) -> Menu:
    context, tools = session.context, session.tools
    document, edits, stack = context.document, context.edits, context.document.undo_stack

    def nothing_selected() -> str:
        return "" if document.selection.nodes else "Select an object first."

    def unlocked() -> Iterator[Node]:
        scene = document.scene
        return (scene.node(node_id) for node_id in document.selection.nodes if node_id in scene.unlocked)

    def nothing_unlocked() -> str:
        return nothing_selected() or ("" if any(True for _ in unlocked()) else "All selected objects are locked.")

    return Menu("&Edit", [
        Action("edit.undo", "&Undo", "Undo the last change.", stack.undo, ("Ctrl+Z",), "undo",
               lambda: "" if stack.can_undo else "There is nothing to undo."),
        Action("edit.redo", "&Redo", "Redo the last undone change.", stack.redo, ("Ctrl+Y", "Ctrl+Shift+Z"), "redo",
               lambda: "" if stack.can_redo else "There is nothing to redo."),
        Submenu(HISTORY, lambda menu: fill_history(menu, stack)),
        Action("edit.copy_python", "Copy Last Change as P&ython", "Copy the change that Undo takes back as Python.",
               lambda: _copy_python(context), reason=lambda: "" if stack.can_undo else "There is nothing to undo."),
        SEPARATOR,
        Action("edit.cut", "Cu&t", "Move the selected objects to the clipboard.", lambda: _cut(context), ("Ctrl+X",),
               reason=nothing_unlocked),
        Action("edit.copy", "&Copy", "Copy the selected objects to the clipboard.", lambda: copy_selected(context),
               ("Ctrl+C",), "copy", nothing_selected),
        Action("edit.paste", "&Paste", "Add the objects of the clipboard.", lambda: paste(context, session.window),
               ("Ctrl+V",)),
        SEPARATOR,
        Action("edit.rename", "Re&name", "Rename the selected object.", context.panels.outliner.rename_selected,
               ("F2",),
               reason=lambda: "" if len(document.selection.nodes) == 1 else "Select a single object first."),
        Action("edit.duplicate", "&Duplicate", "Add a copy of the selected objects.", edits.duplicate_selected,
               ("Ctrl+D",), reason=nothing_selected),
        Action("edit.delete", "&Delete", "Remove the selected objects.", edits.delete_selected, ("Del",),
               reason=nothing_unlocked),
        SEPARATOR,
        *_tree_actions(edits, nothing_selected, nothing_unlocked, unlocked),
        SEPARATOR,
        *_handle_actions(session.handles),
        Action("pose.reset", "Reset &Pose", "Reset the bone, or all bones of a model, to the pose of the clip.",
               edits.reset_pose, ("Ctrl+Alt+R",),
               reason=lambda: "" if edits.posed_bones else "No selected bone has a pose offset."),
        SEPARATOR,
        Action("edit.hide", "&Hide", "Hide selected objects.", edits.hide_selected, ("H",), reason=nothing_selected),
        Action("edit.show_all", "&Show All", "Show all hidden objects.", edits.show_all, ("Alt+H",),
               reason=lambda: "" if any(not n.visible for n in document.scene.nodes) else "Nothing is hidden."),
        Action("edit.select_all", "Select &All", "Select all objects.", edits.select_all, ("Ctrl+A",),
               reason=lambda: "" if document.scene.nodes else "The scene is empty."),
        Action("edit.deselect", "D&eselect", "Clear the selection.", lambda: _deselect(edits, tools),
               ("Ctrl+Shift+A",)),
        *_search_actions(session, show_preferences),
    ])  # fmt: skip


def _tree_actions(
    edits: SceneEdits, nothing_selected: Callable[[], str], nothing_unlocked: Callable[[], str],
    unlocked: Callable[[], Iterator[Node]],
) -> list[Action]:  # fmt: skip
    return [
        Action("edit.group", "&Group", "Put the selected objects into a group.", edits.group_selected, ("Ctrl+G",),
               reason=nothing_unlocked),
        Action("edit.ungroup", "&Ungroup", "Dissolve the selected group.", edits.ungroup_selected, ("Ctrl+Shift+G",),
               reason=lambda: "" if any(n.settings.is_group for n in unlocked()) else "Select a group first."),
        Action("edit.attach", "Attach to Acti&ve", "Attach the other selected objects to the one selected last.",
               edits.attach_selected, ("Ctrl+P",), reason=lambda: edits.attach_fault),
        Action("edit.detach", "Detac&h", "Detach the selected objects from their parents.", edits.detach_selected,
               ("Alt+P",), reason=lambda: edits.detach_fault),
        Action("edit.lock", "&Lock / Unlock", "Protect the selected objects from changes, or unlock them.",
               edits.lock_selected, ("Shift+L",), reason=nothing_selected),
    ]  # fmt: skip


def _search_actions(session: Session, show_preferences: Callable[[], object]) -> list[Action | str]:
    return [
        SEPARATOR,
        Action("edit.find", "F&ind…", "Find a setting in the inspector, or text in the kernel.",
               lambda: find(session), ("Ctrl+F",)),
        Action("edit.preferences", "Pre&ferences…", "Theme, playback, back end, files and shortcuts.",
               show_preferences, ("Ctrl+,",)),
    ]  # fmt: skip


def fill_history(menu: QMenu, history: UndoHistory) -> None:
    """Fills a menu with the latest entries, the newest first; undone ones are dim."""
    texts = ["Opened", *history.texts]
    first = max(0, min(history.index, len(texts) - HISTORY_MAX))
    for index in reversed(range(first, min(first + HISTORY_MAX, len(texts)))):
        saved = " (saved)" if index == history.saved else ""
        action = menu.addAction(f"{menu_text(texts[index])}{saved}", functools.partial(history.go, index))
        action.setCheckable(True)
        action.setChecked(index == history.index)
        if index > history.index:
            font = action.font()
            font.setItalic(True)
            action.setFont(font)
            action.setToolTip("Undone")


def _choice(
    action_id: str, title: str, tip: str, choose: Callable[[T], object], chosen: Callable[[], T | None], value: T,
    *keys: str, icon: str = "",
) -> Action:  # fmt: skip
    return Action(action_id, title, tip, lambda _: choose(value), keys, icon, is_on=lambda: chosen() is value)


def _handle_actions(handles: HandleTool) -> list[Action]:
    return [
        _choice(f"handle.{mode.value}", title, f"Handles that {verb} the selected object.",
                handles.set_mode, lambda: handles.mode, mode, key, icon=icon)
        for mode, title, verb, key, icon in (
            (HandleMode.MOVE, "&Move", "move", "G", "mdi6.arrow-all"),
            (HandleMode.ROTATE, "&Rotate", "rotate", "R", "mdi6.rotate-3d-variant"),
            (HandleMode.SCALE, "&Scale", "scale", "E", "mdi6.arrow-expand"),
        )
    ]  # fmt: skip


def copy_selected(context: EditorContext) -> bool:
    """Copies the selected nodes to the clipboard; returns False if nothing is selected."""
    text = context.edits.copied_text()
    if text:
        QGuiApplication.clipboard().setText(text)
    return bool(text)


def _copy_python(context: EditorContext) -> None:
    if (latest := context.document.undo_stack.latest) is not None:
        QGuiApplication.clipboard().setText(python_text(latest))


def _cut(context: EditorContext) -> None:
    if copy_selected(context):
        context.edits.delete_selected()


def _deselect(edits: SceneEdits, tools: ViewportTools) -> None:
    edits.select()
    tools.deselect()


def paste(context: EditorContext, window: MainWindow) -> None:
    """Adds the nodes on the clipboard; reports in the status bar if there are none."""
    text = QGuiApplication.clipboard().text()
    if FORMAT not in text:
        window.show_news("The clipboard holds no objects of a scene")
        return
    try:
        context.edits.paste(text)
    except ProjectError as error:
        context.panels.warn("", str(error))
