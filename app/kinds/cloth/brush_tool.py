import enum
from typing import Any

import msgspec
import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from sinew.app.kinds.brush_tool import BrushTarget, BrushTool, Edit, occlusion
from sinew.app.kinds.brush_widgets import BrushBar
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.cloth.brush import MapBrush
from sinew.sim.kinds.cloth.maps import RANGES, ClothMap, packed, unpacked, values_on
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.memo import Memo
from sinew.sim.scene.brush import BrushStroke
from sinew.sim.scene.scene import Node, ParamRef
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import packed as packed_row
from sinew.widgets.theme import SPACE


class MapPaint(enum.Enum):
    """Brushes, each with its action and its action with Shift."""

    SET = ("Set", "Erase")
    ADD = ("Add", "Smooth")


_BUTTONS = {
    MapPaint.SET.name: ("mdi6.brush", "Set", "Paint the value on the selected cloth; Shift erases."),
    MapPaint.ADD.name: ("mdi6.plus-circle-outline", "Add", "Add the value to the map of the cloth; Shift smooths."),
}

_VALUES = {ClothMap.PIN: 1.0, ClothMap.DISTANCE: 0.05, ClothMap.MASS: 2.0, ClothMap.FRICTION: 0.0}


class MapBar(BrushBar):
    """Bar of the brushes of cloth, with the painted map and the value."""

    def __init__(self) -> None:
        super().__init__(_BUTTONS, "Remove this map.")
        self.map = QComboBox()
        for number, (one, about) in enumerate(RANGES.items()):
            self.map.addItem(about.label, one)
            self.map.setItemData(number, about.doc, Qt.ItemDataRole.ToolTipRole)
        self.map.setAccessibleName("Painted map")
        self.value = NumberField(lo=-100.0, hi=100.0, soft=(0.0, 2.0), step=0.01)
        self.value.setAccessibleName("Painted value")
        line = QWidget(self)
        packed_row(QHBoxLayout(line), (self.map, 1), QLabel("Value"), (self.value, 1), spacing=SPACE)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(line)
        self.value.edited.connect(self._keep)
        self.map.currentIndexChanged.connect(self._show_value)
        self._values = dict.fromkeys(ClothMap, 0.5) | _VALUES
        self._show_value()

    @property
    def chosen_map(self) -> ClothMap:
        found = self.map.currentData()
        assert isinstance(found, ClothMap)
        return found

    @property
    def chosen_value(self) -> float:
        return self._values[self.chosen_map]

    def _keep(self, value: float) -> None:
        self._values[self.chosen_map] = value

    def _show_value(self) -> None:
        self.value.set_value(self.chosen_value)


class MapBrushTool(BrushTool[MapPaint]):
    """Brushes of the maps of cloth, which shows the chosen map in colours while they are active."""

    bar: MapBar

    def __init__(self, context: EditorContext) -> None:
        self._cleared = Memo[Edit | None]()
        super().__init__(context, "cloth", MapBar(), MapPaint, "Select a cloth to paint its maps")
        self.bar.map.currentIndexChanged.connect(self._change_map)

    def is_brushable(self, system: Any) -> bool:
        return isinstance(system, ClothSystem) and system.is_ready

    def cleared(self, node: Node) -> Edit | None:
        return self._cleared.get((node, self.bar.chosen_map), lambda: self._removal(node, self.bar.chosen_map))

    @staticmethod
    def _removal(node: Node, one: ClothMap) -> Edit | None:
        assert isinstance(node.settings, ClothSettings)
        if not node.settings.maps or not getattr(node.settings.maps[0], one.value):
            return None
        left = msgspec.structs.replace(node.settings.maps[0], **{one.value: ""})
        text = f"Remove {RANGES[one].label.lower()} of {node.name}"
        return text, {ParamRef(node.id, "cloth", "maps"): (left,) if unpacked(left) else ()}

    def show(self, system: ClothSystem, *, shown: bool) -> None:
        system.shown_map.show(self.bar.chosen_map if shown else None)

    def target(self, node: Node, system: ClothSystem, brush: MapPaint, *, shift: bool) -> BrushTarget | None:
        return MapTarget(self._context, node, system, brush, self.bar, shift=shift)

    def _change_map(self) -> None:
        if self._shown is not None:
            self.show(self._shown, shown=True)
            self._context.viewport.update()
        self.refresh()


class MapTarget(BrushTarget):
    def __init__(
        self, context: EditorContext, node: Node, system: ClothSystem, brush: MapPaint, bar: MapBar, *, shift: bool
    ) -> None:
        assert system.cloth is not None
        self._context, self.node, self._system, self._model = context, node.id, system, system.cloth.model
        self._map, self._value, self._verb = bar.chosen_map, bar.chosen_value, brush.value[int(shift)]
        assert isinstance(node.settings, ClothSettings)
        # The simulation may not yet have the newest maps.
        self._values = values_on(node.settings.maps, system.cloth.topology)
        self._brush = MapBrush(self._model, system.cloth.topology.places, self._map, self._values)

    @property
    def is_current(self) -> bool:
        cloth = self._system.cloth
        return cloth is not None and cloth.model is self._model

    def look(self, dab: BrushStroke, *, mirror: bool) -> None:  # noqa: ARG002
        assert self._system.cloth is not None
        positions = self._system.cloth.positions().astype(np.float64)
        self._brush.look(positions, occlusion(self._context, self.node), mirror=mirror)

    def brush(self, dab: BrushStroke) -> None:
        match self._verb:
            case "Set":
                self._brush.set(dab, self._value)
            case "Erase":
                self._brush.erase(dab)
            case "Add":
                self._brush.add(dab, self._value)
            case _:
                self._brush.smooth(dab)
        self._system.shown_map.show(self._map, self._brush.values)

    def edit(self, node: Node) -> Edit | None:
        assert self._system.cloth is not None
        assert isinstance(node.settings, ClothSettings)
        self._system.shown_map.show(self._map)
        maps = packed({**self._values, self._map: self._brush.values}, self._system.cloth.topology)
        text = f"{self._verb} {RANGES[self._map].label.lower()} of {node.name}"
        return None if maps == node.settings.maps else (text, {ParamRef(node.id, "cloth", "maps"): maps})

    def restore(self) -> None:
        self._system.shown_map.show(self._map)
