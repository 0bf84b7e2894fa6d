import functools
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from sinew.app.kinds.drag_tool import DragTool
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command, Draggable, Measures, Panel, Stoppable, loaded
from sinew.sim.scene.params import param_of
from sinew.sim.scene.scene import Node, ParamRef
from sinew.widgets.inspector.form import FactRow, FormSection

INTERVAL = 0.5
"""Shortest time between two measurements [s]."""

SHARE = 20.0
"""Measurements wait for the GPU; they take at most one part in so many of the time."""


class DefaultPanel(Panel):
    """Panel of kinds with a system that declare none; panels of kinds may extend it.

    It drags the particles of `Draggable` systems, shows the quantities of `Measures`, and offers the number of substeps
    that a `Stoppable` system needs.
    """

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context = context
        if issubclass(loaded(KINDS[kind].system), Draggable):
            self.tools = (DragTool(context, kind),)
            self.mouse = ((f"Drag a particle of a {KINDS[kind].label.lower()}", "Left drag on it"),)
        self._system: Any = None
        self._rows: dict[str, FactRow] = {}
        self._next = 0.0
        self._timer = QTimer(context.viewport, singleShot=True)
        self._timer.timeout.connect(self._refresh)

    def follow(self, node: Node | None, system: Any) -> None:
        self._system = system if node is not None else None
        self._refresh()

    def facts(self, node: Node) -> Sequence[FormSection]:
        cls = loaded(KINDS[node.kind].system)
        names = cls.units if issubclass(cls, Measures) else ()
        self._rows = {name: FactRow(name.replace("_", " ").capitalize(), "–") for name in names}
        return (FormSection("Measures", self._rows.values()),) if self._rows else ()

    def forget(self) -> None:
        self._rows = {}

    def remedy(self, node: Node, system: Any) -> Command | None:
        needed = system.needed_substeps if isinstance(system, Stoppable) else 0
        if needed <= getattr(node.settings, "substeps", needed):
            return None
        limit = param_of(type(node.settings), "substeps").declared.hi
        if limit is not None and needed > limit:
            return None
        use = functools.partial(self._context.document.set_value, ParamRef(node.id, node.kind, "substeps"), needed)
        return Command("", f"Set substeps to {needed:,}", "Take as many substeps as the settings need.", use)

    def _texts(self) -> dict[str, str]:
        system = self._system
        if not isinstance(system, Measures) or not getattr(system, "is_ready", False):
            return {}
        begun = time.monotonic()
        with self._context.viewport.gl_current():
            found = system.measures()
        now = time.monotonic()
        self._next = now + max(INTERVAL, SHARE * (now - begun))
        return {name: f"{value:.4g} {system.units.get(name, '')}".rstrip() for name, value in found.items()}

    def _refresh(self) -> None:
        left = self._next - time.monotonic()
        if not self._rows or self._timer.isActive():
            return
        if left > 0.0:
            self._timer.start(round(1e3 * left) + 1)
            return
        texts = self._texts()
        for name, row in self._rows.items():
            if row.value != (text := texts.get(name, "–")):
                row.set_value(text)
