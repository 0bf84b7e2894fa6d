"""Picking, selection, tools of kinds and the context menu."""

from collections.abc import Iterable, Mapping

import numpy as np
from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtWidgets import QMenu

from sinew.app.document.document import Document
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.session.actions import SEPARATOR, Actions
from sinew.app.session.menus import AddMenu, add_place_menus
from sinew.app.session.picker import Picker
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.assets.model import CharacterModel
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import CharacterView, Panel, Tool
from sinew.sim.render.render_view import JointRef
from sinew.sim.scene.picking import pick_joint
from sinew.sim.scene.view import DisplayMode
from sinew.sim.scene.view_state import Selection, toggled
from sinew.widgets.viewport import Viewport

JOINT_RADIUS = 9.0
_MORE = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
HINT = "Click: select · Middle drag: orbit · with Shift: pan · Wheel: zoom"


class ViewportTools(QObject):
    """Selection by click; tools, asked in order, do everything else. `hint` is "" outside of the viewport."""

    hint = Signal(str)

    def __init__(self, document: Document, client: ViewportRenderer, viewport: Viewport, picker: Picker) -> None:
        super().__init__(viewport)
        self._document, self._client, self._viewport, self._picker = document, client, viewport, picker
        self._tools: list[Tool] = []
        self._held: Tool | None = None
        viewport.pressed.connect(self._on_pressed)
        viewport.clicked.connect(self._on_clicked)
        viewport.hovered.connect(self._on_hovered)
        viewport.left.connect(self._on_left)
        viewport.drag_started.connect(self._on_drag_started)
        viewport.dragged.connect(self._on_dragged)
        viewport.drag_finished.connect(self._on_drag_finished)
        viewport.drag_cancelled.connect(self._on_drag_cancelled)

    def take(self, tools: Iterable[Tool]) -> None:
        self._tools = sorted([*self._tools, *tools], key=lambda tool: not tool.is_over)

    # --- questions ------------------------------------------------------------------------------------

    def joint_at(self, position: QPointF) -> JointRef | None:
        """Returns the joint at a position; None while bones are hidden."""
        engine = self._client.engine
        if engine is None or not self._document.scene.view.bones:
            return None
        for node in self._document.scene.characters:
            view, model = engine.views.view(node.id), engine.model_of(node.id)
            if (
                node.id not in self._document.scene.shown & self._document.scene.unlocked
                or not isinstance(view, CharacterView)
                or view.segments is None
                or model is None
                or model.skeleton is None
            ):
                continue
            places = np.full((len(engine.views.characters[node.id].joint_positions()), 3), np.nan)
            drawn = view.segments.joints
            places[drawn] = engine.views.characters[node.id].joint_positions()[drawn]
            cursor = (position.x(), position.y())
            joint = pick_joint(
                self._picker.camera, self._picker.size, places, model.skeleton.parents, cursor, JOINT_RADIUS
            )
            if joint is not None:
                return JointRef(node.id, joint)
        return None

    def pick(self, position: QPointF) -> Selection:
        """Returns a node by its mark, a bone, a node by its surface, or nothing."""
        marked = self._picker.mark(position)
        if marked is not None:
            return Selection(node=marked)
        joint = self.joint_at(position)
        if joint is not None:
            return self._selection_of(joint)
        return self._surface_at(position)

    def deselect(self) -> None:
        for tool in self._tools:
            tool.deselect()

    # --- mouse ----------------------------------------------------------------------------------------

    def _on_pressed(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        over, under = self._layers()
        if any(tool.press(position, _has_shift(modifiers)) for tool in over):
            return
        if self._picker.mark(position) is None and self.joint_at(position) is None:
            any(tool.press(position, _has_shift(modifiers)) for tool in under)

    def _on_clicked(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        for tool in self._tools:
            tool.end()
        if not any(tool.click(position, _has_shift(modifiers)) for tool in self._tools):
            self.deselect()
            self._select(self.pick(position), more=bool(modifiers & _MORE))

    def _select(self, picked: Selection, *, more: bool) -> None:
        """Selects what was picked; `more` adds the node to the selection, or removes it."""
        if not more or picked.bone is not None:
            self._document.select(picked)
        elif picked.node is not None:
            self._document.select(toggled(self._document.selection, picked.node))

    def _on_hovered(self, position: QPointF) -> None:
        over, under = self._layers()
        taken, text = _hovered(over, position)
        mark = self._picker.mark(position) if taken is None else None
        joint = self.joint_at(position) if taken is None and mark is None else None
        if mark is not None:
            text = f"{self._document.scene.node(mark).name}: click to select"
        elif joint is not None:
            text = f"Bone {self._selection_of(joint).bone}: click to select"
        below, more = _hovered(under, None if text else position)
        cursor = getattr(taken or below, "cursor", None)
        self._viewport.setCursor(cursor or Qt.CursorShape.ArrowCursor)
        if self._client.set_hovered(joint):
            self._viewport.update()
        self.hint.emit(text or more or HINT)

    def _on_left(self) -> None:
        _hovered(self._tools, None)
        if self._client.set_hovered(None):
            self._viewport.update()
        self.hint.emit("")

    def _on_drag_started(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        shift = _has_shift(modifiers)
        self._held = next((tool for tool in self._tools if tool.begin(position, shift)), None)

    def _on_dragged(self, position: QPointF) -> None:
        if self._held is not None:
            self._held.drag(position)

    def _on_drag_finished(self, position: QPointF) -> None:
        self._end()
        self._on_hovered(position)

    def _on_drag_cancelled(self) -> None:
        self._end(cancel=True)
        self.hint.emit(HINT)

    def _end(self, *, cancel: bool = False) -> None:
        if self._held is not None:
            self._held.end(cancel=cancel)
        self._held = None

    # --- highlights -----------------------------------------------------------------------------------

    def _layers(self) -> tuple[list[Tool], list[Tool]]:
        """Returns the tools before marks and bones, and the tools after them."""
        return [tool for tool in self._tools if tool.is_over], [tool for tool in self._tools if not tool.is_over]

    def _surface_at(self, position: QPointF) -> Selection:
        engine, hit = self._client.engine, self._picker.surface(position)
        if engine is None or hit is None or hit.node not in self._document.scene.unlocked:
            return Selection()
        weights_shown = self._document.scene.view.display is DisplayMode.WEIGHTS
        joint = strongest_joint(engine.model_of(hit.node), hit.element) if weights_shown else None
        return Selection(node=hit.node) if joint is None else self._selection_of(JointRef(hit.node, joint))

    def _selection_of(self, reference: JointRef) -> Selection:
        assert self._client.engine is not None
        model = self._client.engine.model_of(reference.node)
        assert model is not None
        assert model.skeleton is not None
        return Selection(node=reference.node, bone=model.skeleton.names[reference.joint])


def strongest_joint(model: CharacterModel | None, triangle: int) -> int | None:
    """Returns the joint with the largest weight on a triangle; None if nothing is weighted."""
    if model is None or model.skin is None or triangle >= model.mesh.triangle_count:
        return None
    skin, corners = model.skin, model.mesh.triangles[triangle]
    weights = np.bincount(skin.joints_of(skin.joints[corners]).ravel(), skin.weights[corners].ravel())
    return int(np.argmax(weights))


def _hovered(tools: Iterable[Tool], position: QPointF | None) -> tuple[Tool | None, str]:
    """Returns the first tool with something at a position, and its hint; the others highlight nothing."""
    found, said = None, ""
    for tool in tools:
        text = tool.hover(position if found is None else None)
        if text and found is None:
            found, said = tool, text
    return found, said


def _has_shift(modifiers: Qt.KeyboardModifier) -> bool:
    return bool(modifiers & Qt.KeyboardModifier.ShiftModifier)


OBJECT = ("view.frame", SEPARATOR, "handle.move", "handle.rotate", "handle.scale", "pose.reset", SEPARATOR,
          "edit.rename", "edit.copy", "edit.duplicate", "edit.group", "edit.lock", "edit.hide",
          "edit.delete")  # fmt: skip
SIMULATED = ("node.mute", "node.solo", "simulate.reset", SEPARATOR)
NOTHING = ("view.home", "edit.paste", "edit.show_all")


class ViewportMenu(QObject):
    """Context menu of the viewport, which selects the node under the mouse."""

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
        # A click on one of several selected nodes is for all of them.
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
