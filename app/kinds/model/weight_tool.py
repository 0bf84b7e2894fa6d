"""Brushes that paint the weights of one bone."""

import colorsys
import enum
import functools
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sinew.app.kinds.brush_tool import BrushTarget, BrushTool, Edit, occlusion
from sinew.app.kinds.brush_widgets import BrushBar
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.influences import Influences
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.character import Character
from sinew.sim.characters.settings import model_settings
from sinew.sim.characters.weights import SkinWeights, current_influences, packed, shown_skin
from sinew.sim.kinds.model.view import ModelView
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.transform import transform_points
from sinew.sim.memo import Memo
from sinew.sim.scene.brush import BrushedPoints, BrushStroke
from sinew.sim.scene.scene import Node, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.sim.skin.weights.edit import WeightTable, opposite_joints
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import FlowRow, tool_button
from sinew.widgets.parts import packed as packed_row
from sinew.widgets.theme import SPACE

PICK_RADIUS = 24.0
"""Largest distance of a picked vertex from the mouse [px]."""

_TURN = 0.618034
"""Golden section: hues of bones with neighbouring numbers are far apart."""


class WeightPaint(enum.Enum):
    """Brushes, each with its action and its action with Shift."""

    ADD = ("Add", "Smooth")
    SUBTRACT = ("Subtract", "Smooth")
    SET = ("Set", "Smooth")


_BUTTONS = {
    "ADD": ("mdi6.plus-circle-outline", "Add", "Add weight of the selected bone; Shift smooths all bones."),
    "SUBTRACT": ("mdi6.minus-circle-outline", "Subtract", "Take weight of the selected bone away; Shift smooths."),
    "SET": ("mdi6.brush", "Set", "Paint the value as the weight of the selected bone; Shift smooths."),
}


class WeightBar(BrushBar):
    """Bar of the brushes of weights."""

    def __init__(self) -> None:
        super().__init__(_BUTTONS, "Remove the changed weights: the model gets the weights of its file again.")
        self.value = NumberField(lo=0.0, hi=1.0, step=0.01, default=0.2)
        self.value.setAccessibleName("Painted weight")
        self.lock = tool_button("locked", "Lock", "Keep the weights of the selected bone.", checkable=True)
        self.all_bones = tool_button(
            "mdi6.palette", "All Bones", "Show every bone in a colour of its own.", checkable=True
        )
        self.before = tool_button(
            "compare", "Before", "Compare with the weights before painting: Split shows them right, Difference how far "
            "vertices have moved.", checkable=True,
        )  # fmt: skip
        self.more = QWidget(self)
        line = packed_row(QHBoxLayout(), QLabel("Value"), (self.value, 1), spacing=SPACE)
        shown = FlowRow()
        shown.add(self.lock, self.all_bones, self.before)
        packed_row(QVBoxLayout(self.more), line, shown, spacing=SPACE)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(self.more)
        self.more.hide()

    def show_brush(self, name: str, radius: float, strength: float, *, mirror: bool, edited: bool) -> None:
        super().show_brush(name, radius, strength, mirror=mirror, edited=edited)
        self.more.setVisible(bool(name))


class WeightTool(BrushTool[WeightPaint]):
    """Brushes of weights; the selected bone is painted, and its weights are shown in colours.

    Attributes:
        locked: Names of the bones whose weights stay, by node.
    """

    bar: WeightBar

    def __init__(self, context: EditorContext) -> None:
        self._cleared = Memo[Edit | None]()
        self._tables: tuple[CharacterModel, SkinWeights | None, WeightTable] | None = None
        self.locked: dict[str, frozenset[str]] = {}
        self._former: tuple[str, Influences] | None = None
        wanted = "Select a character with bones to paint its weights"
        super().__init__(context, "model", WeightBar(), WeightPaint, wanted)
        self.bar.lock.clicked.connect(self._lock)
        self.bar.all_bones.toggled.connect(lambda _: self.show_again())
        self.bar.before.toggled.connect(lambda _: self.show_again())
        context.client.drawn.connect(lambda _: self._follow_character())

    # --- the kind -------------------------------------------------------------------------------------

    def system_of(self, node: Node) -> Character | None:
        engine = self._context.client.engine
        return engine.views.characters.get(node.id) if engine is not None else None

    def is_brushable(self, system: Any) -> bool:
        return isinstance(system, Character) and can_paint(system.model)

    def cleared(self, node: Node) -> Edit | None:
        return self._cleared.get((node,), lambda: self._removal(node))

    @staticmethod
    def _removal(node: Node) -> Edit | None:
        has_weights = bool(model_settings(node).weights)
        return (f"Remove changed weights of {node.name}", {weights_ref(node): ()}) if has_weights else None

    def show(self, system: Character, *, shown: bool) -> None:
        node, view = self._node_of(system)
        if node is None or view is None:
            return
        if not shown:
            system.compare_with(None)
            system.show_weights(None)
            view.paint(None)
            return
        table = self.table(node, system.model)
        if self._former is None or self._former[0] != node.id:
            self._former = node.id, table.influences()
        system.compare_with(shown_skin(system.model, self._former[1]) if self.bar.before.isChecked() else None)
        self.show_table(view, table)

    def show_table(self, view: ModelView, table: WeightTable) -> None:
        """Shows weights in colours; the GL context is current."""
        if self.bar.all_bones.isChecked():
            colours = bone_colours(table.skeleton.joint_count)
            mixed = np.einsum("pk,pkc->pc", table.weights, colours[table.joints])
            view.paint(mixed[table.place_of].astype(np.float32))
        else:
            joint = self.joint(table)
            found = table.of_joint(joint) if joint is not None else np.zeros(len(table.joints))
            view.paint(found[table.place_of].astype(np.float32))

    def target(self, node: Node, system: Character, brush: WeightPaint, *, shift: bool) -> BrushTarget | None:
        _, view = self._node_of(system)
        table = self.table(node, system.model)
        joint = self.joint(table)
        if joint is None or view is None:
            self._context.hint("Select a bone in the outliner, or press Q over the skin, to paint its weights")
            return None
        if self.bar.lock.isChecked():
            self._context.hint(f"{table.skeleton.names[joint]} is locked")
            return None
        return WeightTarget(self, self._context, node, system, view, table, joint, brush.value[int(shift)])

    # --- weights --------------------------------------------------------------------------------------

    def table(self, node: Node, model: CharacterModel) -> WeightTable:
        """Returns the weights of a node as they are edited; the same object until they change."""
        stored = next(iter(model_settings(node).weights), None)
        skeleton, known = model.skeleton, self._tables
        assert skeleton is not None
        if known is None or known[0].mesh is not model.mesh:
            known = self._tables = model, stored, table_of(model, model_settings(node).weights)
        elif known[1] != stored:
            found = current_influences(model, model_settings(node).weights)
            known = self._tables = model, stored, known[2].with_influences(found)
        table = known[2]
        table.locked = self.locked_joints(node, model)
        return table

    def locked_joints(self, node: Node, model: CharacterModel) -> frozenset[int]:
        names, skeleton = self.locked.get(node.id, frozenset()), model.skeleton
        assert skeleton is not None
        return frozenset(number for name in names if (number := skeleton.find(name)) is not None)

    def keep(self, model: CharacterModel, stored: SkinWeights, table: WeightTable) -> None:
        """Takes a table whose weights the node has just stored."""
        self._tables = model, stored, table

    def joint(self, table: WeightTable) -> int | None:
        bone = self._document.selection.bone
        return table.skeleton.find(bone) if bone is not None else None

    def pick(self) -> None:
        """Selects the bone that moves the skin under the mouse most."""
        node, system = self._subject()
        if node is None or system is None or self._place is None:
            self._context.hint(self._wanted if node is None or system is None else "Move the mouse over the character")
            return
        table = self.table(node, system.model)
        points = BrushedPoints(table.pairs)
        with self._context.viewport.gl_current():
            points.look(places_of(system, table), occlusion(self._context))
        dab = replace(self._dab(self._place, self._place), radius=PICK_RADIUS)
        shares = points.shares(dab)
        if not shares.any():
            self._context.hint("Nothing of the character is under the mouse")
            return
        place = int(shares.argmax())
        bone = table.skeleton.names[int(table.joints[place, table.weights[place].argmax()])]
        self._document.select(Selection(node=node.id, bone=bone))
        self._context.hint(f"{bone} moves this place most")

    def refresh(self) -> None:
        super().refresh()
        node, bone = self._context.selected(self._kind), self._document.selection.bone
        self.bar.setVisible(node is not None and self.is_brushable(self.system_of(node)))
        self.bar.lock.setEnabled(bone is not None)
        self.bar.lock.setChecked(node is not None and bone in self.locked.get(node.id, frozenset()))

    def take(self, brush: WeightPaint | None) -> None:
        if brush is None:
            self._former = None
        node, system = self._subject() if brush is not None else (None, None)
        if node is None or system is None or (self._tables is not None and self._tables[0].mesh is system.model.mesh):
            super().take(brush)
            return
        model, weights = system.model, model_settings(node).weights
        self._context.hint("Preparing the weights…")

        def done(table: WeightTable) -> None:
            node, system = self._subject()
            if node is not None and system is not None and system.model.mesh is model.mesh:
                self._tables = model, next(iter(weights), None), table
                super(WeightTool, self).take(brush)

        run_in_background(lambda: table_of(model, weights), done, self._document)

    def show_again(self) -> None:
        if self._shown is not None:
            with self._context.viewport.gl_current():
                self.show(self._shown, shown=True)
            self._context.viewport.update()

    def sides(self) -> tuple[str, str] | None:
        """Returns the texts of the split view while it compares with the weights before painting."""
        return ("Now", "Before") if self._shown is not None and self._shown.former is not None else None

    def _on_selected(self, *_: object) -> None:
        super()._on_selected()
        self.show_again()

    def _follow_character(self) -> None:
        """Shows the weights on a character that has replaced the one that was shown."""
        if self.brush is None or self._target is not None:
            return
        node, system = self._subject()
        if system is not None and system is not self._shown:
            self._shown = None  # is released
            self._show(system)
        elif node is not None and system is not None:
            stored = next(iter(model_settings(node).weights), None)
            if self._tables is not None and self._tables[1] != stored:
                self.show_again()

    def _lock(self, on: bool) -> None:
        node, bone = self._context.selected(self._kind), self._document.selection.bone
        if node is not None and bone is not None:
            names = self.locked.get(node.id, frozenset())
            self.locked[node.id] = names | {bone} if on else names - {bone}

    def _node_of(self, system: Character) -> tuple[Node | None, ModelView | None]:
        engine = self._context.client.engine
        for node in self._document.scene.of_kind(self._kind) if engine is not None else ():
            view = engine.views.view_of(node.id) if engine is not None else None
            if isinstance(view, ModelView) and view.character is system:
                return node, view
        return None, None


class WeightTarget(BrushTarget):
    def __init__(
        self, tool: WeightTool, context: EditorContext, node: Node, character: Character, view: ModelView,
        table: WeightTable, joint: int, verb: str,
    ) -> None:  # fmt: skip
        self._tool, self._context, self.node, self._character, self._view = tool, context, node.id, character, view
        self._table, self._joint, self._verb, self._value = table.copy(), joint, verb, tool.bar.value.value() or 0.0
        self._opposite = int(opposite_joints(table.skeleton)[joint])
        self._points = BrushedPoints(table.pairs)
        self._mirror = False

    @property
    def is_current(self) -> bool:
        engine = self._context.client.engine
        return engine is not None and engine.views.characters.get(self.node) is self._character

    def look(self, dab: BrushStroke, *, mirror: bool) -> None:  # noqa: ARG002
        self._points.look(places_of(self._character, self._table), occlusion(self._context))
        self._mirror = mirror

    def brush(self, dab: BrushStroke) -> None:
        shares = self._points.shares(dab)
        rows = np.flatnonzero(shares)
        self._apply(self._joint, rows, dab.strength * shares[rows])
        if self._mirror and len(rows):
            images = self._table.images[rows]
            other, first = np.unique(images[images >= 0], return_index=True)
            strength = dab.strength * shares[rows][images >= 0][first]
            is_new = ~np.isin(other, rows) if self._opposite == self._joint else np.ones(len(other), bool)
            self._apply(self._opposite, other[is_new], strength[is_new])
        table = self._table
        found = Influences(table.joints, table.weights)
        self._character.show_weights(shown_skin(self._character.model, found, table.place_of))
        self._tool.show_table(self._view, self._table)

    def _apply(self, joint: int, rows: Intp, shares: Float64) -> None:
        match self._verb:
            case "Add":
                self._table.add(joint, rows, shares * self._value)
            case "Subtract":
                self._table.add(joint, rows, -shares * self._value)
            case "Set":
                before = self._table.of_joint(joint)[rows]
                self._table.paint(joint, rows, before + shares * (self._value - before))
            case _:
                self._table.smooth(rows, shares)

    def edit(self, node: Node) -> Edit | None:
        model = self._character.model
        stored = packed(model, self._table.influences())
        weights = model_settings(node).weights
        if stored == (weights[0] if weights else packed(model, current_influences(model, ()))):
            return None
        self._tool.keep(model, stored, self._table)
        bone = self._table.skeleton.names[self._joint]
        what = f"Smooth weights of {node.name}" if self._verb == "Smooth" else f"{self._verb} weight of {bone}"
        return what, {weights_ref(node): (stored,)}

    def restore(self) -> None:
        self._character.show_weights(None)
        self._tool.show(self._character, shown=True)


def table_of(model: CharacterModel, weights: tuple[SkinWeights, ...]) -> WeightTable:
    """Returns a new table of the weights of a model with a skeleton, with its neighbours."""
    assert model.skeleton is not None
    table = WeightTable.of(model.mesh, model.skeleton, current_influences(model, weights))
    _ = table.pairs  # found here, on the thread of the caller
    return table


def can_paint(model: CharacterModel) -> bool:
    return model.skeleton is not None and model.mesh.triangle_count > 0


def weights_ref(node: Node) -> ParamRef:
    return ParamRef(node.id, node.kind, "weights")


def places_of(character: Character, table: WeightTable) -> Float64:
    """Returns the places of a table in the world [m], shape (P, 3); waits for the GPU, whose context is current."""
    vertices = character.primary.read()["position"][table.first_of, :3].astype(np.float64)
    return transform_points(character.world_from_model, vertices)


@functools.cache
def bone_colours(count: int) -> npt.NDArray[np.float64]:
    """Returns a colour for each joint, sRGB, shape (count, 3)."""
    hues = (np.arange(count) * _TURN) % 1.0
    return np.array([colorsys.hsv_to_rgb(hue, 0.65, 0.95 - 0.25 * (index % 2)) for index, hue in enumerate(hues)])
