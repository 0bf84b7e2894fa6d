"""Keeps title, menus, switches and the list of recent files true to the document."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app.bootstrap import APPLICATION
from app.document.document import Document
from app.document.scene_edits import SceneEdits
from app.editor.actions import EXPORTS, SWITCHES
from app.editor.main_window import MainWindow
from app.files.project_file import cache_folder
from app.files.project_files import ProjectFiles
from app.files.recent_files import RecentFiles
from app.timeline.active_model import ActiveModel
from sim.cache.bake import is_bake
from sim.kinds import KINDS
from sim.scene.view import SkinningComparison
from widgets.texts import label_text, menu_text, tip_text


class WindowState(QObject):
    """Shows state in the window; edits nothing."""

    def __init__(
        self,
        window: MainWindow,
        document: Document,
        recent: RecentFiles,
        active: ActiveModel,
        files: ProjectFiles,
        edits: SceneEdits,
    ) -> None:
        super().__init__(window)
        self._window, self._document, self._recent, self._active, self._files = window, document, recent, active, files
        self._edits = edits
        stack = document.undo_stack
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        document.view_state_changed.connect(self._refresh_camera)
        document.title_changed.connect(self._refresh_title)
        recent.changed.connect(self._refresh_recent)
        stack.canUndoChanged.connect(lambda _: self._refresh_history())
        stack.canRedoChanged.connect(lambda _: self._refresh_history())
        stack.indexChanged.connect(lambda _: self._refresh_history())
        self.refresh()
        self._refresh_camera()
        self._refresh_title()
        self._refresh_recent()
        self._refresh_history()

    def refresh(self, *_: object) -> None:
        actions, view = self._window.actions_table, self._document.scene.view
        actions.check_one("display", view.display.value)
        actions.check_one("compare", view.comparison.value)
        node = self._active.node
        settings = node.settings if node else None
        shows_one = settings is not None and view.comparison is SkinningComparison.OFF
        actions.check_one("skin", settings.skinning.value if settings and shows_one else "")
        actions.check("play.bind_pose", bool(settings and settings.bind_pose))
        for record in SWITCHES:
            actions.check(f"overlay.{record.name}", getattr(view, record.name))
        self._refresh_edits()
        actions["edit.show_all"].setEnabled(any(not n.visible for n in self._document.scene.nodes))
        for name in ("skin.lbs", "skin.dqs", "skin.dqs-scale", "play.bind_pose", *EXPORTS):
            actions.offer(name, "" if settings is not None else "Open a model first.")
        self._refresh_simulation()

    def _refresh_simulation(self) -> None:
        """What can be done with what is simulated, and with objects of each kind."""
        actions, scene, path = self._window.actions_table, self._document.scene, self._document.path
        simulated = any(KINDS[node.kind].system for node in scene.nodes)
        chosen = scene.with_contents(self._document.selection.nodes)
        nothing = "" if simulated else "Nothing in the scene is simulated."
        for name in ("step", "seek", "reset", "sweep"):
            actions.offer(f"simulate.{name}", nothing)
        unsaved = "" if path is not None else "Save the project first: baked steps lie beside it."
        actions.offer("simulate.bake", nothing or unsaved)
        actions.offer("simulate.free", "" if any(node.baked for node in scene.nodes) else "Nothing is baked.")
        is_there = path is not None and is_bake(cache_folder(path))
        actions.offer("simulate.verify", "" if is_there else "Nothing is baked beside the project.")
        can_be_muted = any(KINDS[scene.node(node).kind].can_be_muted for node in chosen)
        for name in ("node.mute", "node.solo"):
            actions.offer(name, "" if can_be_muted else "Select something that is simulated, or a collider, first.")
        for command in actions.commands:
            actions.offer(command.id, command.lack())

    def _refresh_edits(self) -> None:
        """What can be done with the selection; a bone belongs to its file and can only be posed."""
        actions, scene = self._window.actions_table, self._document.scene
        chosen = self._document.selection.nodes
        free = [scene.node(node_id) for node_id in chosen if node_id in scene.unlocked]
        for name in ("edit.duplicate", "edit.copy", "edit.lock", "edit.hide"):
            actions.offer(name, "" if chosen else "Select an object first.")
        for name in ("edit.delete", "edit.cut", "edit.group"):
            actions.offer(
                name, "" if free else "All that is selected is locked." if chosen else "Select an object first."
            )
        actions.offer("pose.reset", "" if self._edits.posed_bones else "No bone of the selection was posed by hand.")
        actions["edit.rename"].setEnabled(len(chosen) == 1)
        actions["edit.ungroup"].setEnabled(any(node.settings.is_group for node in free))
        actions["edit.select_all"].setEnabled(bool(scene.nodes))

    def _refresh_camera(self, *_: object) -> None:
        self._window.actions_table.check("view.orthographic", self._document.view_state.camera.orthographic)

    def _refresh_title(self) -> None:
        path = self._document.path
        self._window.setWindowModified(self._document.modified)
        self._window.setWindowFilePath(str(path) if path else "")
        self._window.setWindowTitle(f"{label_text(self._document.title)}[*] – {APPLICATION}")

    def _refresh_history(self) -> None:
        stack, actions = self._document.undo_stack, self._window.actions_table
        for name, text, enabled in (
            ("edit.undo", f"&Undo {menu_text(stack.undoText())}", stack.canUndo()),
            ("edit.redo", f"&Redo {menu_text(stack.redoText())}", stack.canRedo()),
        ):
            actions[name].setText(text.rstrip())
            actions[name].setEnabled(enabled)

    def _refresh_recent(self) -> None:
        menu = self._window.menus.recent
        menu.clear()
        for path in self._recent.paths():
            menu.addAction(_recent_action(menu, path, self._files.open))
        menu.setEnabled(not menu.isEmpty())


def _recent_action(parent: QObject, path: Path, open_path: Callable[[Path], None]) -> QAction:
    action = QAction(menu_text(path.name), parent)
    action.setToolTip(tip_text(str(path)))
    action.setStatusTip(label_text(str(path)))
    action.triggered.connect(lambda: open_path(path))
    return action
