"""Menus and toolbar, laid out from action ids."""

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QWidget

from app.editor.actions import EXPORTS, Actions
from app.kinds.emitter.menu import EmitterMenu

SEPARATOR = "-"
SPACER = " "
RECENT = "recent"
SECTIONS = "sections"
EMITTERS = "emitters"

FILE = ("file.new", "file.open", RECENT, SEPARATOR, "file.save", "file.save_as", SEPARATOR, "file.import", "export",
        SEPARATOR, "file.screenshot", SEPARATOR, "file.quit")  # fmt: skip
EDIT = ("edit.undo", "edit.redo", SEPARATOR, "edit.rename", "edit.duplicate", "edit.delete", SEPARATOR, "handle.move",
        "handle.rotate", "handle.scale", SEPARATOR, "edit.hide", "edit.show_all", "edit.deselect")  # fmt: skip
THEME = ("theme.auto", "theme.dark", "theme.light")
VIEW = ("view.frame", "view.home", SEPARATOR, "view.front", "view.right", "view.top", "view.back", "view.left",
        "view.bottom", "view.orthographic", SEPARATOR, "display.shaded", "display.shaded-wireframe",
        "display.wireframe", "display.normals", "display.weights", "display.toggle_wire", SEPARATOR, "overlay.bones",
        "overlay.grid", "overlay.axes", "overlay.colliders", "overlay.contacts", "overlay.textures",
        "overlay.statistics")  # fmt: skip
ADD = ("add.model", "add.light", SEPARATOR, "add.cloth", SECTIONS, SEPARATOR, EMITTERS, SEPARATOR, "add.plane",
       "add.sphere", "add.ellipsoid", "add.capsule", "add.box", SEPARATOR, "add.fit")  # fmt: skip
SIMULATION = ("simulate.step", "simulate.seek", "simulate.reset", SEPARATOR, "simulate.pin", SEPARATOR,
              "emitter.mute", "emitter.solo", "emitter.reseed")  # fmt: skip
TIMING = ("timing.measure", "timing.pause", SEPARATOR, "timing.record", SEPARATOR, "timing.export_csv",
          "timing.export_trace", "timing.import", SEPARATOR, "timing.clear")  # fmt: skip
SKINNING = ("skin.lbs", "skin.dqs", "skin.dqs-scale", SEPARATOR, "compare.off", "compare.split", "compare.difference")
PLAYBACK = ("play.toggle", "play.backwards", SEPARATOR, "play.next", "play.previous", "play.next_key",
            "play.previous_key", "play.first", "play.last", SEPARATOR, "play.in", "play.out", "play.clear_range",
            SEPARATOR, "play.bind_pose")  # fmt: skip
HELP = ("help.shortcuts", "help.about")
TOOLBAR = ("file.open", "file.save", SEPARATOR, "edit.undo", "edit.redo", SEPARATOR, "play.toggle", SEPARATOR,
           "view.home", "overlay.bones", "overlay.grid", SEPARATOR,
           "handle.move", "handle.rotate", "handle.scale", SPACER, "skin.lbs", "skin.dqs", "compare.split",
           "compare.difference", SEPARATOR, "display.shaded", "display.shaded-wireframe", "display.wireframe",
           "display.normals", "display.weights")  # fmt: skip


class Menus:
    """The menu bar and the toolbar of one window.

    Attributes:
        recent: Submenu of recent files, filled by its owner.
        emitters: Submenu of emitters; its owner says where they go.
        add: Menu of what can be added.
        sections: Submenu of what cloths can be made of, filled by its owner whenever it opens.
        window: Menu of the docks.
    """

    def __init__(self, window: QMainWindow, actions: Actions, dock_actions: Iterable[QAction]) -> None:
        self._actions = actions
        self.recent = QMenu("Open &Recent", window)
        export = QMenu("&Export", window)
        export.addActions([actions[action_id] for action_id in EXPORTS])
        self.sections = QMenu("Cl&oth from Section", window)
        self.emitters = EmitterMenu(actions, window)
        submenus = {RECENT: self.recent, SECTIONS: self.sections, EMITTERS: self.emitters, "export": export}
        for title, ids in (("&File", FILE), ("&Edit", EDIT), ("&View", VIEW), ("&Add", ADD), ("&Skinning", SKINNING),
                           ("&Playback", PLAYBACK), ("Si&mulation", SIMULATION), ("&Timing", TIMING)):  # fmt: skip
            menu = window.menuBar().addMenu(title)
            self._fill(menu, ids, submenus)
            if ids is ADD:
                self.add = menu
        self.window = window.menuBar().addMenu("&Window")
        self.window.addActions(list(dock_actions))
        self.window.addSeparator()
        self.window.addAction(actions["window.reset_layout"])
        self._fill(self.window.addMenu("&Theme"), THEME, submenus)
        self._fill(window.menuBar().addMenu("&Help"), HELP, submenus)
        self.toolbar = self._toolbar(window)

    def _fill(self, menu: QMenu, ids: Iterable[str], submenus: dict[str, QMenu]) -> None:
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
