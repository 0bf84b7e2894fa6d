"""Buttons that make weights of a whole model, in the inspector."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from sinew.app.kinds.model.weight_tool import WeightTool, table_of, weights_ref
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings, model_settings
from sinew.sim.characters.weights import SkinWeights, packed, taken_over
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.skin.weights.edit import WeightTable
from sinew.sim.skin.weights.make import WeightOptions, automatic, from_surface
from sinew.sim.skin.weights.sparse import WeightsError
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import packed as packed_row
from sinew.widgets.parts import tool_button
from sinew.widgets.theme import SPACE

Make = Callable[[], tuple[SkinWeights, str]]
"""Returns weights and a note; runs on a worker thread, raises WeightsError or ValueError."""

Act = Callable[[Node, CharacterModel], None]


@dataclass(frozen=True, slots=True)
class _Made:
    stored: SkinWeights | None
    text: str  # A note, or why there are none


@dataclass(eq=False)
class WeightMaker:
    """Makes weights of the models of a window; the fields of the inspector set `options`."""

    context: EditorContext
    tool: WeightTool
    options: WeightOptions = field(default_factory=WeightOptions)
    is_busy: bool = False

    def automatic(self, node: Node, model: CharacterModel) -> None:
        options = self.options
        self._start(f"Automatic weights of {node.name}", node, model, lambda: automatic(model, options))

    def transfer(self, node: Node, model: CharacterModel, other: NodeId) -> None:
        source, options = self.context.store.file_model(other), self.options
        if source is not None:
            text = f"Weights of {node.name} from {self.context.document.scene.node(other).name}"
            self._start(text, node, model, lambda: from_surface(model, source, options))

    def transfer_section(self, node: Node, model: CharacterModel, section: str) -> None:
        options = self.options
        text = f"Weights of {section} of {node.name} from its other sections"
        self._start(text, node, model, lambda: from_surface(model, model, options, (section,)))

    def take_over(self, node: Node, model: CharacterModel) -> None:
        if weights := model_settings(node).weights:
            self._start(f"Take over weights of {node.name}", node, model, lambda: taken_over(model, weights[0]))

    def smooth(self, node: Node, model: CharacterModel) -> None:
        passes = max(self.options.smooth_passes, 1)

        def change(table: WeightTable) -> str:
            rows = np.arange(len(table.joints))
            for _ in range(passes):
                table.smooth(rows, np.ones(len(rows)))
            return ""

        self._change(f"Smooth weights of {node.name}", node, model, change)

    def prune(self, node: Node, model: CharacterModel) -> None:
        influences = self.options.influences

        def change(table: WeightTable) -> str:
            table.prune(influences)
            return ""

        self._change(f"Prune weights of {node.name} to {influences}", node, model, change)

    def mirror(self, node: Node, model: CharacterModel, *, from_right: bool) -> None:
        def change(table: WeightTable) -> str:
            lost = table.mirror(from_right=from_right)
            return f"{lost:,} places have no mirror image and keep their weights" if lost else ""

        side = "right to left" if from_right else "left to right"
        self._change(f"Mirror weights of {node.name}, {side}", node, model, change)

    def _change(self, text: str, node: Node, model: CharacterModel, change: Callable[[WeightTable], str]) -> None:
        weights, locked = model_settings(node).weights, self.tool.locked_joints(node, model)

        def make() -> tuple[SkinWeights, str]:
            table = table_of(model, weights)
            table.locked = locked
            note = change(table)
            return packed(model, table.influences()), note

        self._start(text, node, model, make)

    def _start(self, text: str, node: Node, model: CharacterModel, make: Make) -> None:
        if self.is_busy:
            return
        self.is_busy = True
        self.context.hint(f"{text}…")

        def done(made: _Made) -> None:
            self.is_busy = False
            document = self.context.document
            if not document.scene.has(node.id) or self.context.store.file_model(node.id) is not model:
                self.context.hint("")
            elif made.stored is None:
                self._warn(node, made.text)
                self.context.hint(made.text)
            else:
                self._store(text, document.scene.node(node.id), made.stored)
                self.context.hint(f"{text}: {made.text}" if made.text else text)

        run_in_background(lambda: _result(make), done, self.context.document)

    def _store(self, text: str, node: Node, stored: SkinWeights) -> None:
        if (stored,) != model_settings(node).weights:
            self.context.document.set_as_one(text, {weights_ref(node): (stored,)})

    def _warn(self, node: Node, text: str) -> None:
        self.context.panels.warn(model_settings(node).path, f"{node.name}: {text}")


class WeightActions(QWidget):
    """Buttons and numbers of the section Weights."""

    def __init__(self, maker: WeightMaker, node: Node, model: CharacterModel) -> None:
        super().__init__()
        self._maker, self._node, self._model = maker, node.id, model
        fault = maker.context.store.weight_fault(node.id)
        self.fault = QLabel(fault)
        self.fault.setWordWrap(True)
        self.fault.setVisible(bool(fault))
        self.automatic = self._button(
            "mdi6.fire", "Automatic", "Make weights from the nearest bones, by bone heat.", maker.automatic
        )
        self.menu, self.mirror_menu = QMenu(self), QMenu(self)
        self.menu.aboutToShow.connect(self._fill)
        source_tip = "Take weights from the nearest surface of another model or section."
        self.source = tool_button("mdi6.content-copy", "From", source_tip, menu=self.menu)
        self.smooth = self._button(
            "mdi6.blur", "Smooth", "Smooth the weights of all vertices; locked bones keep theirs.", maker.smooth
        )
        self.prune = self._button("mdi6.filter", "Prune", "Keep the strongest bones of each vertex.", maker.prune)
        for title, from_right in (("Left to Right", False), ("Right to Left", True)):
            self._add(self.mirror_menu, title, partial(maker.mirror, from_right=from_right))
        mirror_tip = "Copy the weights of one side to the other."
        self.mirror = tool_button("mdi6.reflect-horizontal", "Mirror", mirror_tip, menu=self.mirror_menu)
        self.take_over = self._button(
            "mdi6.history", "Transfer", "Take over the changed weights of the mesh before.", maker.take_over
        )
        self.take_over.setVisible(bool(fault))
        lines = [QHBoxLayout(), QHBoxLayout()]
        packed_row(lines[0], self.automatic, self.source, self.take_over, spacing=SPACE).addStretch(1)
        packed_row(lines[1], self.smooth, self.prune, self.mirror, spacing=SPACE).addStretch(1)
        fields = [
            self._number("Sharpness", "sharpness", (0.1, 10.0), "How near to their bones automatic weights stay."),
            self._number("Influences", "influences", (1, 8), "Bones per vertex of new and pruned weights."),
            self._number(
                "Search", "search", (0.1, 50.0), "Largest distance of a match with another surface, as a part of the "
                "size of the model.", "%", 100.0,
            ),
            self._number("Angle", "angle", (1.0, 180.0), "Largest angle between the normals of a match.", "°"),
            self._number("Smooth passes", "smooth_passes", (0, 100), "How often weights are smoothed."),
        ]  # fmt: skip
        packed_row(QVBoxLayout(self), self.fault, *lines, *fields, spacing=SPACE)

    def _button(self, icon: str, text: str, tip: str, act: Act) -> QToolButton:
        return tool_button(icon, text, tip, act=lambda: self._apply(act))

    def _add(self, menu: QMenu, title: str, act: Act) -> None:
        menu.addAction(title).triggered.connect(lambda: self._apply(act))

    def _apply(self, act: Act) -> None:
        context = self._maker.context
        if context.document.scene.has(self._node):
            act(context.document.scene.node(self._node), context.store.file_model(self._node) or self._model)

    def _fill(self) -> None:
        self.menu.clear()
        maker = self._maker
        for other in maker.context.document.scene.characters:
            if other.id != self._node and isinstance(other.settings, ModelSettings):
                title = f"From {other.name}"
                self._add(self.menu, title, partial(maker.transfer, other=other.id))
        names = list(dict.fromkeys(section.name for section in self._model.mesh.sections if section.name))
        for name in names if len(names) > 1 else ():
            title = f"{name} from the Other Sections"
            self._add(self.menu, title, partial(maker.transfer_section, section=name))
        if self.menu.isEmpty():
            self.menu.addAction("No other model or section").setEnabled(False)

    def _number(
        self, label: str, name: str, limits: tuple[float, float], tip: str, unit: str = "", factor: float = 1.0
    ) -> QHBoxLayout:
        value = getattr(self._maker.options, name)
        whole = isinstance(value, int)
        made = NumberField(lo=limits[0], hi=limits[1], whole=whole, decimals=0 if whole else None, unit=unit)
        made.set_value(value * factor)
        made.setAccessibleName(label)
        made.setToolTip(tip)

        def set_value(number: float) -> None:
            changed: dict[str, Any] = {name: round(number) if whole else number / factor}
            self._maker.options = replace(self._maker.options, **changed)

        made.edited.connect(set_value)
        line = QHBoxLayout()
        packed_row(line, (QLabel(label), 1), (made, 1), spacing=SPACE)
        return line


def _result(make: Make) -> _Made:
    try:
        return _Made(*make())
    except (WeightsError, ValueError) as error:
        return _Made(None, str(error))
    except MemoryError:
        return _Made(None, "the weights of this model need more memory than there is")
