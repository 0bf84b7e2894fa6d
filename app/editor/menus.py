"""Menus and toolbar, laid out from action ids; what kinds and their rooms offer is asked for."""

from collections.abc import Iterable, Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QWidget

from app.editor.actions import EXPORTS, SCENE_EXPORTS, SWITCHES, Actions
from app.editor.add_menu import AddMenu, Place
from sim.cache.step_store import CacheBudget
from sim.gl.back_end import BackEndChoice
from sim.kinds.contract import Panel
from widgets.theme import dress

SEPARATOR = "-"
SPACER = " "
RECENT = "recent"

FILE = ("file.new", "file.open", RECENT, SEPARATOR, "file.save", "file.save_as", SEPARATOR, "file.import", "export",
        SEPARATOR, "file.render", "file.screenshot", "file.copy_picture", SEPARATOR, "file.quit")  # fmt: skip
EDIT = ("edit.undo", "edit.redo", SEPARATOR, "edit.cut", "edit.copy", "edit.paste", SEPARATOR, "edit.rename",
        "edit.duplicate", "edit.delete", SEPARATOR, "edit.group", "edit.ungroup", "edit.lock", SEPARATOR,
        "handle.move", "handle.rotate", "handle.scale", "pose.reset", SEPARATOR, "edit.hide", "edit.show_all",
        "edit.select_all", "edit.deselect")  # fmt: skip
THEME = ("theme.auto", "theme.dark", "theme.light")
VIEW = ("view.frame", "view.home", "view.maximise", SEPARATOR, "view.front", "view.right", "view.top", "view.back",
        "view.left", "view.bottom", "view.orthographic", SEPARATOR, "display.shaded", "display.shaded-wireframe",
        "display.wireframe", "display.normals", "display.weights", "display.toggle_wire", SEPARATOR,
        *(f"overlay.{record.name}" for record in SWITCHES))  # fmt: skip
SIMULATION = ("simulate.step", "simulate.seek", "simulate.reset", SEPARATOR, "simulate.bake", "simulate.free",
              "simulate.verify", "simulate.sweep", SEPARATOR, "node.mute", "node.solo", SEPARATOR, "back_end",
              "step_room", SEPARATOR)  # fmt: skip
STEP_ROOM = tuple(f"step_room.{room.value}" for room in CacheBudget)
BACK_END = tuple(f"back_end.{choice.value}" for choice in BackEndChoice)
TIMING = ("timing.measure", "timing.pause", SEPARATOR, "timing.record", "timing.compare_back_ends", SEPARATOR,
          "timing.export_csv", "timing.export_trace", "timing.import", SEPARATOR, "timing.clear")  # fmt: skip
SKINNING = ("skin.lbs", "skin.dqs", "skin.dqs-scale", SEPARATOR, "compare.off", "compare.split", "compare.difference")
PLAYBACK = ("play.toggle", "play.backwards", SEPARATOR, "play.next", "play.previous", "play.next_key",
            "play.previous_key", "play.first", "play.last", SEPARATOR, "play.in", "play.out", "play.clear_range",
            SEPARATOR, "play.snap", "play.bind_pose")  # fmt: skip
HELP = ("help.guide", "help.tour", "help.shortcuts", SEPARATOR, "help.about")
TOOLBAR = ("file.open", "file.save", SEPARATOR, "edit.undo", "edit.redo", SEPARATOR, "play.toggle", SEPARATOR,
           "view.home", "overlay.bones", "overlay.grid", SEPARATOR,
           "handle.move", "handle.rotate", "handle.scale", SPACER, "skin.lbs", "skin.dqs", "compare.split",
           "compare.difference", SEPARATOR, "display.shaded", "display.shaded-wireframe", "display.wireframe",
           "display.normals", "display.weights")  # fmt: skip


class Menus:
    """The menu bar and the toolbar of one window.

    Attributes:
        recent: Submenu of recent files, filled by its owner.
        export: Submenu of formats.
        add: Menu of what can be added.
        window: Menu of the docks.
    """

    def __init__(
        self,
        window: QMainWindow,
        actions: Actions,
        dock_actions: Iterable[QAction],
        rooms: Mapping[str, Panel],
        place: Place,
    ) -> None:
        self._actions = actions
        self.recent = QMenu("Open &Recent", window)
        export = self.export = QMenu("&Export", window, toolTipsVisible=True)
        export.addActions([actions[action_id] for action_id in EXPORTS])
        export.addSeparator()
        export.addActions([actions[action_id] for action_id in SCENE_EXPORTS])
        back_end = QMenu("&Back End", window)
        back_end.addActions([actions[action_id] for action_id in BACK_END])
        room = QMenu("R&oom for Kept Steps", window)
        room.addActions([actions[action_id] for action_id in STEP_ROOM])
        submenus = {RECENT: self.recent, "export": export, "back_end": back_end, "step_room": room}
        simulation = (*SIMULATION, *(command.id for room in rooms.values() for command in room.commands))
        self.add = AddMenu(actions, rooms, place, window)
        for title, ids in (("&File", FILE), ("&Edit", EDIT), ("&View", VIEW), ("&Add", ()), ("&Skinning", SKINNING),
                           ("&Playback", PLAYBACK), ("Si&mulation", simulation), ("&Timing", TIMING)):  # fmt: skip
            if ids:
                self._fill(window.menuBar().addMenu(title), ids, submenus)
            else:
                window.menuBar().addMenu(self.add)
        self.window = window.menuBar().addMenu("&Window")
        self.window.addActions(list(dock_actions))
        self.window.addSeparator()
        self.window.addAction(actions["window.reset_layout"])
        self._fill(self.window.addMenu("&Theme"), THEME, submenus)
        self._fill(window.menuBar().addMenu("He&lp"), HELP, submenus)
        self.toolbar = self._toolbar(window)

    def _fill(self, menu: QMenu, ids: Iterable[str], submenus: dict[str, QMenu]) -> None:
        menu.setToolTipsVisible(True)
        for action_id in ids:
            if action_id == SEPARATOR:
                menu.addSeparator()
            elif action_id in submenus:
                menu.addMenu(submenus[action_id])
            else:
                menu.addAction(self._actions[action_id])

    def _toolbar(self, window: QMainWindow) -> QToolBar:
        toolbar = QToolBar("Toolbar", window)
        toolbar.setObjectName("toolbar")
        toolbar.setMovable(False)
        dress(toolbar)
        for action_id in TOOLBAR:
            if action_id == SEPARATOR:
                toolbar.addSeparator()
            elif action_id == SPACER:
                toolbar.addWidget(_spacer())
            else:
                toolbar.addAction(self._actions[action_id])
        window.addToolBar(toolbar)
        return toolbar


def _spacer() -> QWidget:
    """Pushes what follows to the right end of the toolbar."""
    widget = QWidget()
    widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return widget
