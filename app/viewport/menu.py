"""What a right click in the viewport offers: commands for the object that was hit, pins for a cloth."""

from PySide6.QtCore import QObject, QPointF
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from app.document.document import Document
from app.editor.actions import Actions
from app.editor.menus import ADD, EMITTERS, SEPARATOR
from app.kinds.cloth.pin_edits import set_pin_preset
from app.kinds.emitter.edits import EmitterEdits
from app.kinds.emitter.menu import EmitterMenu
from app.viewport.tools import ViewportTools
from sim.kinds.cloth.settings import ClothSource, PinPreset
from sim.scene.scene import NodeId
from widgets.viewport import Viewport

OBJECT = ("view.frame", SEPARATOR, "handle.move", "handle.rotate", "handle.scale", SEPARATOR, "edit.rename",
          "edit.duplicate", "edit.hide", "edit.delete")  # fmt: skip
OF_EMITTER = ("emitter.mute", "emitter.solo", "emitter.reseed", "simulate.reset", SEPARATOR)
NOTHING = ("view.home", "edit.show_all")
OF_MESH = (PinPreset.NONE, PinPreset.ALL)
"""Presets that mean something where there are neither rows nor columns."""


class ViewportMenu(QObject):
    """Makes a menu for every right click; what is hit becomes the selection."""

    def __init__(
        self,
        document: Document,
        viewport: Viewport,
        tools: ViewportTools,
        actions: Actions,
        emitters: EmitterEdits,
    ) -> None:
        super().__init__(viewport)
        self._emitters = emitters
        self._document, self._viewport, self._tools, self._actions = document, viewport, tools, actions
        viewport.context_menu.connect(self._show)

    def menu_at(self, position: QPointF) -> QMenu:
        """The menu of a place of the viewport."""
        self._document.select(self._tools.pick(position))
        menu = QMenu(self._viewport)
        node_id = self._document.selection.node
        if node_id is None:
            self._fill(menu, NOTHING)
            known = (SEPARATOR, EMITTERS)
            self._fill(menu.addMenu("&Add"), tuple(id for id in ADD if id in known or id.startswith("add.")))
            return menu
        if self._document.scene.node(node_id).kind == "cloth":
            self._fill_pins(menu, node_id, position)
        if self._document.scene.node(node_id).kind == "emitter":
            self._fill(menu, OF_EMITTER)
        self._fill(menu, OBJECT)
        if self._document.scene.node(node_id).kind == "model":
            menu.addSeparator()
            self._fill(menu, (EMITTERS,))
        return menu

    def _show(self, position: QPointF) -> None:
        menu = self.menu_at(position)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._viewport.mapToGlobal(position.toPoint()))

    def _fill(self, menu: QMenu, ids: tuple[str, ...]) -> None:
        for action_id in ids:
            if action_id == SEPARATOR:
                menu.addSeparator()
            elif action_id == EMITTERS:
                menu.addMenu(self._emitter_menu(menu))
            else:
                menu.addAction(self._actions[action_id])

    def _emitter_menu(self, parent: QMenu) -> EmitterMenu:
        menu = EmitterMenu(self._actions, parent)
        menu.show_place(self._emitters.place)
        return menu

    def _fill_pins(self, menu: QMenu, node_id: NodeId, position: QPointF) -> None:
        self._tools.cloth.look_at(position)
        numbers = self._tools.cloth.pinnable()
        if numbers:
            count = sum(map(len, numbers.values()))
            what = "This Particle" if count == 1 else f"{count} Particles"
            verb = "Let Go of" if self._tools.cloth.is_held(numbers) else "Pin"
            toggle = menu.addAction(f"&{verb} {what}")
            toggle.triggered.connect(lambda: self._tools.cloth.toggle_pins(numbers))
        self._fill_presets(menu.addMenu("P&ins"), node_id)
        menu.addSeparator()
        menu.addAction(self._actions["simulate.reset"])
        menu.addSeparator()

    def _fill_presets(self, menu: QMenu, node_id: NodeId) -> None:
        settings = self._document.scene.node(node_id).settings
        assert settings is not None
        group = QActionGroup(menu)
        for preset in PinPreset if settings.source is ClothSource.GRID else OF_MESH:
            action = QAction(preset.value.capitalize(), group)
            action.setCheckable(True)
            action.setChecked(preset is settings.pins and not settings.pin_list)
            action.triggered.connect(lambda _=False, preset=preset: set_pin_preset(self._document, node_id, preset))
            menu.addAction(action)
