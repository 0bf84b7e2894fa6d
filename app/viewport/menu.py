"""What a right click in the viewport offers: commands for the object that was hit, and what its kind adds."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QPointF
from PySide6.QtWidgets import QMenu

from app.document.document import Document
from app.document.scene_edits import SceneEdits
from app.editor.actions import SEPARATOR, Actions
from app.editor.menus import AddMenu, add_place_menus
from app.viewport.tools import ViewportTools
from sim.kinds import KINDS
from sim.kinds.contract import Panel
from widgets.viewport import Viewport

OBJECT = ("view.frame", SEPARATOR, "handle.move", "handle.rotate", "handle.scale", "pose.reset", SEPARATOR,
          "edit.rename", "edit.copy", "edit.duplicate", "edit.group", "edit.lock", "edit.hide",
          "edit.delete")  # fmt: skip
SIMULATED = ("node.mute", "node.solo", "simulate.reset", SEPARATOR)
NOTHING = ("view.home", "edit.paste", "edit.show_all")


class ViewportMenu(QObject):
    """Makes a menu for every right click; what is hit becomes the selection."""

    def __init__(
        self,
        document: Document,
        viewport: Viewport,
        tools: ViewportTools,
        actions: Actions,
        edits: SceneEdits,
        rooms: Mapping[str, Panel],
    ) -> None:
        super().__init__(viewport)
        self._document, self._viewport, self._tools, self._actions = document, viewport, tools, actions
        self._edits, self._rooms = edits, rooms
        viewport.context_menu.connect(self._show)

    def menu_at(self, position: QPointF) -> QMenu:
        picked = self._tools.pick(position)
        # A click on one of several that are selected means them all.
        if picked.node not in self._document.selection.nodes or picked.bone is not None:
            self._document.select(picked)
        menu, node = QMenu(self._viewport), self._document.selected
        menu.setToolTipsVisible(True)
        if node is None:
            self._fill(menu, NOTHING)
            add = AddMenu(self._actions, self._rooms, lambda: self._edits.place, menu)
            add.report_cursor()
            menu.addMenu(add)
            return menu
        if node.kind in self._rooms:
            self._rooms[node.kind].fill_menu(menu, node, position)
        if KINDS[node.kind].can_be_muted:
            self._fill(menu, (SEPARATOR, *SIMULATED))
        self._fill(menu, OBJECT)
        if node.settings.is_character:
            menu.addSeparator()
            add_place_menus(menu, self._actions, self._edits.place)
        return menu

    def _show(self, position: QPointF) -> None:
        menu = self.menu_at(position)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._viewport.mapToGlobal(position.toPoint()))

    def _fill(self, menu: QMenu, ids: tuple[str, ...]) -> None:
        for action_id in ids:
            if action_id == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(self._actions[action_id])
